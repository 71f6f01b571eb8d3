"""The one row that says where this place stands with the hub.

What belongs here: reading and changing it inside a transaction. What does not: what a change means.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.hub.states import ErrorReason, HubStatus

if TYPE_CHECKING:
    import sqlite3

    from governance_pipeline.confidence.hub.hub_file import HubPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSync:
    """Where this place stands.

    Attributes:
        status, reason: the state, and why it is `error`.
        url: of the hub, as it was named when registering.
        runtime: `platform/model/thinking` that was registered.
        intent_id, intent_expires_at: of a registration that is not verified yet.
        runtime_id: the hub's name of the runtime.
        is_verified: the hub said that the e-mail address is verified.
        registered_at: when the hub first said `active`; nothing older is ever sent.
        taken_seq: number of the last recorded line that was looked at.
        first_seq: number of the last recorded line before `registered_at`.
        sync_errors: answers in a row that came to nothing.
        is_online: the last exchange succeeded.
        last_event_sent_at, last_sync_at: instants.
        cached_state: what the hub last said, as JSON; for display only.
        latest_skill_version: the newest one the hub knows.
        blocked_events: events older than the registration that were kept from being sent.
    """

    status: HubStatus = HubStatus.UNREGISTERED
    reason: ErrorReason | None = None
    url: str | None = None
    runtime: str | None = None
    intent_id: str | None = None
    intent_expires_at: str | None = None
    runtime_id: str | None = None
    is_verified: int = 0
    registered_at: str | None = None
    taken_seq: int = 0
    first_seq: int = 0
    sync_errors: int = 0
    is_online: int = 0
    last_event_sent_at: str | None = None
    last_sync_at: str | None = None
    cached_state: str | None = None
    latest_skill_version: str | None = None
    blocked_events: int = 0


_NAMES = tuple(one.name for one in fields(HubSync))


def sync_of(database: sqlite3.Connection) -> HubSync:
    """Read the row."""
    row = database.execute(f"SELECT {', '.join(_NAMES)} FROM sync").fetchone()  # noqa: S608 - our own names
    found = dict(zip(_NAMES, row, strict=True))
    reason = found["reason"] and ErrorReason(found["reason"])
    return HubSync(**{**found, "status": HubStatus(found["status"]), "reason": reason})


def change_sync(database: sqlite3.Connection, **members: Any) -> HubSync:
    """Change members of the row and give it as it is now.

    Raises:
        ValueError: no such member.
    """
    if unknown := set(members) - set(_NAMES):
        raise ValueError(f"no members of the hub's row: {sorted(unknown)}")
    settings = ", ".join(f"{name} = ?" for name in members)
    database.execute(f"UPDATE sync SET {settings}", tuple(members.values()))  # noqa: S608 - checked above
    return sync_of(database)


def current(place: HubPlace) -> HubSync:
    """Read where a place stands; unregistered where nobody ever asked for a hub.

    Raises:
        StorageError: the file cannot be used.
    """
    if not place.exists():
        return HubSync()
    with place.opened() as database:
        return sync_of(database)
