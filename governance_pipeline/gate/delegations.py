"""Which delegations count, and in whose place a decision is made: asked anew each time, like everything at a gate.

What belongs here: holding a recorded delegation to its questions, and the step that holds a decision to it. What does
not: recording one (`delegating`). Both names are held to everything: the delegator must be named by the policy in their
own right, with a key that counts now, and have no part in the round; so must the delegate be an approver of the trust
root without a part in it. A delegation lends a place, it makes no approvers: only the root does that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.gate.decision import DECISION_BYTES, origin_of
from governance_pipeline.gate.delegation import Act, delegation_of
from governance_pipeline.gate.signers import approver_refusal, assurance_of, is_named, makers, not_named
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.pair import approver_conflict
from governance_pipeline.trust.principals import Kind, Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.signatures import Proof
from governance_pipeline.trust.statement import malformed, statement_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from governance_pipeline.gate.delegation import Delegated, Delegation
    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.passage import Offer, Passage, SignedWith, Verifier
    from governance_pipeline.trust.principals import Principal
    from governance_pipeline.trust.root import TrustRoot

SKEW_S: Final = 120
"""Seconds two clocks may differ, as for a decision (research/security.md b7)."""


def authority(passage: Passage) -> None:
    """UNTRUSTED_KEY and what a delegation may lack: who signs is named by the policy, or stands in for one who is."""

    def check(offer: Offer) -> None:
        refusals = {signer: _authority_refusal(passage, offer, signer) for signer in offer.signers}
        offer.signers = tuple(signer for signer, refusal in refusals.items() if refusal is None)
        if not offer.signers:
            raise next(filter(None, refusals.values()))

    passage.each(check)


def counting(
    request: Requested, verifier: Verifier, history: History, now: datetime, actors: Iterable[str]
) -> Iterator[tuple[Delegation, Delegated]]:
    """Give the delegations of a request that count now, oldest first; `actors` have a part in the round."""
    parties = tuple(actors)
    for recorded in given(request, history):
        try:
            yield counted(recorded, request, verifier, history, now, parties), recorded
        except Refusal:
            continue


def given(request: Requested, history: History) -> list[Delegated]:
    """Give the delegations recorded for a request, oldest first; none is believed yet."""
    return [d for d in history.delegations if d.is_given and d.request_id == request.request_id]


def counted(
    recorded: Delegated,
    request: Requested,
    verifier: Verifier,
    history: History,
    now: datetime,
    actors: Iterable[str],
) -> Delegation:
    """Hold a recorded delegation to every question.

    Raises:
        Refusal: the first it fails.
    """
    root, (signers, said) = verifier.root, read_delegation(recorded.envelope, verifier.root)
    _check_signer(signers, said, verifier, now)
    if said.act is not Act.DELEGATE:
        raise malformed(f"{said.act} is no delegation")
    _check_place(said, recorded, request, verifier)
    _check_time(said, verifier, now)
    for name in (said.delegator, said.delegate):
        conflict = approver_conflict(name, actors, root)
        if conflict is not None:
            what = f"{name!r} has a part in the round (rule {conflict.rule}: {conflict.shared!r})"
            raise Refusal(ReasonCode.SELF_APPROVAL, f"{what}; neither side of a delegation may")
    check_delegate(said.delegator, said.delegate, verifier, now)
    if is_withdrawn(recorded.delegation_id, said.delegator, history, root):
        # Not REVOKED, which would close the request to everybody: it waits for a decision again.
        raise Refusal(
            ReasonCode.UNTRUSTED_KEY, f"{said.delegator!r} has taken the delegation to {said.delegate!r} back"
        )
    return said


def read_delegation(envelope: bytes, root: TrustRoot) -> tuple[list[SignedWith], Delegation]:
    """Read a delegation and who signed it, keys of the root only; signatures come before any word of it.

    Raises:
        Refusal: TOO_LARGE, MALFORMED, WRONG_TYPE; BAD_SIGNATURE when no key of the root made a signature.
    """
    if len(envelope) > DECISION_BYTES:
        message = f"the delegation has {len(envelope)} bytes, at most {DECISION_BYTES} are read"
        raise Refusal(ReasonCode.TOO_LARGE, message)
    read = dsse.parse_envelope(envelope)
    signers = list(makers(read, dsse.pae(read.payload_type, read.payload), root))
    if not signers:
        raise Refusal(ReasonCode.BAD_SIGNATURE, "no key of the trust root signed the delegation")
    return signers, delegation_of(statement_of(read))


def check_delegate(delegator: str, delegate: str, verifier: Verifier, now: datetime) -> Principal:
    """Refuse a delegate who could not sign at all, or who is the delegator by another name.

    Raises:
        Refusal: UNTRUSTED_KEY, or SELF_APPROVAL when both are in one hand.
    """
    root, principal = verifier.root, verifier.root.principal(delegate)
    if principal is None or principal.kind is not Kind.HUMAN or Role.APPROVER not in principal.roles:
        message = f"{delegate!r} is no approver of the trust root; a delegation lends a place, it makes no approvers"
        raise Refusal(ReasonCode.UNTRUSTED_KEY, message)
    if root.controller(delegator) == root.controller(delegate):
        raise Refusal(ReasonCode.SELF_APPROVAL, f"{delegator!r} and {delegate!r} are in one hand; name somebody else")
    if not any(approver_refusal(principal, key, root, now) is None for key in principal.keys):
        raise Refusal(ReasonCode.UNTRUSTED_KEY, f"{delegate!r} has no key that counts now")
    return principal


def is_withdrawn(delegation_id: str, delegator: str, history: History, root: TrustRoot) -> bool:
    """Tell whether the delegator has taken a delegation back; believed by any key of theirs, for it only closes."""
    taken_back = (d for d in history.delegations if not d.is_given)
    return any(_withdraws(recorded, delegation_id, delegator, root) for recorded in taken_back)


def _withdraws(recorded: Delegated, delegation_id: str, delegator: str, root: TrustRoot) -> bool:
    try:
        signers, said = read_delegation(recorded.envelope, root)
    except Refusal:
        return False
    is_theirs = root.identity(delegator) in {root.identity(signer.principal.id) for signer in signers}
    return is_theirs and said.act is Act.WITHDRAW and said.withdraws == delegation_id


def _authority_refusal(passage: Passage, offer: Offer, signer: SignedWith) -> Refusal | None:
    verifier, name, place = passage.verifier, signer.principal.id, offer.said.on_behalf_of
    if place is None:
        return None if is_named(name, verifier.root, verifier.policy) else not_named(name)
    if place not in {principal.id for principal in verifier.root.principals}:
        return Refusal(ReasonCode.UNTRUSTED_KEY, f"{place!r}, in whose place it decides, is nobody of the trust root")
    why = Refusal(ReasonCode.UNTRUSTED_KEY, f"{place!r} has let nobody of the name {name!r} decide in their place")
    for recorded in given(passage.request, passage.history):
        try:
            if _lends(recorded, passage, offer, name):
                return None
        except Refusal as refusal:
            why = refusal
    return why


def _lends(recorded: Delegated, passage: Passage, offer: Offer, name: str) -> bool:
    """Tell whether a delegation lends the place a decision is made in.

    Raises:
        Refusal: it would, and does not count.
    """
    verifier, place = passage.verifier, offer.said.on_behalf_of
    try:
        _, said = read_delegation(recorded.envelope, verifier.root)
    except Refusal:
        return False
    if (said.delegator, said.delegate) != (place, name):
        return False
    counted(recorded, passage.request, verifier, passage.history, passage.now, _parties(passage))
    if offer.said.checkpoint.size < recorded.seq:
        raise Refusal(ReasonCode.UNTRUSTED_KEY, f"it was signed before {place!r} let {name!r} decide")
    return True


def _parties(passage: Passage) -> tuple[str, ...]:
    """Give who has a part in the round; by the request alone where no table was read, as before a gate is closed."""
    return passage.actors if passage.inputs.tables else (*passage.request.actors, passage.request.requester)


def _check_signer(signers: list[SignedWith], said: Delegation, verifier: Verifier, now: datetime) -> None:
    """Hold a delegation to the one who gives it: named in their own right, with a key that counts, signing surely."""
    own = [signer for signer in signers if signer.principal.id == said.delegator]
    if not own:
        raise Refusal(ReasonCode.UNTRUSTED_KEY, f"{said.delegator!r}, whose place it lends, did not sign it")
    if not is_named(said.delegator, verifier.root, verifier.policy):
        raise not_named(said.delegator)
    refusals = [approver_refusal(signer.principal, signer.key, verifier.root, now) for signer in own]
    if all(refusal is not None for refusal in refusals):
        raise next(filter(None, refusals))
    shown, needed = assurance_of(own), verifier.policy.minimum_assurance
    if any(signer.proof is Proof.ABSENT for signer in own) or shown.is_below(needed):
        raise Refusal(ReasonCode.NO_USER_PRESENCE, f"the delegation was signed by {shown}, asked is {needed} at least")
    if shown.is_below(said.assurance):
        raise malformed(f"it claims {said.assurance}, its signature shows {shown}")


def _check_place(said: Delegation, recorded: Delegated, request: Requested, verifier: Verifier) -> None:
    here = (request.gate, request.round_id, verifier.root.is_throwaway)
    if (said.gate, said.round_id, said.is_throwaway) != here:
        message = f"the delegation is for gate {said.gate!r}, round {said.round_id!r}; this is {here[0]!r}, {here[1]!r}"
        raise Refusal(ReasonCode.WRONG_CHECKPOINT, message)
    if (said.request_id, said.subject_sha256) != (request.request_id, request.subject_sha256):
        raise Refusal(ReasonCode.SUPERSEDED, f"the delegation is for request {said.request_id}")
    if said.checkpoint.size < request.seq:
        raise Refusal(ReasonCode.SUPERSEDED, "the delegation is of an earlier time of this request; delegate again")
    if dsse.parse_envelope(recorded.envelope).payload_sha256 != recorded.delegation_id:
        raise malformed("it was recorded under the id of another delegation")
    if said.origin != origin_of(verifier.config) or said.checkpoint.size >= recorded.seq:
        raise Refusal(ReasonCode.LOG_INCONSISTENT, f"the delegation was made before another ledger ({said.origin!r})")


def _check_time(said: Delegation, verifier: Verifier, now: datetime) -> None:
    end = min(said.expires, said.not_before + verifier.policy.ttl)
    if (said.not_before - now).total_seconds() > SKEW_S:
        raise Refusal(ReasonCode.NOT_YET_VALID, f"the delegation counts from {instant_text(said.not_before)} on")
    if now >= end:
        raise Refusal(ReasonCode.EXPIRED, f"the delegation counted until {instant_text(end)}, and so what rests on it")
