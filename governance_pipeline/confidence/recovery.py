"""Closing the days of a track, and leaving trust recovery after three of them (spec/confidence.md §4, §11.7).

What belongs here: which days close when, and what a closed day does. What does not: entering recovery (`caps`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.confidence.amounts import RECOVERY_ABOVE, RECOVERY_DAYS
from governance_pipeline.confidence.rows import Alert
from governance_pipeline.confidence.terms import AlertKind

if TYPE_CHECKING:
    from governance_pipeline.confidence.state import DomainState, Track, TrackKey


def roll_over(key: TrackKey, track: Track, day: int, event_id: str) -> list[Alert]:
    """Make `day` the track's current day if it is later, closing every calendar day before it.

    Args:
        key: of the track.
        track: changed in place.
        day: the day of the event, as an ordinal.
        event_id: the event that brings the day.

    Returns:
        recovery_left alerts by day, then by domain.
    """
    if track.current_day is None:
        track.current_day = track.first_open_day = day
        return []
    if day <= track.current_day:
        return []
    alerts = close_days(key, track, day - 1, event_id)
    track.current_day = day
    return alerts


def close_days(key: TrackKey, track: Track, last: int, event_id: str) -> list[Alert]:
    """Close the open days up to and with `last`, with the scores as they stand; no day is closed twice."""
    first, track.first_open_day = track.first_open_day, max(track.first_open_day, last + 1)
    left = []
    for domain, state in track.domains.items():
        day = day_left(state, first, last)
        if day is not None:
            left.append(Alert(AlertKind.RECOVERY_LEFT, key, domain, day, event_id))
    return sorted(left, key=lambda alert: alert.day)  # stable: domains of one day keep their order


def day_left(state: DomainState, first: int, last: int) -> int | None:
    """Count closed days; the score stands still between events, so any number of them is one step."""
    if not state.is_in_recovery or last < first:
        return None
    if state.score <= RECOVERY_ABOVE:
        state.days_above = 0
        return None
    missing = RECOVERY_DAYS - state.days_above
    closed = last - first + 1
    if closed < missing:
        state.days_above += closed
        return None
    state.is_in_recovery, state.days_above = False, 0
    return first + missing - 1
