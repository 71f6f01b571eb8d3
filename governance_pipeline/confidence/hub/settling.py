"""What follows from the answer to one event: delivered, dropped, tried later, or everything stopped.

What belongs here: the one transaction after a request. What does not: asking (`api`) and choosing the next event
(`delivery`). Source: the list of answers in spec/confidence.md §9.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from governance_pipeline.confidence.hub import circuit, journal, queue
from governance_pipeline.confidence.hub.answers import Answer, Outcome, outcome, state_of, status_of, version_of
from governance_pipeline.confidence.hub.hub_sync import HubSync, change_sync, sync_of
from governance_pipeline.confidence.hub.journal import HubCode
from governance_pipeline.confidence.hub.states import ErrorReason, HubStatus
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime


def settle_event(database: sqlite3.Connection, waiting: queue.Waiting, answer: Answer, now: datetime) -> Outcome:
    """Write down what the answer to an event means, and return it."""
    found = outcome(answer)
    if found is Outcome.OK:
        queue.remove(database, waiting.seq)
        change_sync(database, last_event_sent_at=instant_text(now))
        settle_state(database, answer)
        if state_of(answer) is None:
            change_sync(database, cached_state=None)  # the one before does not hold this event: show ours, marked local
    elif found is Outcome.UNAUTHORIZED:
        settle_unauthorized(database, now)
    elif found is Outcome.REJECTED:
        queue.remove(database, waiting.seq)
        change_sync(database, is_online=1)
        journal.log(database, now, HubCode.REJECTED, 1, answer.status)
    else:
        if not queue.postpone(database, waiting, now):
            journal.log(database, now, HubCode.GIVEN_UP, 1, answer.status)
        settle_error(database, answer, now)
    return found


def settle_state(database: sqlite3.Connection, answer: Answer) -> HubSync:
    """Keep the state a hub answered with, for display; the errors in a row are over."""
    state, status = state_of(answer), status_of(answer)
    sync = sync_of(database)
    return change_sync(
        database,
        sync_errors=0,
        is_online=1,
        cached_state=sync.cached_state if state is None else json.dumps(state, sort_keys=True),
        latest_skill_version=version_of(answer) or sync.latest_skill_version,
        status=HubStatus.SUSPENDED if status == HubStatus.SUSPENDED else sync.status,
    )


def settle_unauthorized(database: sqlite3.Connection, now: datetime) -> None:
    """Stop: the key is not taken any more. What waits stays, until somebody enters a key or runs `hub sync`."""
    change_sync(database, status=HubStatus.ERROR, reason=ErrorReason.UNAUTHORIZED, is_online=0)
    journal.log(database, now, HubCode.UNAUTHORIZED, 0, 401)


def settle_error(database: sqlite3.Connection, answer: Answer, now: datetime) -> None:
    """Count an error in a row; at the last step of the circuit everything stops."""
    errors = sync_of(database).sync_errors + 1
    change_sync(database, sync_errors=errors, is_online=0)
    journal.log(database, now, HubCode.NO_ANSWER, 1, answer.status)
    if errors >= circuit.STOP:
        change_sync(database, status=HubStatus.ERROR, reason=ErrorReason.TOO_MANY_ERRORS)
        journal.log(database, now, HubCode.STOPPED, queue.pending(database))
