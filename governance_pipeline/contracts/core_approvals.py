"""Contract of `core_approvals`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    TableModel,
    Text,
    Utc,
    count,
    round_id,
    sha256,
    text,
    utc,
)


class CoreApprovals(TableModel):
    """One row per approval, rejection, review or approval mode that a log records.

    It is what the log says happened inside the round. It opens no gate and proves no independence: a decision that
    counts is signed (`gate_decisions`), a validation that counts is attested (`core_attestations`).
    """

    round_id: Text = round_id()
    run_id: Text = text("Run it is about; null = the log does not say.", null=True)
    kind: Text = text(
        "mode (what needs approval from here on), approved, rejected, or review (a verdict on the work).",
        pattern=r"^(mode|approved|rejected|review)$",
    )
    by: Text = text("human, model or rule; null = the log does not say.", null=True, pattern=r"^(human|model|rule)$")
    by_id: Text = text("Who, as the log names it.", null=True)
    call_id: Text = text("Call it is about.", null=True)
    result: Text = text("Mode, verdict or score in the log's own words.", null=True)
    reason: Text = text("Why, in the log's own words.", null=True)
    at: Utc = utc("When.")
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "path", "line", "pointer"]
        metadata = {"version": 1}
