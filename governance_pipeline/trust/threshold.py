"""How many signed, counted as people would: by key and by who controls them.

What belongs here: the count. What does not: what was signed (`dsse`) and how many a gate wants beyond the root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.trust.dsse import SignedBy
    from governance_pipeline.trust.principals import Role
    from governance_pipeline.trust.root import TrustRoot


def distinct_signers(signed: Iterable[SignedBy], root: TrustRoot) -> int:
    """Count signers that neither share a key nor a controller: two keys of one hand are one."""
    by_key = {signer.key_fingerprint: signer.principal for signer in signed}
    return len({root.controller(principal) for principal in by_key.values()})


def require_threshold(signed: Iterable[SignedBy], root: TrustRoot, role: Role, *, quorum: int = 1) -> int:
    """Give the number of distinct signers when it is enough for a role.

    Args:
        signed: what `dsse.verify_signatures` found for that role.
        root: says how many the role needs, and who controls whom.
        role: the role.
        quorum: what a gate wants beside the root; the larger number counts, and never less than one.

    Raises:
        Refusal: THRESHOLD, naming both numbers.
    """
    count = distinct_signers(signed, root)
    needed = max(root.threshold(role), quorum, 1)
    if count < needed:
        message = f"{count} of {needed} needed {role}s signed, counting keys of one controller once; have more sign"
        raise Refusal(ReasonCode.THRESHOLD, message)
    return count
