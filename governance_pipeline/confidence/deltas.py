"""What an event is worth before caps: the table of deltas, and the steps that change an error.

What belongs here: §2 and §11.3 of spec/confidence.md. What does not: caps and limits (`caps`), and remembering
incidents (`fold` does, once the event is accepted).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.confidence.amounts import (
    ERROR_DELTA,
    EXCUSE_EXTRA,
    POINT,
    PRO_PATTERN_DELTA,
    REPEAT_DELTA,
    STREAK_TOTAL,
)
from governance_pipeline.confidence.state import Incident
from governance_pipeline.confidence.terms import Adjustment, ClusterRole, EventType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.confidence.event import Event
    from governance_pipeline.confidence.patterns import Pattern
    from governance_pipeline.confidence.state import State, Subject

EXCUSE = "EXCUSE"


def submitted_delta(event: Event, patterns: Mapping[str, Pattern], streak: int) -> int:
    """Return the raw delta of an event by the table of §2; `streak` is the domain's before it. Not for seals."""
    if event.event_type is EventType.ERROR:
        return error_delta(event, patterns)
    if event.event_type is EventType.CORRECT:
        return streak_gain(streak)
    if event.event_type is EventType.PRO_PATTERN:
        return PRO_PATTERN_DELTA
    return (event.points or 0) * POINT


def streak_gain(streak: int) -> int:
    """Return what the next correct answer earns after a streak of n."""
    last = len(STREAK_TOTAL) - 1
    return STREAK_TOTAL[min(streak + 1, last)] - STREAK_TOTAL[min(streak, last)]


def error_delta(event: Event, patterns: Mapping[str, Pattern]) -> int:
    """Return the delta of an error: its pattern's severity where that fixes one, else its own."""
    pattern = patterns.get(event.pattern_code) if event.pattern_code else None
    severity = (pattern and pattern.severity) or event.severity
    if severity is None:  # event_form refuses such an error
        raise ValueError(f"error {event.event_id} has no severity")
    return ERROR_DELTA[severity]


def incident_of(event: Event) -> Incident:
    """Return what an error counts as: its causal chain, else itself."""
    return Incident(True, event.cluster_id) if event.cluster_id else Incident(False, event.event_id)


def adjusted_error(event: Event, delta: int, subject: Subject, state: State) -> tuple[int, list[Adjustment]]:
    """Apply the steps of §11.3 to the delta of an error: repetition, EXCUSE, causal chain."""
    reasons: list[Adjustment] = []
    incident = incident_of(event)
    if event.pattern_code and event.session_id:
        first = subject.first_incident.get((event.session_id, event.pattern_code))
        if first is not None and first != incident and delta != REPEAT_DELTA:
            delta = REPEAT_DELTA
            reasons.append(Adjustment.REPEAT_IN_SESSION)
    if event.pattern_code == EXCUSE and subject.first_excuse not in (None, incident) and delta != REPEAT_DELTA:
        delta = max(delta - EXCUSE_EXTRA, REPEAT_DELTA)
        reasons.append(Adjustment.EXCUSE_AGAIN)
    if event.cluster_role is ClusterRole.DERIVED:
        if event.cluster_id in state.roots:
            delta //= 2  # exact: every error costs whole points
            reasons.append(Adjustment.CLUSTER_DERIVED)
        else:
            reasons.append(Adjustment.CLUSTER_ROOT_MISSING)
    return delta, reasons
