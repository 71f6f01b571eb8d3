"""Contract of `core_steps`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    Real,
    TableModel,
    Text,
    Utc,
    count,
    flag,
    integer,
    real,
    round_id,
    sha256,
    text,
    utc,
)


class CoreSteps(TableModel):
    """One row per step of a run: one tool call or edit.

    Null = the log does not say. output_result_sha256 and output_file_sha256 are computed at ingest, everything else
    is as the log has it.
    """

    round_id: Text = round_id()
    run_id: Text = text("Run.")
    step_index: Count = count("Position in the run, from 1.", at_least=1)
    call_id: Text = text("Id of the call in the log.", null=True)
    agent_id: Text = text("Agent that made the step.", null=True)
    tool: Text = text("Tool, as the log names it.", null=True)
    command: Text = text("Exact shell command, for tools that run one.", null=True)
    exit_code: Count = integer("Exit code of the command.")
    status: Text = text("ok, error or rejected (by a human).", null=True, pattern=r"^(ok|error|rejected)$")
    at: Utc = utc("When.")
    duration_s: Real = real("How long.", low=0)
    input_hash: Text = text("Declared hash of the input.", null=True)
    output_hash: Text = text("Declared hash of the output.", null=True)
    output_path: Text = text("Declared file of the output.", null=True)
    output_result_sha256: Text = sha256("Digest of the output text in the log (UTF-8).", null=True)
    output_file_sha256: Text = sha256("Digest of the file named by output_path, when the round holds it.", null=True)
    self_reported_status: Text = text("What the agent says happened.", null=True)
    is_independently_verified: Flag = flag("What the log claims of a verification.", null=True)
    verification_method: Text = text("How it claims it was verified.", null=True)
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
