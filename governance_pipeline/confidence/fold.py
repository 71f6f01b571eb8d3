"""The fold: events in order of instant and id, each accepted with its effects or refused with a reason.

What belongs here: the order of the steps of spec/confidence.md §11. What does not: amounts, caps and days, which have
files of their own. The fold is a pure function of registry and events: it reads no clock, and the order of lines
plays no part.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from governance_pipeline.confidence.amounts import BONUSES_PER_DAY, EVALUATION, HALF, STREAK_FOR_EXCEPTIONAL
from governance_pipeline.confidence.caps import alerts_after, apply_delta
from governance_pipeline.confidence.deltas import (
    EXCUSE,
    adjusted_error,
    error_delta,
    incident_of,
    submitted_delta,
)
from governance_pipeline.confidence.event import Refused
from governance_pipeline.confidence.recovery import close_days, roll_over
from governance_pipeline.confidence.rows import Alert, EventRow, Seal
from governance_pipeline.confidence.state import State, Subject, Track, TrackKey
from governance_pipeline.confidence.terms import Adjustment, ClusterRole, EventType, RefusalReason, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from governance_pipeline.confidence.event import Event, Line
    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.terms import Domain

CHEERLEAD = "CHEERLEAD"
CRITERIA_EVOLUTION = "CRITERIA_EVOLUTION"
CONTRADICTING = "CONTRADICTING_WITHOUT_OVERRIDE"

GAINS = frozenset({EventType.CORRECT, EventType.PRO_PATTERN, EventType.BONUS, EventType.EXCEPTIONAL})
FACTS = GAINS | {EventType.ERROR}
"""What the guards of §11.6 look at: gains, and what a trigger scores once."""


@dataclass
class Folded:
    """What a fold leaves behind, each list in the order it arose."""

    state: State = field(default_factory=State)
    events: list[EventRow] = field(default_factory=list)
    alerts: list[Alert] = field(default_factory=list)
    seals: list[Seal] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    accepted: int = 0


def fold(
    lines: Iterable[Line],
    registry: Registry,
    folded: Folded | None = None,
    earlier: Callable[[str], Event] | None = None,
) -> Folded:
    """Fold events, whatever the order of their lines.

    Args:
        lines: events with ids of their own.
        registry: its patterns say what errors cost.
        folded: an earlier fold to go on from; every event here must come after its events. Changed in place.
        earlier: gives an event of the earlier fold by its id; only the seal of a day it left open asks for it.
    """
    folded = folded or Folded()
    ordered = sorted(lines, key=lambda line: line.event.order)
    here = {line.event.event_id: line.event for line in ordered}

    def event_of(event_id: str) -> Event:
        if event_id in here or earlier is None:
            return here[event_id]
        return earlier(event_id)

    fold_one = _Fold(folded, registry, event_of)
    for line in ordered:
        fold_one.take(line)
    return folded


class _Fold:
    """One pass over events in order."""

    def __init__(self, folded: Folded, registry: Registry, event_of: Callable[[str], Event]) -> None:
        self._folded = folded
        self._state = folded.state
        self._patterns = registry.patterns
        self._event_of = event_of

    def take(self, line: Line) -> None:
        """Accept one event and apply it, or refuse it and change nothing."""
        event, submitted = line.event, line.event
        is_contradiction = event.pattern_code == CRITERIA_EVOLUTION and event.evidence is None
        if is_contradiction and event.event_type is EventType.PRO_PATTERN:
            event = event._replace(event_type=EventType.ERROR, pattern_code=CONTRADICTING)
        key = TrackKey(event.role, event.subject_id, event.runtime)
        subject = self._state.subjects.get(key[:2]) or Subject()
        reason = self._refusal(event, key, subject)
        if reason is not None:
            self._folded.refused.append(Refused(event.event_id, reason, None, line.sha256))
            return
        self._folded.accepted += 1
        self._state.subjects[key[:2]] = subject
        subject.runtime, subject.has_events = event.runtime, True
        track = self._state.tracks.setdefault(key, Track())
        self._folded.alerts += roll_over(key, track, event.day, event.event_id)
        self._state.open_days.setdefault((event.role, event.subject_id, event.day), []).append(submitted.event_id)
        if event.event_type is EventType.SEAL:
            self._seal(event, key, track, subject)
        else:
            self._score(event, submitted, key, track, subject)

    def _refusal(self, event: Event, key: TrackKey, subject: Subject) -> RefusalReason | None:
        """Return why earlier events forbid this one; the first reason that applies."""
        if event.day in subject.sealed:
            return RefusalReason.DAY_SEALED
        kind = event.event_type
        if event.trigger is Trigger.IDEA_VALIDATE and kind in GAINS and event.session_id in self._state.cheerled:
            return RefusalReason.CHEERLEAD_GUARD
        if _fact(event) in subject.facts:
            return RefusalReason.FACT_ALREADY_SCORED
        if kind is EventType.BONUS and subject.bonuses.get(event.day, 0) >= BONUSES_PER_DAY:
            return RefusalReason.BONUS_LIMIT
        if kind is EventType.EXCEPTIONAL:
            track = self._state.tracks.get(key)
            if track is None or event.domain is None or track.domains[event.domain].streak < STREAK_FOR_EXCEPTIONAL:
                return RefusalReason.STREAK_BELOW_3
        return None

    def _score(self, event: Event, submitted: Event, key: TrackKey, track: Track, subject: Subject) -> None:
        """Apply an accepted event that is no seal."""
        domain = event.domain
        if domain is None:  # event_form refuses such an event
            raise ValueError(f"event {event.event_id} has no domain")
        state = track.domains[domain]
        raw = delta = submitted_delta(submitted, self._patterns, state.streak)
        reasons: list[Adjustment] = []
        is_counted = True
        if event.event_type is EventType.ERROR:
            if submitted is not event:
                delta = error_delta(event, self._patterns)
                reasons.append(Adjustment.CRITERIA_WITHOUT_ARGUMENT)
            delta, steps = adjusted_error(event, delta, subject, self._state)
            reasons += steps
            is_counted = event.cluster_id not in subject.clusters
            self._remember_error(event, subject)
            state.streak = 0
        elif event.event_type is EventType.CORRECT:
            state.streak += 1
        self._folded.events.append(apply_delta(event, domain, track, raw, delta, reasons))
        self._folded.alerts += alerts_after(event, domain, key, track)
        if is_counted:
            _count(event, track, domain)
        _remember(event, subject)
        if isinstance(event.self_score, int) and isinstance(event.user_score, int):
            track.pairs += 1
            track.pairs_apart += abs(event.self_score - event.user_score)

    def _remember_error(self, event: Event, subject: Subject) -> None:
        incident, code = incident_of(event), event.pattern_code
        if event.cluster_role is ClusterRole.ROOT and event.cluster_id:
            self._state.roots.add(event.cluster_id)
        if event.cluster_id:
            subject.clusters.add(event.cluster_id)
        if code is None or event.session_id is None:
            return
        if code == CHEERLEAD:
            self._state.cheerled.add(event.session_id)
        if code == EXCUSE and subject.first_excuse is None:
            subject.first_excuse = incident
        subject.first_incident.setdefault((event.session_id, code), incident)
        if event.cluster_id is None or (code, event.cluster_id) not in subject.pattern_clusters:
            subject.incidents[code] = subject.incidents.get(code, 0) + 1
        if event.cluster_id:
            subject.pattern_clusters.add((code, event.cluster_id))

    def _seal(self, event: Event, key: TrackKey, track: Track, subject: Subject) -> None:
        """Adjust each domain both sides judged, then close and seal the day."""
        own = event.self_score if isinstance(event.self_score, dict) else {}
        users = event.user_score if isinstance(event.user_score, dict) else {}
        both = [domain for domain in track.domains if domain in own and domain in users]
        for domain in both:
            raw = (users[domain] - own[domain]) * 5  # half of the hundredths, in thousandths
            self._folded.events.append(apply_delta(event, domain, track, raw, raw, ()))
            self._folded.alerts += alerts_after(event, domain, key, track)
            track.pairs += 1
            track.pairs_apart += abs(own[domain] - users[domain])
        if not both:
            self._folded.events.append(EventRow(event, None, 0, 0, (), None, None))
        if event.day == track.current_day:
            self._folded.alerts += close_days(key, track, event.day, event.event_id)
        subject.sealed.add(event.day)
        digested = self._state.open_days.pop((event.role, event.subject_id, event.day))
        digest = hashlib.sha256()
        for one in digested:
            digest.update(self._event_of(one).canonical + b"\n")
        self._folded.seals.append(Seal(event, len(digested), digest.hexdigest()))


def _fact(event: Event) -> tuple | None:
    """What a trigger scores: nothing, unless the event has trigger and evidence."""
    if event.trigger is None or event.evidence is None or event.event_type not in FACTS:
        return None
    return event.domain, event.evidence


def _count(event: Event, track: Track, domain: Domain) -> None:
    """Count evaluations, tasks and corrections (spec/confidence.md §11.5, §11.9)."""
    state = track.domains[domain]
    if event.event_type is EventType.IMPLICIT_CONTINUE:
        state.evaluations += HALF
    else:
        state.evaluations += EVALUATION
    if event.event_type in (EventType.CORRECT, EventType.ERROR, EventType.IMPLICIT_CONTINUE):
        track.tasks += 1
    if event.event_type is EventType.ERROR:
        track.corrections += 1


def _remember(event: Event, subject: Subject) -> None:
    """Remember what later events of the subject are held against."""
    fact = _fact(event)
    if fact is not None:
        subject.facts.add(fact)
    if event.event_type is EventType.BONUS:
        subject.bonuses[event.day] = subject.bonuses.get(event.day, 0) + 1
