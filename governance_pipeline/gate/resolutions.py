"""Whether a mismatch case of a round is resolved: by a signed statement that counts, about the values as they are.

What belongs here: holding what was recorded to the row the gate is asked about, and to the escalation policy in force.
What does not: the statement (`trust.case_statement`), opening cases (ledger, crosscheck) and the commands
(`case_deciding`). An event without a signature that counts resolves nothing, and neither does one about other values,
or one that says what the policy does not allow, or does not allow any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.trust.case_statement import CaseRecord, CaseRef, case_sha256, stated
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from governance_pipeline.crosscheck.policies import EscalationPolicy
    from governance_pipeline.gate.events import Resolution
    from governance_pipeline.trust.case_statement import Stated
    from governance_pipeline.trust.root import TrustRoot


def record_of_row(row: Mapping[str, Any]) -> CaseRecord:
    """Give the record of a row of `audit_escalations`."""
    return CaseRecord(row["record_id"], row["declared"], row["computed"])


def ref_of_row(case: Mapping[str, Any]) -> CaseRef:
    """Give what a statement about a mismatch of `audit_escalations` is bound to."""
    asked = case_sha256(case["round_id"], case["reason"], [record_of_row(case)])
    return CaseRef(case["round_id"], case["case_id"], asked)


def require_allowed(said: Stated, policy: EscalationPolicy) -> None:
    """Hold a resolution to the escalation policy in force.

    Raises:
        Refusal: POLICY_MISMATCH: it says what the policy does not know, or its reason is too short.
    """
    least = policy.minimum_reason_characters
    if said.outcome not in policy.outcomes:
        known = ", ".join(policy.outcomes)
        raise Refusal(
            ReasonCode.POLICY_MISMATCH,
            f"the escalation policy in force knows {known}, not {said.outcome}; resolve anew",
        )
    if len(said.reason.strip()) < least:
        message = f"the escalation policy in force asks a reason of {least} characters; resolve anew"
        raise Refusal(ReasonCode.POLICY_MISMATCH, message)


def is_resolved(
    case: Mapping[str, Any],
    resolutions: Iterable[Resolution],
    root: TrustRoot,
    policy: EscalationPolicy,
    actors: Iterable[str],
    now: datetime,
) -> bool:
    """Tell whether one of the recorded resolutions counts: about this record, by a person who did not make it.

    Args:
        case: row of `audit_escalations`.
        resolutions: what the ledger has on it.
        root: who is who.
        policy: what a resolution may say.
        actors: who has a part in the round; none of them resolves its cases (maker is not checker).
        now: instant at which keys are judged.
    """
    ref, parties = ref_of_row(case), tuple(actors)
    return any(_counts(resolution, ref, root, policy, parties, now) for resolution in resolutions)


def _counts(
    resolution: Resolution,
    ref: CaseRef,
    root: TrustRoot,
    policy: EscalationPolicy,
    actors: tuple[str, ...],
    now: datetime,
) -> bool:
    try:
        require_allowed(stated(resolution.envelope, ref, root, actors, now, resolves=True), policy)
    except Refusal:
        return False
    return True
