"""What recording an event did, `govern/confidence-recorded/v1`: its rows, alerts, seal, and the subject after it.

What belongs here: members. What does not: recording (`store`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.replay_document import alert_document, event_document, seal_document
from governance_pipeline.confidence.score_documents import subject_document

if TYPE_CHECKING:
    from governance_pipeline.confidence.recording import Recorded
    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.state import State

SCHEMA = "govern/confidence-recorded/v1"


def recorded_document(recorded: Recorded, state: State, registry: Registry) -> dict[str, Any]:
    """Return what one event did and where its subject stands now."""
    event = recorded.event
    return {
        "schema": SCHEMA,
        "event_id": event.event_id,
        "is_new": recorded.is_new,
        "events": [event_document(row) for row in recorded.rows],
        "alerts": [alert_document(alert) for alert in recorded.alerts],
        "seals": [seal_document(seal) for seal in recorded.seals],
        "subject": subject_document(state, registry, event.role, event.subject_id),
    }
