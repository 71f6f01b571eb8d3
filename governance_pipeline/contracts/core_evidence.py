"""Contract of `core_evidence`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Real,
    TableModel,
    Text,
    Utc,
    count,
    integer,
    real,
    round_id,
    sha256,
    text,
    utc,
)


class CoreEvidence(TableModel):
    """One row per record of evidence.jsonl.

    The last state up to a step counts (by step, then line).
    """

    round_id: Text = round_id()
    step_index: Count = count("Step.", at_least=1)
    at: Utc = utc("When.")
    criterion_id: Text = text("Criterion.")
    state: Text = text("proven, unproven or refuted.", pattern=r"^(proven|unproven|refuted)$")
    strength: Real = real("0, 0.25, 0.5, 0.75 or 1.", low=0, high=1)
    command: Text = text("Command that gave it.", null=True)
    exit_code: Count = integer("Its exit code.")
    output_sha256: Text = text("Declared digest of its output.", null=True)
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "path", "line"]
        metadata = {"version": 1}
