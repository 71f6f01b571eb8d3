"""The state of a fold as JSON text and back, so that it can be saved and taken up again.

What belongs here: the two directions, exact. What does not: when a state is saved (`checkpoints`). The text is
canonical: equal states have equal texts, so its digest says whether a saved state is the one a fold gives. What grows
with the number of events is one text each, which is read at once.
"""

from __future__ import annotations

import gc
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.state import (
    Day,
    DomainState,
    Incident,
    State,
    Subject,
    Track,
    TrackKey,
)
from governance_pipeline.confidence.terms import Domain, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = "govern/confidence-state/v2"


def state_text(state: State) -> str:
    """Return a state as one line of JSON."""
    document = {
        "schema": SCHEMA,
        "tracks": [[list(key), _track(track)] for key, track in sorted(state.tracks.items(), key=_track_order)],
        "subjects": [[list(key), _subject(subject)] for key, subject in sorted(state.subjects.items())],
        "roots": sorted(state.roots),
        "cheerled": sorted(state.cheerled),
        "open_days": [[*key, " ".join(ids)] for key, ids in sorted(state.open_days.items())],
    }
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True)


def read_state(text: str) -> State:
    """Read a state back.

    Raises:
        ValueError: the text is no state of this version.
    """
    with _uncollected():
        return _read(json.loads(text))


def _read(document: dict[str, Any]) -> State:
    if document.get("schema") != SCHEMA:
        raise ValueError(f"no {SCHEMA}")
    return State(
        tracks={_key(key): _read_track(track) for key, track in document["tracks"]},
        subjects={(Role(key[0]), key[1]): _read_subject(subject) for key, subject in document["subjects"]},
        roots=set(document["roots"]),
        cheerled=set(document["cheerled"]),
        open_days={(Role(role), subject, day): ids.split() for role, subject, day, ids in document["open_days"]},
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the collector of cycles from looking through a million new objects again and again: none is a cycle."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _track_order(item: tuple[TrackKey, Track]) -> tuple[str, str, str]:
    key = item[0]
    return key.role, key.subject_id, key.runtime or ""


def _key(key: list[Any]) -> TrackKey:
    return TrackKey(Role(key[0]), key[1], key[2])


def _track(track: Track) -> list[Any]:
    numbers = [
        track.current_day,
        track.first_open_day,
        track.tasks,
        track.corrections,
        track.pairs,
        track.pairs_apart,
    ]
    return [numbers, [_domain(track.domains[domain]) for domain in Domain]]


def _read_track(value: list[Any]) -> Track:
    numbers, domains = value
    states = {domain: _read_domain(state) for domain, state in zip(Domain, domains, strict=True)}
    return Track(states, *numbers)


def _domain(state: DomainState) -> list[Any]:
    days = [[day, one.net, one.penalties, one.score, one.has_diverged] for day, one in sorted(state.days.items())]
    return [state.score, state.streak, state.evaluations, state.is_in_recovery, state.days_above, days]


def _read_domain(value: list[Any]) -> DomainState:
    score, streak, evaluations, is_in_recovery, days_above, days = value
    return DomainState(score, streak, evaluations, is_in_recovery, days_above, {day: Day(*rest) for day, *rest in days})


def _subject(subject: Subject) -> dict[str, Any]:
    return {
        "runtime": subject.runtime,
        "has_events": subject.has_events,
        "bonuses": [[day, number] for day, number in sorted(subject.bonuses.items())],
        "sealed": sorted(subject.sealed),
        "first_incident": [[*key, *incident] for key, incident in sorted(subject.first_incident.items())],
        "first_excuse": subject.first_excuse,
        "clusters": sorted(subject.clusters),
        "facts": _facts(subject.facts),
        "incidents": sorted([code, number] for code, number in subject.incidents.items()),
        "pattern_clusters": sorted([code, cluster] for code, cluster in subject.pattern_clusters),
    }


def _facts(facts: set[tuple[Domain, str]]) -> dict[str, str]:
    """Return the evidence of each domain as one text; neither ids nor evidence hold a blank."""
    found: dict[str, list[str]] = {}
    for domain, evidence in facts:
        found.setdefault(domain, []).append(evidence)
    return {domain: " ".join(sorted(found[domain])) for domain in sorted(found)}


def _read_subject(value: dict[str, Any]) -> Subject:
    excuse = value["first_excuse"]
    return Subject(
        runtime=value["runtime"],
        has_events=value["has_events"],
        bonuses=dict(value["bonuses"]),
        sealed=set(value["sealed"]),
        first_incident={(session, code): Incident(*incident) for session, code, *incident in value["first_incident"]},
        first_excuse=None if excuse is None else Incident(*excuse),
        clusters=set(value["clusters"]),
        facts={
            (domain, one)
            for domain, known in ((Domain(name), known) for name, known in value["facts"].items())
            for one in known.split()
        },
        incidents=dict(value["incidents"]),
        pattern_clusters={(code, cluster) for code, cluster in value["pattern_clusters"]},
    )
