"""Who signed as one that may judge the work of others: a validator, or a person who approves.

What belongs here: the two roles as one question. What does not: what is judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.trust import dsse
from governance_pipeline.trust.pair import approver_conflict
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.trust.root import TrustRoot

ROLES: Final = (Role.VALIDATOR, Role.APPROVER)


def auditors(read: dsse.Envelope, root: TrustRoot, at: datetime, now: datetime) -> tuple[str, ...]:
    """Give the principals of these roles that signed.

    Args:
        read: what claims to be signed.
        root: who is who.
        at: when it was recorded; keys must have been valid then.
        now: a key revoked by now counts no longer.

    Raises:
        Refusal: nobody of them signed; the code says why.
    """
    refused: Refusal | None = None
    found: list[str] = []
    for role in ROLES:
        try:
            signers = dsse.verify_signatures(read, root, at, role=role)
        except Refusal as refusal:
            refused = refusal
            continue
        found += [signer.principal for signer in signers if not root.is_revoked(signer.key_fingerprint, now)]
    if found:
        return tuple(dict.fromkeys(found))
    raise refused or Refusal(ReasonCode.REVOKED_KEY, "the key that signed it is revoked by now; sign with another")


def refuse_own_work(people: tuple[str, ...], maker: str, root: TrustRoot) -> None:
    """Refuse people who made what they judge, or control who did.

    Raises:
        Refusal: SELF_APPROVAL.
    """
    for person in people:
        conflict = approver_conflict(person, [maker], root)
        if conflict is not None:
            message = f"{person!r} made this or controls who did (rule {conflict.rule}: {conflict.shared!r})"
            raise Refusal(ReasonCode.SELF_APPROVAL, f"{message}; somebody else must judge it")
