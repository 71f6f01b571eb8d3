"""One round of sending: the oldest events first, as many as the circuit allows, until the hub says not now.

What belongs here: choosing what is sent next. What does not: what an answer means (`settling`). No transaction is open
while the hub is asked, so a rating never waits for it; the kernel lock of the round keeps two processes from sending
the same event.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.confidence.hub import circuit, journal, queue
from governance_pipeline.confidence.hub.answers import Answer, Outcome
from governance_pipeline.confidence.hub.hub_sync import sync_of
from governance_pipeline.confidence.hub.journal import HubCode
from governance_pipeline.confidence.hub.once import first_time
from governance_pipeline.confidence.hub.outgoing import checked_event
from governance_pipeline.confidence.hub.settling import settle_event
from governance_pipeline.confidence.hub.states import HubRefused, HubStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from governance_pipeline.confidence.hub.api import HubApi
    from governance_pipeline.confidence.hub.hub_file import HubPlace

EVENTS_PATH: Final = "/api/events"
LOCK_FILE: Final = "hub.lock"
IN_A_ROW: Final = 3
"""Failures in a row after which even a round somebody waits for ends: the hub is down, not one event bad."""


class Round(NamedTuple):
    """What one round did: events delivered, dropped by the hub's answer, and left for later."""

    delivered: int = 0
    rejected: int = 0
    failed: int = 0
    is_unauthorized: bool = False

    @property
    def requests(self) -> int:
        """How many events were looked at."""
        return self.delivered + self.rejected + self.failed + self.is_unauthorized


@contextmanager
def sending(place: HubPlace, wait_s: float) -> Iterator[None]:
    """Be the only one who sends from this place.

    Raises:
        StorageError: another process sends, and did not end in time.
    """
    from governance_pipeline.storage.lock import exclusive

    with exclusive(place.folder / LOCK_FILE, wait_s=wait_s):
        yield


def automatic_round(
    place: HubPlace, api: HubApi, session: str, clock: Callable[[], datetime], most: int = circuit.PER_ROUND
) -> Round:
    """Send what is new and what is due, until something fails; a hub that says not now is left alone.

    Raises:
        StorageError: the hub's file cannot be used.
    """
    done = Round()
    for _ in range(most):
        waiting = _chosen(place, session, clock())
        if waiting is None:
            break
        done = _sent(place, api, waiting, clock, done)
        if done.failed or done.is_unauthorized:
            break
    return done


def whole_round(place: HubPlace, api: HubApi, clock: Callable[[], datetime]) -> Round:
    """Send everything that waits, once each, whenever its time is; somebody asked for it.

    Raises:
        StorageError: the hub's file cannot be used.
    """
    with place.opened() as database:
        every = queue.all_waiting(database)
    done, in_a_row = Round(), 0
    for waiting in every:
        before = done.failed
        done = _sent(place, api, waiting, clock, done)
        in_a_row = in_a_row + 1 if done.failed > before else 0
        if done.is_unauthorized or in_a_row == IN_A_ROW or not _is_active(place):
            break
    return done


def _is_active(place: HubPlace) -> bool:
    with place.opened() as database:
        return sync_of(database).status is HubStatus.ACTIVE


def _chosen(place: HubPlace, session: str, now: datetime) -> queue.Waiting | None:
    with place.opened(is_writing=True) as database:
        sync = sync_of(database)
        if sync.status is not HubStatus.ACTIVE:
            return None
        fresh = queue.next_waiting(database, now, may_retry=False)
        allowed = circuit.retries_allowed(sync.sync_errors)
        if allowed == circuit.PER_ROUND:
            return queue.next_waiting(database, now, may_retry=True)
        if fresh is not None or allowed == 0:
            return fresh
        retry = queue.next_waiting(database, now, may_retry=True)
        return retry if retry is not None and first_time(database, session, "retry", now) else None


def _sent(place: HubPlace, api: HubApi, waiting: queue.Waiting, clock: Callable[[], datetime], done: Round) -> Round:
    body = _checked(place, waiting, clock())
    if body is None:
        return done._replace(rejected=done.rejected + 1)
    answer: Answer = api.post(EVENTS_PATH, body)
    with place.opened(is_writing=True) as database:
        found = settle_event(database, waiting, answer, clock())
    if found is Outcome.OK:
        return done._replace(delivered=done.delivered + 1)
    if found is Outcome.REJECTED:
        return done._replace(rejected=done.rejected + 1)
    if found is Outcome.UNAUTHORIZED:
        return done._replace(is_unauthorized=True)
    return done._replace(failed=done.failed + 1)


def _checked(place: HubPlace, waiting: queue.Waiting, now: datetime) -> dict[str, str] | None:
    """Hold a body to the allow-list again: the file it waited in is on a disk others may reach."""
    try:
        body = json.loads(waiting.body)
        if isinstance(body, dict):
            return checked_event(body)
    except (HubRefused, ValueError):
        pass
    with place.opened(is_writing=True) as database:
        queue.remove(database, waiting.seq)
        journal.log(database, now, HubCode.NOT_ALLOWED, 1)
    return None
