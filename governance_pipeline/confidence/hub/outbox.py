"""From recorded events to the queue: which of them are sent, read off the events themselves.

What belongs here: taking over what was recorded since the last look. What does not: the queue's own rules. No command
hands an event over: the hub's file remembers the number of the last recorded line it has seen, so an event is taken
once whoever recorded it, a crash in between loses none, and a rating needs nothing of the hub to be complete.

History is blocked here: an event that happened before the registration, or more than a week before it is looked at, is
never sent, however it came to be recorded. Source: spec/confidence.md §9; the week is the oldest event the public hub
takes (research/peers.md).
"""

from __future__ import annotations

import json
from datetime import timedelta
from importlib import metadata
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.confidence.event_fields import instant
from governance_pipeline.confidence.hub import journal, queue
from governance_pipeline.confidence.hub.hub_sync import HubSync, change_sync, sync_of
from governance_pipeline.confidence.hub.journal import HubCode
from governance_pipeline.confidence.hub.outgoing import event_body
from governance_pipeline.confidence.hub.states import HubRefused, HubStatus
from governance_pipeline.confidence.terms import EventType, Role
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from governance_pipeline.confidence.event import Event, Line
    from governance_pipeline.confidence.hub.hub_file import HubPlace
    from governance_pipeline.confidence.registry import Registry

LIVE: Final = timedelta(days=7)
"""An event that happened longer ago than this is history when it is first looked at."""

_AFTER_ALL: Final = 2**62


class Taken(NamedTuple):
    """What one look found: events put into the queue, and those kept from it."""

    queued: int = 0
    blocked: int = 0
    other_runtime: int = 0
    overflow: int = 0


def take_over(place: HubPlace, now: datetime) -> Taken:
    """Queue what was recorded since the last look; nothing unless the registration is active.

    Raises:
        StorageError: the hub's file or the events cannot be used.
    """
    from governance_pipeline.confidence.store import EventStore

    with place.opened(is_writing=True) as database:
        sync = sync_of(database)
        if sync.status is not HubStatus.ACTIVE:
            return Taken()
        recorded = EventStore(place.folder).recorded_after(sync.taken_seq)
        if recorded.last_seq == sync.taken_seq:
            return Taken()
        change_sync(database, taken_seq=recorded.last_seq)
        found = _queued(database, sync, recorded.events, recorded.registry, now)
        if found.blocked:
            change_sync(database, blocked_events=sync.blocked_events + found.blocked)
        for code, events in (
            (HubCode.HISTORY_BLOCKED, found.blocked),
            (HubCode.OTHER_RUNTIME, found.other_runtime),
            (HubCode.OVERFLOW, found.overflow),
        ):
            if events:
                journal.log(database, now, code, events)
        return found


def last_recorded(place: HubPlace) -> int:
    """Return the number of the last recorded line: what comes after it is news.

    Raises:
        StorageError: the events cannot be used.
    """
    from governance_pipeline.confidence.store import EventStore

    return EventStore(place.folder).recorded_after(_AFTER_ALL).last_seq


def skill_version() -> str:
    """Return the version of this program: what is sent as the skill version."""
    return metadata.version("governance-pipeline")


def is_history(event: Event, registered_at: str, now: datetime) -> bool:
    """Tell whether an event happened before the registration, or too long ago to be news."""
    return event.ts < max(instant(registered_at), instant(instant_text(now - LIVE)))


def _queued(
    database: sqlite3.Connection,
    sync: HubSync,
    events: list[tuple[int, Line]],
    registry: Registry,
    now: datetime,
) -> Taken:
    version = skill_version()
    queued = blocked = other = refused = 0
    for seq, (event, _) in events:
        if event.event_type is EventType.SEAL:
            continue
        if sync.registered_at is None or is_history(event, sync.registered_at, now):
            blocked += 1
        elif event.role is Role.AGENT and event.runtime != sync.runtime:
            other += 1  # the key stands for one runtime: another one's events would be scored as its own
        else:
            try:
                queue.add(database, seq, json.dumps(_body(event, registry, version)))
                queued += 1
            except HubRefused:
                refused += 1
    if refused:
        journal.log(database, now, HubCode.NOT_ALLOWED, refused)
    return Taken(queued, blocked, other, queue.cut(database))


def _body(event: Event, registry: Registry, version: str) -> dict[str, str]:
    severity = event.severity
    if severity is None and event.event_type is EventType.ERROR and event.pattern_code is not None:
        severity = registry.patterns[event.pattern_code].severity
    return event_body(event, severity, version)
