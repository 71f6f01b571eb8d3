"""A decision before it is signed: what it says, and whether the request is open to it.

What belongs here: making the statement a person signs, here or elsewhere. What does not: signing and recording it
(`deciding`), and what is shown (`shown`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.gate.closings import signed_decision, unlifted_closings
from governance_pipeline.gate.decision import Decision, Verb, origin_of
from governance_pipeline.gate.display import closing_text
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.manifest import PolicyRef
from governance_pipeline.gate.passage import policy_ref
from governance_pipeline.gate.shown import request_of, shown
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.states import Standing

_REJECTABLE: Final = frozenset(
    {State.PENDING, State.APPROVED, State.APPROVED_FAILED, State.BLOCKED_POLICY, State.STALE}
)
"""Whatever may pass now or once the tables are as they were; what is stale may be made as it was at any time."""
_CODE_OF_STATE: Final = {
    State.APPROVED: ReasonCode.REPLAYED,
    State.APPROVED_FAILED: ReasonCode.REPLAYED,
    State.CONSUMED: ReasonCode.REPLAYED,
    State.REJECTED: ReasonCode.REVOKED,
    State.REVOKED: ReasonCode.REVOKED,
}
"""Code of a refusal to decide, where the state itself has none."""


class Draft(NamedTuple):
    """A decision nobody has signed yet, and the exact text its person is shown before."""

    decision: Decision
    text: str


class _Told(NamedTuple):
    """What a decision says its person was told: the text, the producers it names, and the policy."""

    text: str
    producers: tuple[str, ...]
    policy: PolicyRef


def draft_decision(
    verifier: Verifier,
    request_id: str,
    verb: Verb,
    reason: str,
    people: Collection[str],
    *,
    now: datetime,
    nonce: str,
    history: History | None = None,
    on_behalf_of: str | None = None,
) -> Draft:
    """Give the decision somebody would sign now, with the weakest claim of how.

    Args:
        verifier: what is trusted.
        request_id: the request, or the beginning of its id.
        verb: what is decided.
        reason: why, in words.
        people: the principals who are going to sign; who takes an own rejection or revocation back is among them.
        now: the time; the window of the decision begins here.
        nonce: 32 hex digits nobody has used before.
        history: the ledger as it was read already.
        on_behalf_of: principal in whose place they decide, who let them.

    Raises:
        UsageError: no such request.
        Refusal: the request is not open to it, or the ledger cannot be used.
        StorageError: the manifest is not in the lake any more, or damaged.
    """
    history = read_history(verifier.ledger, is_strict=verb is Verb.APPROVE) if history is None else history
    request = request_of(history, request_id)
    told = _told(verifier, request, verb, history, now)
    supersedes = check_open(standing_of(request, verifier, history, now), verb, verifier, history, people)
    made = _decision(request, told, verb, reason, verifier, history, now=now, nonce=nonce)
    return Draft(replace(made, supersedes=supersedes, on_behalf_of=on_behalf_of), told.text)


def _decision(
    request: Requested,
    told: _Told,
    verb: Verb,
    reason: str,
    verifier: Verifier,
    history: History,
    *,
    now: datetime,
    nonce: str,
) -> Decision:
    return Decision(
        verb=verb,
        gate=request.gate,
        round_id=request.round_id,
        request_id=request.request_id,
        subject_sha256=request.subject_sha256,
        display_sha256=sha256_hex(told.text.encode()),
        producers=told.producers,
        nonce=nonce,
        not_before=now,
        expires=now + verifier.policy.ttl,
        policy=told.policy,
        origin=origin_of(verifier.config),
        checkpoint=history.head(verifier.ledger, history.size),
        reason=reason,
        is_throwaway=verifier.root.is_throwaway,
    )


def check_open(
    standing: Standing, verb: Verb, verifier: Verifier, history: History, people: Collection[str]
) -> str | None:
    """Refuse a decision the request is not open to; give the decision it takes the place of.

    Raises:
        Refusal: with the code of where the request stands.
    """
    request, state = standing.request, standing.state
    approvals = [
        signed
        for recorded in history.approvals(request)
        if (signed := signed_decision(recorded, verifier.root)) is not None
    ]
    own = set(people)
    if verb is Verb.APPROVE:
        if state in (State.REJECTED, State.REVOKED):
            closings = unlifted_closings(history, request, verifier.root)
            if len(closings) == 1 and own & set(closings[0].who):
                return closings[0].decision_id
        is_second = standing.code is ReasonCode.THRESHOLD and any(own & set(signed.who) for signed in approvals)
        if state is State.PENDING and not is_second:
            return None
        raise (
            _not_open(standing, ReasonCode.REPLAYED, "you have approved it already")
            if is_second
            else _not_open(standing)
        )
    if verb is Verb.REJECT:
        if state in _REJECTABLE:
            return None
        raise _not_open(standing)
    if approvals and state not in (State.SUPERSEDED, State.REVOKED, State.REJECTED):
        return approvals[-1].decision_id
    if not approvals:
        raise _not_open(standing, ReasonCode.MISSING, "nobody has approved it, so there is nothing to revoke")
    raise _not_open(standing)


def _not_open(standing: Standing, code: ReasonCode | None = None, why: str | None = None) -> Refusal:
    code = code or _CODE_OF_STATE.get(standing.state) or standing.code or ReasonCode.INTERNAL
    said = why or standing.message or "it was decided already; `govern gate log` says by whom"
    return Refusal(code, f"request {standing.request.request_id} is {standing.state}: {said}")


def _told(verifier: Verifier, request: Requested, verb: Verb, history: History, now: datetime) -> _Told:
    """Give what the person is told: everything before an approval, of the ledger alone before a gate is closed."""
    if verb is not Verb.APPROVE:
        policy = PolicyRef(request.policy_version, request.policy_sha256)
        return _Told(closing_text(request), (), policy)
    view = shown(verifier, request.request_id, now, history)
    return _Told(view.text, tuple(view.manifest.document["producers"]), policy_ref(verifier.policy))
