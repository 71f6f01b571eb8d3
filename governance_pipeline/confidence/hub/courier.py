"""The process that sends: started after an answer was printed, gone after some seconds, and alone.

What belongs here: one run of it, and starting one. What does not: what is sent (`outbox`, `delivery`).

A command line ends when its answer is printed. Sending in that process would hold the prompt for as long as the hub
takes; a thread would die with it; a daemon is something to install and to forget. So a rating starts this process,
detached, and ends. It holds a kernel lock while it sends; who finds the lock taken has nothing to do, because what it
came for is on disk and the holder looks again after it lets go. What it cannot send waits on disk for the next one.
Every sign of it is in the hub's file: it has no terminal, and says nothing. Decision 0012.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.confidence.hub import circuit, journal, queue
from governance_pipeline.confidence.hub.api import PATIENCE, Patience
from governance_pipeline.confidence.hub.delivery import Round, automatic_round, sending
from governance_pipeline.confidence.hub.hub_file import HubPlace
from governance_pipeline.confidence.hub.hub_sync import HubSync, current, sync_of
from governance_pipeline.confidence.hub.journal import HubCode
from governance_pipeline.confidence.hub.outbox import take_over
from governance_pipeline.confidence.hub.settling import settle_unauthorized
from governance_pipeline.confidence.hub.states import HubRefused, HubStatus
from governance_pipeline.confidence.hub.syncing import api_of, fetch_state, send_report
from governance_pipeline.errors import GovernError, StorageError
from governance_pipeline.trust.instants import instant_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from governance_pipeline.confidence.hub.api import HubApi

LIFE: Final = timedelta(seconds=15)
"""How long it may stay for the first two waits (1 and 5 s), so that a short failure heals without another command."""
ALARM_S: Final = 300
"""After this the system ends it, whatever it is doing; twenty requests of ten seconds are the longest round."""


class Occasion(StrEnum):
    """What it was started for."""

    EVENT = "event"
    START = "start"
    SEAL = "seal"


class Errand(NamedTuple):
    """One run: the place, the session and occasion, and time as it can be replaced in a test."""

    place: HubPlace
    session: str
    occasion: Occasion
    clock: Callable[[], datetime]
    sleep: Callable[[float], None] = time.sleep
    patience: Patience = PATIENCE


def run(errand: Errand) -> int:
    """Send what can be sent now; gives the number of requests about events.

    Raises:
        GovernError: a file cannot be used.
    """
    requests = 0
    while True:
        with ExitStack() as held:
            try:
                held.enter_context(sending(errand.place, 0.0))
            except StorageError:  # the lock is taken: its holder looks again after it lets go
                return requests
            requests, is_calm = _within_lock(errand, requests)
        if not is_calm or not _has_news(errand):
            return requests


def start(folder: Path, session: str, occasion: Occasion) -> int | None:
    """Start the process, detached from the terminal; gives its id, None where it cannot be started."""
    if not sys.executable:
        return None
    arguments = [sys.executable, "-P", "-m", __name__, str(folder.absolute()), session, occasion.value]
    silent = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    return os.posix_spawn(sys.executable, arguments, os.environ, file_actions=silent, setsid=True)


def _within_lock(errand: Errand, requests: int) -> tuple[int, bool]:
    """Send until nothing is left, the round's bound is reached or the hub says not now; tells whether all was well."""
    place, until = errand.place, errand.clock() + LIFE
    while True:
        sync = current(place)
        is_asking = sync.status is HubStatus.PENDING_EMAIL and errand.occasion is Occasion.START
        if not is_asking and sync.status is not HubStatus.ACTIVE:
            return requests, False
        api = _api(errand, sync)
        if api is None:
            return requests, False
        if is_asking:
            fetch_state(place, api, errand.clock())
            return requests, False
        done = _round(errand, api, circuit.PER_ROUND - requests)
        requests += done.requests
        if not done.failed or requests >= circuit.PER_ROUND:
            is_calm = not done.failed and not done.is_unauthorized and requests < circuit.PER_ROUND
            return requests, is_calm
        pause = _pause(errand, until)
        if pause is None:
            return requests, False
        errand.sleep(pause)


def _round(errand: Errand, api: HubApi, most: int) -> Round:
    take_over(errand.place, errand.clock())
    done = automatic_round(errand.place, api, errand.session, errand.clock, most)
    if errand.occasion is Occasion.SEAL and not done.failed and not done.is_unauthorized:
        send_report(errand.place, api, errand.clock())
    return done


def _api(errand: Errand, sync: HubSync) -> HubApi | None:
    try:
        return api_of(errand.place, sync, errand.patience)
    except HubRefused:  # the key is gone or open to others: as if the hub did not take it
        with errand.place.opened(is_writing=True) as database:
            settle_unauthorized(database, errand.clock())
        return None


def _pause(errand: Errand, until: datetime) -> float | None:
    """Seconds to the next try, where it is near and the circuit still allows it."""
    with errand.place.opened() as database:
        errors, due = sync_of(database).sync_errors, queue.next_due(database)
    if due is None or errors >= circuit.ONE_PER_SESSION or instant_of(due) > until:
        return None
    return max(0.0, (instant_of(due) - errand.clock()).total_seconds())


def _has_news(errand: Errand) -> bool:
    """Tell whether something was recorded while the lock was held."""
    take_over(errand.place, errand.clock())
    with errand.place.opened() as database:
        is_active = sync_of(database).status is HubStatus.ACTIVE
        return is_active and queue.next_waiting(database, errand.clock(), may_retry=False) is not None


def _now() -> datetime:
    return datetime.now(UTC)


def main(arguments: Sequence[str]) -> None:
    """Run once, for the arguments `start` gives; failures go to the local log, because nobody sees this process."""
    folder, session, occasion = arguments
    signal.alarm(ALARM_S)
    place = HubPlace(Path(folder))
    try:
        run(Errand(place, session, Occasion(occasion), _now))
    except Exception:  # noqa: BLE001 - there is nobody to raise to
        with suppress(GovernError), place.opened(is_writing=True) as database:
            journal.log(database, _now(), HubCode.CLIENT_FAILED, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
