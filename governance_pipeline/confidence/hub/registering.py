"""Registering a runtime with a hub: intent, e-mail, key, and the moment the hub says it is active.

What belongs here: the steps a person asks for, each in its state. What does not: sending events. The key is kept
before anything else is done with the answer that brings it, and no step writes it anywhere else. Source:
spec/confidence.md §9.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from governance_pipeline.confidence.event_fields import NotOfThisForm, instant
from governance_pipeline.confidence.hub import journal
from governance_pipeline.confidence.hub.activation import activate, ask_state
from governance_pipeline.confidence.hub.answers import Answer, Outcome, identifier_of, status_of
from governance_pipeline.confidence.hub.api import PATIENCE, HubApi, Patience, hub_url
from governance_pipeline.confidence.hub.hub_sync import HubSync, change_sync, current
from governance_pipeline.confidence.hub.journal import HubCode
from governance_pipeline.confidence.hub.key_file import HubKey
from governance_pipeline.confidence.hub.outbox import last_recorded
from governance_pipeline.confidence.hub.outgoing import intent_body, resend_body, verify_body
from governance_pipeline.confidence.hub.states import HubRefused, HubStatus, require
from governance_pipeline.errors import GovernError
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.confidence.hub.hub_file import HubPlace

RESENDS_PER_HOUR: Final = 3
_MADE: Final = frozenset({200, 201, 202})
_CONFLICT, _TOO_MANY = 409, 429


class HubFailed(GovernError):  # noqa: N818 - the hub's doing, not a wrong argument
    """The hub gave no answer that can be used."""


def register(place: HubPlace, url: str, runtime: str, now: datetime, patience: Patience = PATIENCE) -> HubSync:
    """Ask the hub for a registration and keep the key it gives.

    Raises:
        HubRefused: already registered, or the address or runtime is none.
        HubFailed: the hub's answer cannot be used.
        StorageError: there are no events here, or something cannot be written.
    """
    require(current(place).status, {HubStatus.UNREGISTERED}, "registering")
    address, body = hub_url(url), intent_body(runtime)
    last_recorded(place)  # says what is missing before anything is asked of the hub
    place.make()
    answer = HubApi(address, patience=patience).post("/api/register-intent", body)
    if answer.status not in _MADE:
        raise _failed(answer, "the registration")
    key = _key_in(answer)
    key.keep(place.folder)
    intent_id, runtime_id = (identifier_of(answer, name) for name in ("intentId", "runtimeId"))
    if intent_id is None or any(one is not None and key.is_in(one) for one in (intent_id, runtime_id)):
        raise HubFailed("the hub's answer names no intent, so it cannot be verified; register again later")
    with place.opened(is_writing=True) as database:
        return change_sync(
            database,
            url=address,
            runtime=runtime,
            intent_id=intent_id,
            intent_expires_at=_expiry(answer, now),
            runtime_id=runtime_id,
            is_verified=0,
        )


def verify(place: HubPlace, email: str, display_name: str, now: datetime, patience: Patience = PATIENCE) -> HubSync:
    """Send the e-mail address of a person to an open registration; the hub then writes to it.

    Raises:
        HubRefused: no registration is open, it has expired, or address or name are of no form.
        HubFailed: the hub's answer cannot be used, or it says that this is verified already.
    """
    sync = current(place)
    require(sync.status, {HubStatus.UNREGISTERED}, "verifying")
    if sync.intent_id is None or sync.url is None:
        raise HubRefused("no registration is open; `govern confidence hub register` starts one")
    if sync.intent_expires_at is not None and sync.intent_expires_at <= instant_text(now):
        raise HubRefused(f"the registration expired at {sync.intent_expires_at}; register again")
    body = verify_body(sync.intent_id, email, display_name)
    answer = HubApi(sync.url, patience=patience).post("/api/verify", body)
    if answer.status == _CONFLICT:
        raise _already_verified(place)
    if answer.status not in _MADE:
        raise _failed(answer, "the e-mail address")
    with place.opened(is_writing=True) as database:
        runtime_id = identifier_of(answer, "runtimeId") or sync.runtime_id
        sync = change_sync(
            database, status=HubStatus.PENDING_EMAIL, runtime_id=runtime_id, intent_id=None, intent_expires_at=None
        )
        return activate(database, place, now) if status_of(answer) == HubStatus.ACTIVE else sync


def resend(place: HubPlace, email: str, now: datetime, patience: Patience = PATIENCE) -> HubSync:
    """Ask for the e-mail again, three times an hour at most.

    Raises:
        HubRefused: nothing waits for an e-mail, the hour's three are used, or the address is of no form.
        HubFailed: the hub's answer cannot be used, or it says that this is verified already.
    """
    sync = current(place)
    require(sync.status, {HubStatus.PENDING_EMAIL}, "sending the e-mail again")
    if sync.runtime_id is None or sync.url is None:
        raise HubRefused(
            "the hub never named this runtime here; enter its key with `govern confidence hub key --runtime-id ID`"
        )
    body = resend_body(sync.runtime_id, email)
    with place.opened(is_writing=True) as database:
        if journal.logged_since(database, HubCode.RESENT, now - timedelta(hours=1)) >= RESENDS_PER_HOUR:
            raise HubRefused(f"the e-mail was sent again {RESENDS_PER_HOUR} times within the hour; wait a while")
        journal.log(database, now, HubCode.RESENT, 0)
    answer = HubApi(sync.url, patience=patience).post("/api/resend-verification", body)
    if answer.status == _CONFLICT:
        raise _already_verified(place)
    if answer.status not in _MADE:
        raise _failed(answer, "sending the e-mail again")
    return sync


def enter_key(place: HubPlace, text: str, given: HubSync, now: datetime, patience: Patience = PATIENCE) -> HubSync:
    """Take a key a person has from the hub, and become active when the hub takes it.

    Args:
        place: where.
        text: the key.
        given: address, runtime and the hub's name of it, where they are not known here yet.
        now: the time.
        patience: of the one request.

    Raises:
        HubRefused: it is no key, or something about the runtime is not known.
        HubFailed: the hub does not take the key; the one before stays.
    """
    key, known = HubKey(text), current(place)
    url, runtime, runtime_id = (
        getattr(given, name) or getattr(known, name) for name in ("url", "runtime", "runtime_id")
    )
    if url is None or runtime is None or runtime_id is None:
        raise HubRefused("this place does not know its hub yet: name --url, --runtime and --runtime-id with the key")
    intent_body(runtime)
    last_recorded(place)
    place.make()
    api = HubApi(url, key, patience)
    answer, found = ask_state(api, runtime_id)
    if found is Outcome.UNAUTHORIZED:
        raise HubFailed("the hub does not take this key; the one before is kept. Copy it again from the hub")
    key.keep(place.folder)
    with place.opened(is_writing=True) as database:
        sync = change_sync(database, url=url, runtime=runtime, runtime_id=runtime_id)
        is_active = found is Outcome.OK or (sync.is_verified and found is Outcome.TRY_LATER)
        return activate(database, place, now, answer) if is_active else sync


def _key_in(answer: Answer) -> HubKey:
    try:
        return HubKey((answer.document or {})["apiKey"])
    except (HubRefused, KeyError):
        raise HubFailed("the hub's answer holds no API key; nothing was registered here, try again later") from None


def _expiry(answer: Answer, now: datetime) -> str | None:
    value = (answer.document or {}).get("expiresAt")
    try:
        return instant_text(now + timedelta(microseconds=instant(value) - instant(instant_text(now))))
    except (NotOfThisForm, TypeError, OverflowError):
        return None


def _already_verified(place: HubPlace) -> HubFailed:
    """Note what the hub said; where it never named a runtime, another registration may still be begun."""
    with place.opened(is_writing=True) as database:
        sync = change_sync(database, is_verified=1)
        if sync.runtime_id is not None:
            change_sync(database, status=HubStatus.PENDING_EMAIL)
    what = "the hub says this is verified already; enter the existing key with `govern confidence hub key"
    if sync.runtime_id is not None:
        return HubFailed(f"{what}`")
    return HubFailed(f"{what} --runtime-id ID` (the hub's name of the runtime, shown there), or register again")


def _failed(answer: Answer, what: str) -> HubFailed:
    if answer.status is None:
        return HubFailed(f"the hub gave no answer to {what} in time; check the address and try again")
    if answer.status == _TOO_MANY:
        return HubFailed(f"the hub takes {what} no more for now (status 429); wait an hour")
    return HubFailed(f"the hub did not take {what} (status {answer.status}); nothing changed here")
