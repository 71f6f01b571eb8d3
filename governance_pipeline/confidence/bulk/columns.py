"""Events as columns, in the order of the fold: codes of what the fold compares, and what each event submits.

What belongs here: reading events into arrays. What does not: what earlier events make of them. A code is a place in a
list of names, so that comparing codes is comparing names. Amounts are thousandths of a point, days proleptic ordinals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from governance_pipeline.confidence.amounts import POINT, PRO_PATTERN_DELTA
from governance_pipeline.confidence.deltas import error_delta
from governance_pipeline.confidence.fold import CONTRADICTING, CRITERIA_EVOLUTION, FACTS, GAINS
from governance_pipeline.confidence.state import TrackKey
from governance_pipeline.confidence.terms import ClusterRole, Domain, EventType, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from governance_pipeline.confidence.event import Event
    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.terms import Role

    Ints = np.ndarray[Any, np.dtype[Any]]

NONE: Final = -1
"""Code of what an event does not have."""

CORRECT, ERROR, PRO, BONUS, EXCEPTIONAL, LEARNED, CONTINUE, SEAL = range(8)
"""Codes of `EventType`, in its order."""

DOMAINS: Final = tuple(Domain)

_KIND: Final = {kind: code for code, kind in enumerate(EventType)}
_DOMAIN: Final = {domain: code for code, domain in enumerate(Domain)}


class Columns(NamedTuple):
    """One place per event in each array, in the order of the fold.

    Attributes:
        tracks, subjects, sessions, patterns, clusters, facts: what the codes stand for; a fact is domain and evidence.
        subject_of: track -> subject.
        track, domain, kind, day: of each event; the domain of a seal is NONE. An evolution of criteria without an
            argument is the error it is folded as.
        amount: the delta its kind, points or severity give, of an error before earlier events are looked at; 0 of
            the others.
        session, pattern, cluster: codes, or NONE.
        is_root, is_derived: place in the cluster.
        fact: what a trigger scores, or NONE.
        is_idea: a gain the trigger `idea-validate` scores.
        apart: distance of own and user's judgement in hundredths, or NONE.
        seals: place -> the sealing event.
        event_id: gives the id of the event at a place.
    """

    tracks: Sequence[TrackKey]
    subjects: Sequence[tuple[Role, str]]
    sessions: Sequence[str]
    patterns: Sequence[str]
    clusters: Sequence[str]
    facts: Sequence[tuple[Domain, str]]
    subject_of: Ints
    track: Ints
    domain: Ints
    kind: Ints
    day: Ints
    amount: Ints
    session: Ints
    pattern: Ints
    cluster: Ints
    is_root: Ints
    is_derived: Ints
    fact: Ints
    is_idea: Ints
    apart: Ints
    seals: dict[int, Event]
    event_id: Callable[[int], str]

    @property
    def size(self) -> int:
        """Number of events."""
        return len(self.track)


def columns_of(ordered: Sequence[Event], registry: Registry) -> Columns:
    """Turn events, sorted by their order, into columns; the registry's patterns say what errors cost."""
    names: dict[str, dict[Any, int]] = {name: {} for name in ("track", "session", "pattern", "cluster", "fact")}

    def code(name: str, value: Any) -> int:
        known = names[name]
        return NONE if value is None else known.setdefault(value, len(known))

    rows = [_row(event, registry, code) for event in ordered]
    table = np.array(rows, dtype=np.int64).reshape(len(rows), len(_ROW)).T
    found: dict[str, Any] = {
        name: column.astype(kind) for (name, kind), column in zip(_ROW.items(), table, strict=True)
    }
    tracks = list(names["track"])
    subjects: dict[tuple[Role, str], int] = {}
    subject_of = [subjects.setdefault(key[:2], len(subjects)) for key in tracks]
    return Columns(
        tracks=tracks,
        subjects=list(subjects),
        sessions=list(names["session"]),
        patterns=list(names["pattern"]),
        clusters=list(names["cluster"]),
        facts=list(names["fact"]),
        subject_of=np.array(subject_of, dtype=np.int32),
        seals={place: event for place, event in enumerate(ordered) if event.event_type is EventType.SEAL},
        event_id=lambda place: ordered[place].event_id,
        **found,
    )


_ROW: Final = {
    "track": np.int32, "domain": np.int8, "kind": np.int8, "day": np.int32, "amount": np.int32, "session": np.int32,
    "pattern": np.int32, "cluster": np.int32, "is_root": np.bool_, "is_derived": np.bool_, "fact": np.int32,
    "is_idea": np.bool_, "apart": np.int32,
}  # fmt: skip


def _row(event: Event, registry: Registry, code: Callable[[str, Any], int]) -> tuple[int, ...]:
    """Return the columns of one event, in the order of `_ROW`."""
    track = code("track", TrackKey(event.role, event.subject_id, event.runtime))
    is_scored = event.trigger is not None and event.evidence is not None and event.event_type in FACTS
    fact = code("fact", (event.domain, event.evidence)) if is_scored else NONE
    apart = NONE
    if isinstance(event.self_score, int) and isinstance(event.user_score, int):
        apart = abs(event.self_score - event.user_score)
    domain = NONE if event.domain is None else _DOMAIN[event.domain]
    is_contradiction = event.pattern_code == CRITERIA_EVOLUTION and event.evidence is None
    if is_contradiction and event.event_type is EventType.PRO_PATTERN:
        event = event._replace(event_type=EventType.ERROR, pattern_code=CONTRADICTING)
    kind = _KIND[event.event_type]
    is_idea = event.trigger is Trigger.IDEA_VALIDATE and event.event_type in GAINS
    before = (track, domain, kind, event.day)
    if kind != ERROR:
        amount = PRO_PATTERN_DELTA if kind == PRO else (event.points or 0) * POINT
        session = code("session", event.session_id) if is_idea else NONE
        return (*before, amount, session, NONE, NONE, False, False, fact, is_idea, apart)
    errors = (code("session", event.session_id), code("pattern", event.pattern_code), code("cluster", event.cluster_id))
    roles = (event.cluster_role is ClusterRole.ROOT, event.cluster_role is ClusterRole.DERIVED)
    return (*before, error_delta(event, registry.patterns), *errors, *roles, fact, False, apart)
