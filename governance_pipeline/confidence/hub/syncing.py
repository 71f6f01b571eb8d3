"""`hub sync` and the weekly report: what is sent because somebody asked for it, or sealed a day.

What belongs here: starting again after errors, sending everything that waits, fetching the state, reporting scores.
What does not: registering (`registering`) and the rounds after a rating (`courier`). Source: spec/confidence.md §9.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from governance_pipeline.confidence.event_fields import instant
from governance_pipeline.confidence.hub import journal
from governance_pipeline.confidence.hub.activation import activate, ask_state, is_suspended
from governance_pipeline.confidence.hub.answers import Answer, Outcome, outcome
from governance_pipeline.confidence.hub.api import PATIENCE, HubApi, Patience
from governance_pipeline.confidence.hub.delivery import Round, sending, whole_round
from governance_pipeline.confidence.hub.hub_sync import HubSync, change_sync, current, sync_of
from governance_pipeline.confidence.hub.journal import HubCode
from governance_pipeline.confidence.hub.key_file import kept_key
from governance_pipeline.confidence.hub.outbox import take_over
from governance_pipeline.confidence.hub.settling import settle_error, settle_state, settle_unauthorized
from governance_pipeline.confidence.hub.state_report import HistoryRefused, state_report
from governance_pipeline.confidence.hub.states import HubRefused, HubStatus, require
from governance_pipeline.trust.instants import instant_of, instant_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from governance_pipeline.confidence.hub.hub_file import HubPlace

REPORT_AFTER: Final = timedelta(days=7)
REPORT_PATH: Final = "/api/import/state"
_LOCK_WAIT_S: Final = 20.0
_OK: Final = 200


def api_of(place: HubPlace, sync: HubSync, patience: Patience = PATIENCE) -> HubApi:
    """Give the hub of a place with its key.

    Raises:
        HubRefused: the key cannot be used, or no hub is known.
    """
    if sync.url is None:
        raise HubRefused("no hub is known here; `govern confidence hub register` starts a registration")
    return HubApi(sync.url, kept_key(place.folder), patience)


def sync_now(place: HubPlace, clock: Callable[[], datetime], patience: Patience = PATIENCE) -> tuple[Round, Outcome]:
    """Start again whatever the errors were, send everything that waits, and fetch the state.

    Returns:
        what was sent, and what the hub said to the question for the state.

    Raises:
        HubRefused: nothing is registered here, or the key cannot be used.
        StorageError: another process sends all the time, or a file cannot be used.
    """
    sync = current(place)
    require(sync.status, set(HubStatus) - {HubStatus.UNREGISTERED}, "syncing")
    api = api_of(place, sync, patience)
    with sending(place, _LOCK_WAIT_S):
        done = Round()
        if sync.status in {HubStatus.ACTIVE, HubStatus.ERROR}:
            with place.opened(is_writing=True) as database:
                activate(database, place, clock())
            take_over(place, clock())
            done = whole_round(place, api, clock)
        if done.is_unauthorized:
            return done, Outcome.UNAUTHORIZED
        return done, fetch_state(place, api, clock())


def fetch_state(place: HubPlace, api: HubApi, now: datetime) -> Outcome:
    """Ask for the state; a registration that waited for its e-mail, or was suspended, is active where the hub says so.

    Raises:
        StorageError: the hub's file cannot be used.
    """
    runtime_id = current(place).runtime_id
    if runtime_id is None:
        return Outcome.REJECTED
    answer, found = ask_state(api, runtime_id)
    with place.opened(is_writing=True) as database:
        sync = sync_of(database)
        is_waiting = sync.status in {HubStatus.PENDING_EMAIL, HubStatus.SUSPENDED}
        if found is Outcome.OK and is_suspended(answer):
            change_sync(database, status=HubStatus.SUSPENDED)
        elif found is Outcome.OK and (is_waiting or sync.status is HubStatus.ACTIVE):
            activate(database, place, now, answer)
        elif not is_waiting and found is Outcome.UNAUTHORIZED:
            settle_unauthorized(database, now)
        elif not is_waiting and found is Outcome.TRY_LATER:
            settle_error(database, answer, now)
    return found


def is_report_due(sync: HubSync, now: datetime) -> bool:
    """Tell whether the last exchange of whole states is more than a week ago."""
    last = sync.last_sync_at or sync.registered_at
    return sync.status is HubStatus.ACTIVE and last is not None and now - instant_of(last) > REPORT_AFTER


def send_report(place: HubPlace, api: HubApi, now: datetime) -> bool:
    """Send the weekly report, if it is due and holds nothing older than the registration; False when it was not sent.

    Raises:
        StorageError: a file cannot be used.
    """
    from governance_pipeline.confidence.store import EventStore

    sync = current(place)
    if not is_report_due(sync, now) or sync.registered_at is None or sync.runtime is None:
        return False
    recorded = EventStore(place.folder).recorded_after(sync.first_seq)
    since = instant(sync.registered_at)
    lines = [line for _, line in recorded.events if line.event.ts >= since]
    try:
        body = state_report(lines, recorded.registry, sync.runtime, sync.registered_at)
    except HistoryRefused:
        with place.opened(is_writing=True) as database:
            journal.log(database, now, HubCode.REPORT_REFUSED, 0)
        return False
    return _settle_report(place, api.post(REPORT_PATH, body), now)


def _settle_report(place: HubPlace, answer: Answer, now: datetime) -> bool:
    found = outcome(answer)
    is_taken = answer.status == _OK  # a report is not answered with a state, so none is asked for
    with place.opened(is_writing=True) as database:
        if is_taken:
            change_sync(database, last_sync_at=instant_text(now))
            settle_state(database, answer)
            journal.log(database, now, HubCode.REPORT_SENT, 0, answer.status)
        elif found is Outcome.UNAUTHORIZED:
            settle_unauthorized(database, now)
        elif found is Outcome.REJECTED:
            journal.log(database, now, HubCode.REPORT_REFUSED, 0, answer.status)
        else:
            settle_error(database, answer, now)
    return is_taken
