"""What makes a round undecidable, whoever signs: a failed independence fact, a verdict block, an open mismatch case.

What belongs here: finding these in the round's tables and the ledger. What does not: the order in which they are asked
(`verify`). Each has its own way out, and none of them is a signature at this gate (spec/gate.md §4): new work, a
dismissal, a resolution. Unknown and warn are shown and may be signed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.crosscheck.policies import EscalationPolicy, escalation_policy
from governance_pipeline.errors import UsageError
from governance_pipeline.gate.resolutions import is_resolved
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.trust.independence import independence
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.stored_envelopes import envelopes_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from pathlib import Path
    from typing import Any

    from governance_pipeline.gate.events import History
    from governance_pipeline.gate.inputs import RoundInputs
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.policy import GatePolicy
    from governance_pipeline.trust.root import TrustRoot

BLOCK: Final = "block"
MISMATCH: Final = "mismatch"
PASSED: Final = "PASSED"


def failed_facts(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Give the rows of `audit_independence` that do not say yes; null is no yes."""
    return [row for row in rows if row["is_independent"] is not True]


def mismatch_cases(inputs: RoundInputs) -> list[Mapping[str, Any]]:
    """Give the rows of `audit_escalations` whose case is a mismatch."""
    return [row for row in inputs.rows("audit_escalations") if row["reason"] == MISMATCH]


def open_cases(
    inputs: RoundInputs, history: History, verifier: Verifier, actors: Iterable[str], now: datetime
) -> list[Mapping[str, Any]]:
    """Give the mismatch cases of a round nobody has resolved in a way that counts, by the escalation policy in force.

    Raises:
        Refusal: BLOCKED_POLICY: a case was resolved, and nobody can say how it may be: the copy of the policy beside
            the configuration is looser than the shipped one, or others may write it.
    """
    cases, parties = mismatch_cases(inputs), tuple(actors)
    said = [history.resolutions.get(case["case_id"], ()) for case in cases]
    if not any(said):
        return cases
    policy = _escalation_policy(verifier)
    return [
        case
        for case, resolutions in zip(cases, said, strict=True)
        if not is_resolved(case, resolutions, verifier.root, policy, parties, now)
    ]


def _escalation_policy(verifier: Verifier) -> EscalationPolicy:
    try:
        return escalation_policy(verifier.config.source.parent)
    except UsageError as error:
        raise Refusal(ReasonCode.BLOCKED_POLICY, str(error)) from error


def judged_again(
    inputs: RoundInputs, root: TrustRoot, policy: GatePolicy, now: datetime, files: Path
) -> list[Mapping[str, Any]]:
    """Judge the independence of every validator of a round anew, from its core tables and the root as it is now.

    A key revoked after `audit_independence` was made, or a table somebody wrote by hand, is found here.

    Args:
        inputs: the round.
        root: the trust root in force.
        policy: may refuse validators of the producers' family of models.
        now: instant at which keys are judged.
        files: root of the lake that keeps the source files, in whose exact bytes signatures are checked.

    Returns:
        Rows as in `audit_independence`.
    """
    if not inputs.rows("core_attestations"):
        return []
    frame = independence(
        inputs.frame("core_attestations"),
        inputs.frame("core_runs"),
        inputs.frame("core_steps"),
        root,
        now,
        core_changes=inputs.frame("core_changes"),
        core_file_changes=inputs.frame("core_file_changes"),
        core_declared=inputs.frame("core_declared"),
        core_evidence=inputs.frame("core_evidence"),
        envelope_of=envelopes_in(ContentStore(files)),
        refuse_same_runtime=policy.refuse_same_runtime,
    )
    return list(plain_rows(frame))


def passed_validators(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    """Give the principals whose independent verdict is PASSED in every row about it."""
    by_principal: dict[str, list[bool]] = {}
    for row in rows:
        if row["principal_id"] is not None and row["result"] == PASSED:
            by_principal.setdefault(row["principal_id"], []).append(row["is_independent"] is True)
    return {principal for principal, values in by_principal.items() if all(values)}


def said_of(row: Mapping[str, Any]) -> str:
    """Say in words why a fact of independence is none."""
    answer = "is not independent" if row["is_independent"] is False else "cannot be shown to be independent"
    of = row["producer_run_id"] or "its producers"
    path = f", {row['lineage_path']}" if row["lineage_path"] else ""
    return f"validator {row['validator_id']!r} {answer} of {of} (rule {row['rule']}: {row['shared_value']}{path})"
