"""Where everybody stands today: scores with elapsed days closed, and what a session starts with.

What belongs here: the documents of `status` and `brief`. What does not: layout. Source: spec/confidence.md §8 and
§11.7: looking closes elapsed days in the same way as an event of today would, and records nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.measures import escalation
from governance_pipeline.confidence.recovery import close_days
from governance_pipeline.confidence.replay_document import alert_document, day_text, event_document
from governance_pipeline.confidence.score_documents import pool_documents, subject_document, team_documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.rows import EventRow
    from governance_pipeline.confidence.state import State, Track

STATUS_SCHEMA = "govern/confidence-status/v1"
BRIEF_SCHEMA = "govern/confidence-brief/v1"

ELAPSED = "status"
"""Stands for the event that would have closed a day, where nobody but the calendar did."""


def as_of(state: State, today: int) -> tuple[State, list[dict[str, Any]]]:
    """Return a copy of the state with all days before today closed, and the recoveries that ended so."""
    copy = replace(state, tracks={key: _copied(track) for key, track in state.tracks.items()})
    left = []
    for key, track in copy.tracks.items():
        if track.current_day is not None and track.current_day < today:
            left += close_days(key, track, today - 1, ELAPSED)
            track.current_day = today
    return copy, [alert_document(alert) for alert in left]


def _copied(track: Track) -> Track:
    """Copy what closing days changes; the days themselves are shared."""
    return replace(track, domains={domain: replace(state) for domain, state in track.domains.items()})


def status_document(state: State, registry: Registry, today: int) -> dict[str, Any]:
    """Return subjects, pools and teams as of a day (an ordinal)."""
    current, left = as_of(state, today)
    return {
        "schema": STATUS_SCHEMA,
        "as_of": day_text(today),
        "subjects": [subject_document(current, registry, *known) for known in sorted(registry.weights)],
        "pools": pool_documents(current, registry),
        "teams": team_documents(current, registry),
        "recovery_left": left,
    }


def brief_document(state: State, registry: Registry, last: Sequence[EventRow], today: int) -> dict[str, Any]:
    """Return what a session starts with: scores, the last evaluations, anti-patterns met with their escalation."""
    return {
        "schema": BRIEF_SCHEMA,
        "as_of": day_text(today),
        "subjects": status_document(state, registry, today)["subjects"],
        "last": [{**event_document(row), "subject_id": row.event.subject_id} for row in last],
        "active_patterns": [
            {
                "role": role.value,
                "subject_id": subject_id,
                "pattern_code": code,
                "incidents": incidents,
                "escalation": escalation(incidents).value,
            }
            for (role, subject_id), subject in sorted(state.subjects.items())
            for code, incidents in sorted(subject.incidents.items())
        ],
    }
