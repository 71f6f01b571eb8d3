"""The moment a registration becomes active, and asking the hub whether it is.

What belongs here: what `active` starts from. What does not: who asks. From then on events are sent; whatever was
recorded before is history, and stays here. Source: spec/confidence.md §9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.confidence.hub.answers import NOTHING, Answer, Outcome, outcome, state_of, status_of
from governance_pipeline.confidence.hub.hub_sync import HubSync, change_sync, sync_of
from governance_pipeline.confidence.hub.outbox import last_recorded
from governance_pipeline.confidence.hub.settling import settle_state
from governance_pipeline.confidence.hub.states import HubStatus
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from governance_pipeline.confidence.hub.api import HubApi
    from governance_pipeline.confidence.hub.hub_file import HubPlace


def ask_state(api: HubApi, runtime_id: str) -> tuple[Answer, Outcome]:
    """Ask the hub for the state of a runtime; an answer that holds none answers nothing."""
    answer = api.get(f"/api/runtime/{runtime_id}/state")
    found = outcome(answer)
    return answer, Outcome.TRY_LATER if found is Outcome.OK and state_of(answer) is None else found


def activate(database: sqlite3.Connection, place: HubPlace, now: datetime, answer: Answer = NOTHING) -> HubSync:
    """Become active, with the state the hub answered with.

    The first time sets the instant before which everything is history. Whatever was recorded while the registration
    was not active is skipped: the hub is told what happens from now on.
    """
    sync = sync_of(database)
    if sync.status is not HubStatus.ACTIVE:
        last = last_recorded(place)
        change_sync(database, taken_seq=last)
        if sync.registered_at is None:
            change_sync(database, registered_at=instant_text(now), first_seq=last)
    change_sync(database, status=HubStatus.ACTIVE, reason=None, is_verified=1, sync_errors=0)
    if state_of(answer) is not None:
        change_sync(database, last_sync_at=instant_text(now))
        settle_state(database, answer)
    return sync_of(database)


def is_suspended(answer: Answer) -> bool:
    """Tell whether an answer says that the hub suspended the runtime."""
    return status_of(answer) == HubStatus.SUSPENDED
