"""Steps of verification that look at one decision alone: is it one, who signed it, and may they.

What belongs here: from size to predicate, one function and one question each. What does not: the round it is for
(`passage_steps`) and the order (`verify`). Nothing of a payload is read before its signature was verified, and what is
read then are the verified bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.gate.decision import DECISION_BYTES, Verb, decision_of
from governance_pipeline.gate.passkey_counters import check_counters
from governance_pipeline.gate.signers import approver_refusal, assurance_of, makers
from governance_pipeline.strict.excerpt import is_said
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root_document import root_sha256
from governance_pipeline.trust.signatures import Proof
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE, malformed, parse_statement

if TYPE_CHECKING:
    from governance_pipeline.gate.passage import Offer, Passage
    from governance_pipeline.gate.policy import Assurance
    from governance_pipeline.trust.root import TrustRoot


def size(passage: Passage) -> None:
    """TOO_LARGE: a decision is small; nothing larger is even parsed."""

    def check(offer: Offer) -> None:
        if len(offer.data) > DECISION_BYTES:
            raise Refusal(
                ReasonCode.TOO_LARGE, f"the decision has {len(offer.data)} bytes, at most {DECISION_BYTES} are read"
            )

    passage.each(check)


def parse(passage: Passage) -> None:
    """MALFORMED: strict JSON of one envelope that carries at least one signature."""

    def check(offer: Offer) -> None:
        offer.envelope = dsse.parse_envelope(offer.data)
        if not offer.envelope.signatures:
            raise Refusal(ReasonCode.MALFORMED, "the envelope carries no signature; a decision is signed by its person")

    passage.each(check)


def payload_type(passage: Passage) -> None:
    """WRONG_TYPE: the payload is an in-toto statement."""

    def check(offer: Offer) -> None:
        if offer.read.payload_type != STATEMENT_PAYLOAD_TYPE:
            raise Refusal(ReasonCode.WRONG_TYPE, f"the payload is no in-toto statement ({STATEMENT_PAYLOAD_TYPE})")

    passage.each(check)


def signature(passage: Passage) -> None:
    """BAD_SIGNATURE: every key of the root is tried over type and payload; the hint of a signature decides nothing.

    A signature no key of the root made, and that names a key the root does not know, is left to the next step: it may
    be sound, but nobody here is bound by it. A passkey that counts must have counted on when its signature is recorded.
    """
    root = passage.verifier.root

    def check(offer: Offer) -> None:
        message = dsse.pae(offer.read.payload_type, offer.read.payload)
        offer.signers = tuple(dict.fromkeys(makers(offer.read, message, root)))
        hints = {signature.keyid for signature in offer.read.signatures}
        if not offer.signers and any(not hint or root.key(hint) is not None for hint in hints):
            raise Refusal(ReasonCode.BAD_SIGNATURE, "no signature fits type and payload; they were changed, or cut")
        if offer.event is None:
            check_counters(offer, passage.history)

    passage.each(check)


def root(passage: Passage) -> None:
    """ROOT_ROLLBACK: the trust root in hand is the latest one the ledger has seen, and has not expired since."""
    trusted, verifier = passage.verifier.root, passage.verifier
    seen = passage.history.seen_root(verifier.ledger, verifier.config.root_fingerprint)
    if seen is not None and (trusted.version < seen.version or _is_other(trusted, seen.version, seen.sha256)):
        message = f"version {trusted.version} of the trust root, but version {seen.version} was used; restore that"
        raise Refusal(ReasonCode.ROOT_ROLLBACK, message)
    if passage.now >= trusted.expires:
        message = f"the trust root expired at {instant_text(trusted.expires)}; its owner must sign a new version"
        raise Refusal(ReasonCode.EXPIRED, message)


def key(passage: Passage) -> None:
    """UNTRUSTED_KEY, REVOKED_KEY: a person with the role and a key that counts now.

    A key revoked after it signed does not count either: a window is three days at most, so signing again costs little,
    and nobody can tell from a signature when it was made.
    """

    def check(offer: Offer) -> None:
        refusals = {s: approver_refusal(s.principal, s.key, passage.verifier.root, passage.now) for s in offer.signers}
        offer.signers = tuple(signer for signer, refusal in refusals.items() if refusal is None)
        if not offer.signers:
            raise next(filter(None, refusals.values()), _unknown_key())

    passage.each(check)


def presence(passage: Passage) -> None:
    """NO_USER_PRESENCE: the way it was signed is sure enough for the policy.

    A raw Ed25519 signature shows that a key was at hand, not that a person was: it is a key file whatever it says. One
    of an authenticator nobody touched, or that did not verify who did, counts for nothing under any policy.
    """
    needed = passage.verifier.policy.minimum_assurance

    def check(offer: Offer) -> None:
        if any(signer.proof is Proof.ABSENT for signer in offer.signers):
            raise Refusal(
                ReasonCode.NO_USER_PRESENCE,
                "the authenticator signed without a touch of a verified person; make its key with verify-required",
            )
        if proven_assurance(offer).is_below(needed):
            raise Refusal(
                ReasonCode.NO_USER_PRESENCE,
                f"it was signed by {proven_assurance(offer)}, the policy asks for {needed} at least; sign that way",
            )

    passage.each(check)


def predicate(passage: Passage) -> None:
    """WRONG_TYPE, MALFORMED: the verified bytes are an approval of a person, whole and with nothing unknown in it."""

    def check(offer: Offer) -> None:
        offer.decision = decision_of(parse_statement(offer.read.payload))
        if offer.decision.verb is not Verb.APPROVE:
            raise malformed(f"{offer.decision.verb} is no approval")
        if not is_said(offer.decision.reason):
            raise malformed("its reason holds nothing a screen shows")
        if proven_assurance(offer).is_below(offer.decision.assurance):
            raise malformed(f"it claims {offer.decision.assurance}, its signature shows {proven_assurance(offer)}")
        if offer.event is not None and offer.event.decision_id != offer.read.payload_sha256:
            raise malformed("it was recorded under the id of another decision")

    passage.each(check)


def proven_assurance(offer: Offer) -> Assurance:
    """Give how surely a person signed, by the signatures alone; the weakest of several, and of none."""
    return assurance_of(offer.signers)


def _unknown_key() -> Refusal:
    return Refusal(ReasonCode.UNTRUSTED_KEY, "no key of the trust root signed it; `govern trust show` lists them")


def _is_other(trusted: TrustRoot, version: int, sha256: str) -> bool:
    return trusted.version == version and root_sha256(trusted) != sha256
