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
    """Count signers that neither share a key nor a controller: two keys of one hand are one.

    Who signs in the place of another stands for both: neither of the two counts beside them.
    """
    groups: list[set[str]] = []
    for signer in signed:
        names = (signer.principal, *filter(None, (signer.on_behalf_of,)))
        mine = {f"key {signer.key_fingerprint}", *(f"hand {root.controller(name)}" for name in names)}
        mine = mine.union(*(group for group in groups if group & mine))
        groups = [*(group for group in groups if not group & mine), mine]
    return len(groups)


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
