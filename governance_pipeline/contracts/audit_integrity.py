"""Contract of `audit_integrity`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    TableModel,
    Text,
    count,
    round_id,
    sha256,
    text,
)
from governance_pipeline.vocabulary import RecordStatus


class AuditIntegrity(TableModel):
    """One row per output hash a log declares, recomputed from the bytes.

    unverifiable: the bytes are not in the round, or the declared text is no SHA-256.
    """

    round_id: Text = round_id()
    run_id: Text = text("Run.")
    step_index: Count = count("Step.", at_least=1)
    hashed: Text = text(
        "What was hashed: output_path, output_result or nothing.",
        pattern=r"^(output_path|output_result|nothing)$",
    )
    declared_hash: Text = text("As the log wrote it.")
    computed_hash: Text = sha256("Of the bytes.", null=True)
    status: Text = text("match, mismatch or unverifiable.", among=RecordStatus)
    reason_code: Text = text(
        "Why unverifiable: output_not_in_round, declared_not_a_sha256.",
        null=True,
        pattern=r"^(output_not_in_round|declared_not_a_sha256)$",
    )
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "run_id", "step_index"]
        metadata = {"version": 1}
