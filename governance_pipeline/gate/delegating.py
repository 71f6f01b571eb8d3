"""An approver lets another person decide one request in their place, or takes that back: sign and record.

What belongs here: recording both. What does not: whether a delegation counts (`delegations`); it is held to that before
it is recorded, so that nobody believes to have lent a place that no decision can take.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.decision import TRUST_TIER, origin_of
from governance_pipeline.gate.delegation import Act, Delegated, Delegation, sign_delegation
from governance_pipeline.gate.delegations import check_delegate, counted, counting, given, is_withdrawn, read_delegation
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.policy import Assurance
from governance_pipeline.gate.sealing import seal_of
from governance_pipeline.gate.shown import request_of
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.ledger.event import AlreadyRecorded, NewEvent
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.ledger.event import Event
    from governance_pipeline.trust.keys import Signer

TRIES: Final = 100
"""How often a delegation is made anew because something else was appended meanwhile; each try takes milliseconds."""

_DELEGABLE: Final = frozenset({State.PENDING, State.BLOCKED_POLICY})
"""States in which a decision is still to be made."""


class Wish(NamedTuple):
    """What somebody wants signed: for which request, who may decide, why, by when (None: with the request)."""

    request_id: str
    delegate: str
    reason: str
    hours: int | None = None


def delegate(verifier: Verifier, wish: Wish, signer: Signer, *, now: datetime, nonce: str) -> Event:
    """Sign a delegation and record it.

    Args:
        verifier: what is trusted.
        wish: what is lent to whom.
        signer: key of the one who lends their place.
        now: the time.
        nonce: 32 hex digits nobody has used before.

    Returns:
        The event that holds it.

    Raises:
        UsageError: no such request, or the reason is empty or too long.
        Refusal: it would not count, the request is not open to it, or REPLAYED: it was given already.
        StorageError: the ledger could not be written.
    """
    own = _own_name(verifier, signer)

    def made(history: History, request: Requested) -> Delegation:
        standing = standing_of(request, verifier, history, now)
        if standing.state not in _DELEGABLE:
            said = standing.message or "there is nothing left to decide"
            code = standing.code or ReasonCode.REPLAYED
            raise Refusal(code, f"request {request.request_id} is {standing.state}: {said}")
        to = check_delegate(own, wish.delegate, verifier, now).id
        actors = {*request.actors, request.requester}
        for other, _ in counting(request, verifier, history, now, actors):
            if (other.delegator, other.delegate) == (own, to):
                until = instant_text(other.expires)
                raise Refusal(ReasonCode.REPLAYED, f"{to!r} may decide in the place of {own!r} already, until {until}")
        return _draft(Act.DELEGATE, request, own, to, wish, verifier, history, now=now, nonce=nonce)

    return _recorded(verifier, wish.request_id, made, signer, now)


def withdraw(verifier: Verifier, wish: Wish, signer: Signer, *, now: datetime, nonce: str) -> Event:
    """Sign that a delegation is taken back, and record it; what was decided by it does not count any more.

    Raises:
        As `delegate`; MISSING when there is none to take back.
    """
    own = _own_name(verifier, signer)

    def made(history: History, request: Requested) -> Delegation:
        identity = verifier.root.identity
        for recorded in reversed(given(request, history)):
            try:
                _, said = read_delegation(recorded.envelope, verifier.root)
            except Refusal:
                continue
            is_it = said.delegator == own and identity(said.delegate) == identity(wish.delegate)
            if is_it and not is_withdrawn(recorded.delegation_id, own, history, verifier.root):
                back = _draft(Act.WITHDRAW, request, own, said.delegate, wish, verifier, history, now=now, nonce=nonce)
                return Delegation(**{**vars(back), "withdraws": recorded.delegation_id})
        message = f"{own!r} has let nobody of the name {wish.delegate!r} decide request {request.request_id}"
        raise Refusal(ReasonCode.MISSING, message)

    return _recorded(verifier, wish.request_id, made, signer, now)


def _own_name(verifier: Verifier, signer: Signer) -> str:
    """Give the principal whose key this is."""
    owners = [p.id for p in verifier.root.principals if any(k.public_key == signer.public_key for k in p.keys)]
    if not owners:
        raise Refusal(ReasonCode.UNTRUSTED_KEY, "no principal of the trust root has this key; `govern trust show`")
    return owners[0]


def _draft(
    act: Act,
    request: Requested,
    own: str,
    to: str,
    wish: Wish,
    verifier: Verifier,
    history: History,
    *,
    now: datetime,
    nonce: str,
) -> Delegation:
    ends = [request.expires, now + verifier.policy.ttl]
    ends += [] if wish.hours is None else [now + timedelta(hours=wish.hours)]
    return Delegation(
        act=act,
        gate=request.gate,
        round_id=request.round_id,
        request_id=request.request_id,
        subject_sha256=request.subject_sha256,
        delegator=own,
        delegate=to,
        nonce=nonce,
        not_before=now,
        expires=min(ends),
        origin=origin_of(verifier.config),
        checkpoint=history.head(verifier.ledger, history.size),
        reason=wish.reason,
        trust_tier=TRUST_TIER,
        is_throwaway=verifier.root.is_throwaway,
    )


def _recorded(
    verifier: Verifier,
    request_id: str,
    made: Callable[[History, Requested], Delegation],
    signer: Signer,
    now: datetime,
) -> Event:
    for _ in range(TRIES):
        history = read_history(verifier.ledger, is_strict=False)
        request = request_of(history, request_id)
        said = made(history, request)
        said = Delegation(**{**vars(said), "assurance": Assurance(signer.assurance)})
        data = sign_delegation(said, signer)
        name = dsse.parse_envelope(data).payload_sha256
        if said.act is Act.DELEGATE:
            where = (request.gate, request.round_id, request.request_id, name, said.delegator)
            as_it_will_be = Delegated(history.size + 1, now, True, *where, envelope=data)
            counted(as_it_will_be, request, verifier, history, now, {*request.actors, request.requester})
        try:
            return _append(verifier, said, name, data, now, history.size)
        except LedgerMoved:
            continue
        except AlreadyRecorded as recorded:
            raise Refusal(ReasonCode.REPLAYED, f"it was recorded before, as event {recorded.event.seq}") from None
    raise StorageError(f"ledger {verifier.ledger.path} is too busy: {TRIES} tries found it changed; try again")


def _append(verifier: Verifier, said: Delegation, name: str, data: bytes, now: datetime, size: int) -> Event:
    kind = EventType.DELEGATED if said.act is Act.DELEGATE else EventType.UNDELEGATED
    body = {
        "gate": said.gate,
        "round_id": said.round_id,
        "request_id": said.request_id,
        "delegation_id": name,
        "delegator": said.delegator,
        "delegate": said.delegate,
        "expires": instant_text(said.expires),
        "withdraws": said.withdraws,
        "assurance": str(said.assurance),
        "trust_tier": said.trust_tier,
        "envelope": data.decode(),
    }
    entry = NewEvent(kind, said.delegator, body, now, f"delegation:{name}")
    seal = seal_of(verifier, now, is_opening=False)
    return verifier.ledger.append_all([entry], after=size, seal=seal)[0]
