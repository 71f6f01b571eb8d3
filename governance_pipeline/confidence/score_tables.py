"""Tables of scores: everything that is known is folded, recorded events and derived facts together.

What belongs here: which events take part, and the rows of `confidence_scores`, `confidence_pools`, `confidence_teams`.
What does not: the rules of the fold, and the lake (`lake_tables`). What people recorded comes first: a fact that was
recorded already is not folded twice, and none is folded into a day that a person has sealed.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence.bulk.long_histories import fold_states
from governance_pipeline.confidence.event import Line
from governance_pipeline.confidence.plain_numbers import points
from governance_pipeline.confidence.reading import judge
from governance_pipeline.confidence.registry import REGISTRY_SCHEMA, Registry
from governance_pipeline.confidence.replay_document import day_text
from governance_pipeline.confidence.score_documents import pool_documents, team_documents
from governance_pipeline.confidence.terms import EventType
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from governance_pipeline.confidence.fold import Folded


class Together(NamedTuple):
    """Recorded and derived events folded as one.

    Attributes:
        registry: what is registered, and the agents and runtimes of derived facts.
        folded: the fold; of a long history its `events` are empty.
        derived: derived events that took part.
        left_out: derived events that did not: recorded already, of a sealed day, or of no valid form.
    """

    registry: Registry
    folded: Folded
    derived: int
    left_out: int


def fold_together(recorded: Iterable[bytes], derived: Iterable[str]) -> Together:
    """Fold what people recorded with the facts of the pipeline.

    Args:
        recorded: registry and event lines as the store holds them; none where there is no store.
        derived: column `event` of `confidence_events`, of any rounds in any order; none of them null.

    Raises:
        UsageError: a registry line is broken.
    """
    registry, lines = _recorded(recorded)
    known = {line.event.event_id for line in lines}
    sealed = {_day_of(line) for line in lines if line.event.event_type is EventType.SEAL}
    facts = [json.loads(text) for text in derived]
    for fact in facts:
        _register(registry, fact)
    judged = [judge(parse_json(text), sha256, registry) for text, sha256 in map(_text, facts)]
    taken = [one for one in judged if isinstance(one, Line) and _is_new(one, known, sealed)]
    return Together(registry, fold_states([*lines, *taken], registry), len(taken), len(facts) - len(taken))


def score_rows(folded: Folded) -> Iterator[dict[str, Any]]:
    """Yield the rows of `confidence_scores`, sorted by track, domain and day."""
    for key, track in sorted(folded.state.tracks.items(), key=lambda one: (*one[0][:2], one[0].runtime or "")):
        for domain, state in track.domains.items():
            for day, found in sorted(state.days.items()):
                yield {
                    "role": key.role.value,
                    "subject_id": key.subject_id,
                    "runtime": key.runtime,
                    "domain": domain.value,
                    "day_on": day_text(day),
                    "score": float(points(found.score)),
                    "net": float(points(found.net)),
                    "penalties": float(points(found.penalties)),
                    "has_diverged": found.has_diverged,
                }


def pool_rows(together: Together) -> Iterator[dict[str, Any]]:
    """Yield the rows of `confidence_pools`, by runtime."""
    for pool in pool_documents(together.folded.state, together.registry):
        numbers = {name: float(pool[name]) for name in ("score", "evaluations", "ci_half_width")}
        members = json.dumps(pool["members"])
        yield {
            **{name: pool[name] for name in ("runtime", "maturity")},
            **numbers,
            "members_count": len(pool["members"]),
            "members": members,
        }


def team_rows(together: Together) -> Iterator[dict[str, Any]]:
    """Yield the rows of `confidence_teams`, by id."""
    for team in team_documents(together.folded.state, together.registry):
        yield {
            **{name: team[name] for name in ("team_id", "agent_id", "user_id", "quadrant")},
            "agent_score": float(team["agent"]),
            "user_score": float(team["user"]),
            "score": float(team["score"]),
            "floor": float(team["floor"]),
        }


def _recorded(recorded: Iterable[bytes]) -> tuple[Registry, list[Line]]:
    registry, events = Registry(), []
    for number, data in enumerate(recorded, 1):
        value = parse_json(data)
        if value.get("schema") == REGISTRY_SCHEMA:
            registry.add(value, f"recorded line {number}")
        else:
            events.append((value, hashlib.sha256(data).hexdigest()))
    judged = [judge(value, sha256, registry) for value, sha256 in events]
    return registry, [line for line in judged if isinstance(line, Line)]


def _register(registry: Registry, fact: dict[str, Any]) -> None:
    """Make the agent and the runtime of a fact known: the pipeline has seen them at work."""
    registry.pools.add(fact["runtime"])
    if not any(name == fact["subject_id"] and role == fact["role"] for role, name in registry.weights):
        entry = {"role": fact["role"], "subject_id": fact["subject_id"]}
        registry.add({"schema": REGISTRY_SCHEMA, "subjects": [entry]}, "derived facts")


def _text(fact: dict[str, Any]) -> tuple[bytes, str]:
    data = json.dumps(fact, sort_keys=True, ensure_ascii=False).encode()
    return data, hashlib.sha256(data).hexdigest()


def _is_new(line: Line, known: set[str], sealed: set[tuple[str, str, int]]) -> bool:
    return line.event.event_id not in known and _day_of(line) not in sealed


def _day_of(line: Line) -> tuple[str, str, int]:
    return line.event.role, line.event.subject_id, line.event.day
