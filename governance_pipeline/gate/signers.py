"""Who signed something at a gate, and may they: asked alike of decisions and of delegations.

What belongs here: finding the principals whose keys made signatures, and why one of them does not count. What does not:
what was signed (`envelope_steps`, `delegations`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.gate.passage import SignedWith
from governance_pipeline.gate.policy import Assurance
from governance_pipeline.trust.principals import Kind, Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.signatures import Proof, proof_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from governance_pipeline.gate.policy import GatePolicy
    from governance_pipeline.trust import dsse
    from governance_pipeline.trust.principals import Key, Principal
    from governance_pipeline.trust.root import TrustRoot


ASSURANCE: Final = {
    Proof.RAW: Assurance.KEY_FILE,
    Proof.OPENSSH: Assurance.SSH_AGENT,
    Proof.PRESENT: Assurance.PRESENCE,
    Proof.ABSENT: Assurance.KEY_FILE,
}
"""What a signature shows -> how surely a person made it."""


def makers(envelope: dsse.Envelope, message: bytes, trusted: TrustRoot) -> Iterator[SignedWith]:
    """Try every key of the root on every signature; the hint of a signature decides nothing."""
    for entry in envelope.signatures:
        for principal in trusted.principals:
            for candidate in principal.keys:
                proof = proof_of(candidate, message, entry.sig)
                if proof is not None:
                    yield SignedWith(principal, candidate, proof)


def assurance_of(signers: Iterable[SignedWith]) -> Assurance:
    """Give how surely people signed, by the signatures alone; the weakest of several, and of none."""
    return min((ASSURANCE[signer.proof] for signer in signers), key=tuple(Assurance).index, default=Assurance.KEY_FILE)


def is_named(name: str, trusted: TrustRoot, policy: GatePolicy) -> bool:
    """Tell whether the gate policy lets a principal decide in their own name."""
    allowed = policy.approvers
    return allowed is None or trusted.identity(name) in {trusted.identity(other) for other in allowed}


def not_named(name: str) -> Refusal:
    """Give the refusal of one the policy does not let decide."""
    return Refusal(ReasonCode.UNTRUSTED_KEY, f"the gate policy does not name {name!r} as an approver")


def approver_refusal(principal: Principal, key: Key, trusted: TrustRoot, now: datetime) -> Refusal | None:
    """Say why a key does not count as that of an approver now; None when it does."""
    if principal.kind is not Kind.HUMAN or Role.APPROVER not in principal.roles:
        return Refusal(ReasonCode.UNTRUSTED_KEY, f"{principal.id!r} is no approver of the trust root")
    if trusted.is_revoked(key.fingerprint, now):
        return Refusal(ReasonCode.REVOKED_KEY, f"key {key.fingerprint} of {principal.id!r} is revoked")
    for validity in (principal.validity, key.validity):
        if validity.is_before(now):
            return Refusal(ReasonCode.NOT_YET_VALID, f"{principal.id!r} or the key is not valid yet")
        if validity.is_over(now):
            return Refusal(ReasonCode.EXPIRED, f"{principal.id!r} or the key is no longer valid; have it renewed")
    return None
