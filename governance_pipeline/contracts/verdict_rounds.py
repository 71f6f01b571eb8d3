"""Contract of `verdict_rounds`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    TableModel,
    Text,
    count,
    flag,
    round_id,
    sha256,
    text,
)
from governance_pipeline.vocabulary import ContractState


class VerdictRounds(TableModel):
    """One row per round: its verdict, by what policy and from what inputs, and the whole document.

    A pass says what was verified (checks_run) and what was left out (checks_skipped); it never says more.
    """

    round_id: Text = round_id()
    status: Text = text(
        "block, unknown, warn or pass: the worst of its findings.", pattern=r"^(block|unknown|warn|pass)$"
    )
    requires_justification: Flag = flag("A calibrated statistic asks for a person's justification.")
    mode: Text = text("quick or final; quick without a valid contract.", pattern=r"^(quick|final)$")
    contract_state: Text = text("State of the round contract under this policy.", among=ContractState)
    unknown_reasons: Text = text("JSON list: why it is unknown, each reason once; empty unless something is.")
    findings_count: Count = count("Findings, known ones included.")
    new_findings_count: Count = count("Findings the parent's verdict does not have.")
    blocking_count: Count = count("Findings that block.")
    checks_run: Text = text("JSON list of {id, count}: required checks that came to a result.")
    checks_skipped: Text = text("JSON list of {id, required, reason}: what was left out.")
    baseline_round_id: Text = text("Parent round whose verdict findings are compared with.", null=True)
    policy_version: Text = text("Version of the policy document.")
    policy_sha256: Text = sha256("Digest of its RFC 8785 form; the document writes it with sha256: before it.")
    inputs_sha256: Text = sha256("Digest of every row the verdict was made from; likewise.")
    document: Text = text("The govern/verdict/v1 document as canonical JSON, duration_ms null.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id"]
        metadata = {"version": 1}
