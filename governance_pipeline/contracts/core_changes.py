"""Contract of `core_changes`."""

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


class CoreChanges(TableModel):
    """One row per native change event (changes.jsonl).

    Numbers are as the event declares them; null = absent. has_files tells an absent list from an empty one.
    """

    round_id: Text = round_id()
    step_index: Count = count("Step of the event, from 1.", at_least=1)
    at: Utc = utc("When.")
    run_id: Text = text("Run.", null=True)
    agent_id: Text = text("Agent.", null=True)
    files_count: Count = count("F as declared.", null=True)
    churn_count: Count = count("L as declared.", null=True)
    modules_count: Count = count("M as declared.", null=True)
    public_count: Count = count("P as declared.", null=True)
    entropy_lexeme: Text = text("H as written, nats.", null=True)
    has_files: Flag = flag("The event lists files, even none.")
    line_sha256: Text = sha256("Digest of the line: byte-identical repetitions count once.")
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
