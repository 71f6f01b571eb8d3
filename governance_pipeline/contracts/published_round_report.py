"""Contract of `published_round_report`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    TableModel,
    Text,
    Utc,
    count,
    flag,
    round_id,
    sha256,
    text,
    utc,
)


class PublishedRoundReport(TableModel):
    """One row per released round: its report, and who approved it.

    The report is one HTML file in the lake, named by its digest; it holds every approved number and finding.
    """

    round_id: Text = round_id()
    html_sha256: Text = sha256("Digest of the report.")
    html_path: Text = text("Its path below the root of the lake, POSIX separators.")
    html_bytes: Count = count("Its size.", at_least=1)
    verdict_status: Text = text("Verdict of the round.", pattern=r"^(block|unknown|warn|pass)$")
    findings_count: Count = count("Findings of the verdict.")
    match_count: Count = count("Declared numbers that agree with their parts.")
    mismatch_count: Count = count("Declared numbers that do not; each was resolved by a person.")
    unverifiable_count: Count = count("Declared numbers nobody could verify.")
    approved_by: Text = text("JSON list of the people who approved.")
    decision_ids: Text = text("JSON list of the decisions that opened the gate.")
    subject_sha256: Text = sha256("Manifest that was approved.")
    approved_at: Utc = utc("When the last of the decisions was recorded.", null=False)
    is_throwaway: Flag = flag("Approved under a trust root made for a demo or a test.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id"]
        metadata = {"version": 1}
