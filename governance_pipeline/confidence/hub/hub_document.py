"""What the hub commands answer: documents and lines, without the key.

What belongs here: members and layout. What does not: doing anything. `hubSync` has the member names agents know from
the source (spec/confidence.md §9); nothing of the key file is ever read here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.confidence.hub import journal, queue
from governance_pipeline.confidence.hub.hub_sync import HubSync, sync_of
from governance_pipeline.confidence.hub.key_file import KEY_FILE
from governance_pipeline.confidence.hub.states import NEXT_STEP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.confidence.hub.answers import Outcome
    from governance_pipeline.confidence.hub.delivery import Round
    from governance_pipeline.confidence.hub.hub_file import HubPlace

STATUS_SCHEMA: Final = "govern/confidence-hub-status/v1"
REGISTRATION_SCHEMA: Final = "govern/confidence-hub-registration/v1"
SYNC_SCHEMA: Final = "govern/confidence-hub-sync/v1"
LOG_LINES: Final = 10


def hub_sync_document(place: HubPlace) -> dict[str, Any]:
    """Return `hubSync`: what the exported views carry too. There is no key in it, and none of the queue's secrets.

    Raises:
        StorageError: the hub's file cannot be used.
    """
    sync, waiting = HubSync(), list[queue.Waiting]()
    if place.exists():
        with place.opened() as database:
            sync, waiting = sync_of(database), queue.all_waiting(database)
    return {
        "status": sync.status.value,
        "runtimeId": sync.runtime_id,
        "pendingEvents": [{"attempts": one.failures, "event": json.loads(one.body)} for one in waiting],
        "syncErrors": sync.sync_errors,
        "lastEventSentAt": sync.last_event_sent_at,
        "lastSyncAt": sync.last_sync_at,
        "cachedState": None if sync.cached_state is None else json.loads(sync.cached_state),
    }


def status_document(place: HubPlace) -> dict[str, Any]:
    """Return where this place stands with the hub.

    Raises:
        StorageError: the hub's file cannot be used.
    """
    sync, lines = HubSync(), list[journal.HubLogLine]()
    if place.exists():
        with place.opened() as database:
            sync, lines = sync_of(database), journal.last_lines(database, LOG_LINES)
    return {
        "schema": STATUS_SCHEMA,
        "hubSync": hub_sync_document(place),
        "reason": None if sync.reason is None else sync.reason.value,
        "url": sync.url,
        "runtime": sync.runtime,
        "registered_at": sync.registered_at,
        "has_key": (place.folder / KEY_FILE).exists(),
        "is_online": bool(sync.is_online),
        "blocked_events": sync.blocked_events,
        "latest_skill_version": sync.latest_skill_version,
        "log": [line._asdict() for line in lines],
        "next": NEXT_STEP[sync.status],
    }


def status_lines(document: Mapping[str, Any]) -> list[str]:
    """Return state, what waits, errors and the end of the local log."""
    found = document["hubSync"]
    reason = f" ({document['reason']})" if document["reason"] else ""
    lines = [
        f"status: {found['status']}{reason}",
        f"hub: {document['url'] or 'none'}, runtime {document['runtime'] or 'none'}",
        f"pending: {len(found['pendingEvents'])}, errors in a row: {found['syncErrors']}",
        f"last event sent: {found['lastEventSentAt'] or 'never'}, last sync: {found['lastSyncAt'] or 'never'}",
    ]
    if document["blocked_events"]:
        lines.append(f"BLOCKED: {document['blocked_events']} events of history were not sent and never will be")
    for line in document["log"]:
        status = f", status {line['status']}" if line["status"] is not None else ""
        lines.append(f"log: {line['at']} {line['code']}, events {line['events']}{status}")
    return [*lines, f"next: {document['next']}"]


def registration_document(sync: HubSync) -> dict[str, Any]:
    """Return where a registration stands."""
    return {
        "schema": REGISTRATION_SCHEMA,
        "status": sync.status.value,
        "runtime": sync.runtime,
        "runtime_id": sync.runtime_id,
        "intent_expires_at": sync.intent_expires_at,
        "next": _next(sync),
    }


def registration_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the state and what to do next."""
    return [f"status: {document['status']}, runtime {document['runtime']}", f"next: {document['next']}"]


def sync_document(place: HubPlace, done: Round, found: Outcome) -> dict[str, Any]:
    """Return what `hub sync` did.

    Raises:
        StorageError: the hub's file cannot be used.
    """
    now = hub_sync_document(place)
    return {
        "schema": SYNC_SCHEMA,
        "status": now["status"],
        "delivered": done.delivered,
        "rejected": done.rejected,
        "failed": done.failed,
        "pending": len(now["pendingEvents"]),
        "sync_errors": now["syncErrors"],
        "state": found.value,
        "cachedState": now["cachedState"],
    }


def sync_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the same in words."""
    sent = ", ".join(f"{name} {document[name]}" for name in ("delivered", "rejected", "failed", "pending"))
    return [f"status: {document['status']}", sent, f"state of the hub: {document['state']}"]


def _next(sync: HubSync) -> str:
    if sync.intent_id is not None:
        return "`govern confidence hub verify --email ADDRESS --name NAME` before the registration expires"
    return NEXT_STEP[sync.status]
