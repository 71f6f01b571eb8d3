"""What the fold remembers: per track and domain, per subject, and across all subjects.

What belongs here: plain state without rules. What does not: how events change it (`fold`, `caps`, `recovery`).
Source: spec/confidence.md §11.1, §11.2. Amounts are thousandths of a point, evaluations are halves, days are
proleptic ordinals.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from governance_pipeline.confidence.amounts import (
    START,
    WARM_UP_EVALUATIONS,
    WARM_UP_PER_DOMAIN,
)
from governance_pipeline.confidence.terms import Domain, Role


class TrackKey(NamedTuple):
    """One track: a subject in one runtime (None for users)."""

    role: Role
    subject_id: str
    runtime: str | None


@dataclass(slots=True)
class Day:
    """One day of a track in one domain.

    Attributes:
        net: sum of what was applied.
        penalties: sum of what was applied below 0, sign dropped.
        score: the score after the last event of the day so far.
        has_diverged: its divergence alert is out.
    """

    net: int = 0
    penalties: int = 0
    score: int = START
    has_diverged: bool = False


@dataclass(slots=True)
class DomainState:
    """One domain of a track."""

    score: int = START
    streak: int = 0
    evaluations: int = 0
    is_in_recovery: bool = False
    days_above: int = 0
    days: dict[int, Day] = field(default_factory=dict)


@dataclass(slots=True)
class Track:
    """One (role, subject, runtime).

    Attributes:
        domains: state by domain, all five from the start.
        current_day: the latest day it has seen.
        first_open_day: the first day that is not closed yet.
        tasks, corrections: counts of spec/confidence.md §11.9.
        pairs, pairs_apart: pairs of own and user's judgement, and their summed distance in hundredths.
    """

    domains: dict[Domain, DomainState] = field(default_factory=lambda: {domain: DomainState() for domain in Domain})
    current_day: int | None = None
    first_open_day: int = 0
    tasks: int = 0
    corrections: int = 0
    pairs: int = 0
    pairs_apart: int = 0

    @property
    def evaluations(self) -> int:
        """Evaluations over all domains, in halves."""
        return sum(state.evaluations for state in self.domains.values())

    @property
    def is_warm_up(self) -> bool:
        """True until there are 40 evaluations and 6 in each domain."""
        each = [state.evaluations for state in self.domains.values()]
        return sum(each) < WARM_UP_EVALUATIONS or min(each) < WARM_UP_PER_DOMAIN


@dataclass(slots=True)
class Subject:
    """What belongs to a subject in all its runtimes.

    Attributes:
        runtime: that of its last accepted event; None before the first, and for users.
        has_events: whether any event was accepted.
        bonuses: accepted bonuses by day.
        sealed: sealed days.
        first_incident: (session, pattern) -> the first incident of that pattern in it.
        first_excuse: its first EXCUSE incident ever.
        clusters: clusters it was scored in.
        facts: (domain, evidence) that a trigger has scored.
        incidents: anti-pattern -> how many incidents.
        pattern_clusters: (anti-pattern, cluster) already counted.
    """

    runtime: str | None = None
    has_events: bool = False
    bonuses: dict[int, int] = field(default_factory=dict)
    sealed: set[int] = field(default_factory=set)
    first_incident: dict[tuple[str, str], Incident] = field(default_factory=dict)
    first_excuse: Incident | None = None
    clusters: set[str] = field(default_factory=set)
    facts: set[tuple[Domain, str]] = field(default_factory=set)
    incidents: dict[str, int] = field(default_factory=dict)
    pattern_clusters: set[tuple[str, str]] = field(default_factory=set)


class Incident(NamedTuple):
    """What counts as one fault: the causal chain if there is one, else the event."""

    is_cluster: bool
    name: str


@dataclass(slots=True)
class State:
    """Everything the fold remembers.

    Attributes:
        tracks, subjects: made at the first accepted event.
        roots: clusters whose root error was accepted, of whichever subject.
        cheerled: sessions with an accepted CHEERLEAD error.
        open_days: (role, subject, day) not sealed yet -> ids of its accepted events in fold order, for the seal.
    """

    tracks: dict[TrackKey, Track] = field(default_factory=dict)
    subjects: dict[tuple[Role, str], Subject] = field(default_factory=dict)
    roots: set[str] = field(default_factory=set)
    cheerled: set[str] = field(default_factory=set)
    open_days: dict[tuple[Role, str, int], list[str]] = field(default_factory=dict)
