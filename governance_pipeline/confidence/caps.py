"""Day cap, then score limit; what was really applied is what the day remembers (spec/confidence.md §11.4).

What belongs here: the two bounds and the alert a day's penalties raise. What does not: where a delta comes from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.confidence.amounts import DAY_CAP, HIGHEST, LOWEST, RECOVERY_BELOW, WARM_UP_CAP
from governance_pipeline.confidence.rows import Alert, EventRow
from governance_pipeline.confidence.state import Day
from governance_pipeline.confidence.terms import Adjustment, AlertKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.confidence.event import Event
    from governance_pipeline.confidence.state import Track, TrackKey
    from governance_pipeline.confidence.terms import Domain


def capped(delta: int, net: int, *, is_warm_up: bool) -> int:
    """Cut a delta to what the day still allows; what earlier caps allowed is not pulled back."""
    lowest, highest = WARM_UP_CAP if is_warm_up else DAY_CAP
    return max(delta, min(0, lowest - net)) if delta < 0 else min(delta, max(0, highest - net))


def apply_delta(
    event: Event, domain: Domain, track: Track, raw: int, delta: int, reasons: Sequence[Adjustment]
) -> EventRow:
    """Apply a delta to one domain of a track under the caps of its state before the event; gives the row."""
    state = track.domains[domain]
    day = state.days.setdefault(event.day, Day())
    allowed = capped(delta, day.net, is_warm_up=track.is_warm_up)
    steps = list(reasons)
    if allowed != delta:
        steps.append(Adjustment.DAY_CAP)
    score = min(max(state.score + allowed, LOWEST), HIGHEST)
    applied = score - state.score
    if applied != allowed:
        steps.append(Adjustment.SCORE_LIMIT)
    state.score = day.score = score
    day.net += applied
    day.penalties += max(-applied, 0)
    return EventRow(event, domain, raw, applied, tuple(steps), score, state.streak)


def alerts_after(event: Event, domain: Domain, key: TrackKey, track: Track) -> list[Alert]:
    """Return what the score after an event raises: divergence once a day, and the entry into recovery."""
    state = track.domains[domain]
    day = state.days[event.day]
    alerts = []
    if day.penalties > 0 and 2 * day.penalties > state.score and not day.has_diverged:
        day.has_diverged = True
        alerts.append(Alert(AlertKind.DIVERGENCE, key, domain, event.day, event.event_id))
    if state.score < RECOVERY_BELOW and not state.is_in_recovery:
        state.is_in_recovery, state.days_above = True, 0
        alerts.append(Alert(AlertKind.RECOVERY_ENTERED, key, domain, event.day, event.event_id))
    return alerts
