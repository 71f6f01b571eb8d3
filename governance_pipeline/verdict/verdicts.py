"""Table `verdict_rounds`: what the findings of each round add up to.

What belongs here: the status, the counts, and the document as text. What does not: the members of the document
(`document`) and the findings (`findings`). A pure function: the same rows and policy give the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.verdict.baseline import Baseline, baselines
from governance_pipeline.verdict.decision_table import status_of
from governance_pipeline.verdict.document import verdict_document
from governance_pipeline.verdict.findings import compact_json
from governance_pipeline.verdict.inputs_digest import InputDigests
from governance_pipeline.verdict.round_view import RoundView, RowsByRound
from governance_pipeline.verdict.signals import Decision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from governance_pipeline.verdict.policy_document import Policy

TABLE: Final = "verdict_rounds"
DIGEST_PREFIX: Final = "sha256:"
"""How documents write a digest; columns hold the bare hex digits."""


def verdicts(tables: Mapping[str, pd.DataFrame], findings: pd.DataFrame, policy: Policy) -> pd.DataFrame:
    """Return one row per round of `core_rounds`; columns as contract `verdict_rounds`.

    Args:
        tables: as for `findings.findings`.
        findings: what `findings.findings` made of the same tables and policy.
        policy: the policy document in force.

    Raises:
        UsageError: a table is missing.
    """
    source = RowsByRound({**tables, "verdict_findings": findings})
    views = {round_id: RoundView(source, round_id, policy) for round_id in source.round_ids}
    rows = {round_id: view.rows("verdict_findings") for round_id, view in views.items()}
    parents = {round_id: view.parent_round_id for round_id, view in views.items()}
    known = baselines(parents, {round_id: [row["fingerprint"] for row in some] for round_id, some in rows.items()})
    inputs = InputDigests(source)
    return frame_of(
        TABLE,
        (
            _row(view, rows[round_id], known[round_id], inputs.digest(round_id, known[round_id]))
            for round_id, view in views.items()
        ),
    )


def _row(view: RoundView, rows: Sequence[Mapping[str, Any]], baseline: Baseline, inputs: str) -> dict[str, Any]:
    decisions = [Decision(row["decision"]) for row in rows]
    status = status_of(decisions)
    document = verdict_document(view, rows, baseline, str(status), inputs)
    return {
        "round_id": view.round_id,
        "status": str(status),
        "requires_justification": document["requires_justification"],
        "mode": document["mode"],
        "contract_state": document["contract"]["state"],
        "unknown_reasons": compact_json(sorted({row["reason"] for row in rows if row["decision"] == Decision.UNKNOWN})),
        "findings_count": len(rows),
        "new_findings_count": len(document["new_findings"]),
        "blocking_count": decisions.count(Decision.BLOCK),
        "checks_run": compact_json(document["checks_run"]),
        "checks_skipped": compact_json(document["checks_skipped"]),
        "baseline_round_id": baseline.round_id,
        "policy_version": view.policy.version,
        "policy_sha256": view.policy.digest.removeprefix(DIGEST_PREFIX),
        "inputs_sha256": document["inputs_digest"].removeprefix(DIGEST_PREFIX),
        "document": compact_json(document),
    }
