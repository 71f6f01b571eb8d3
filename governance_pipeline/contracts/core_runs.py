"""Contract of `core_runs`."""

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


class CoreRuns(TableModel):
    """One row per run: one agent session inside a round.

    Null = the log does not say; a run without a parent is a root run.
    """

    round_id: Text = round_id()
    run_id: Text = text("Run, unique in the round.")
    parent_run_id: Text = text("Run that started this one.", null=True)
    session_id: Text = text("Session the log names.", null=True)
    agent_id: Text = text("Agent the log names.", null=True)
    format: Text = text("Format of the log.")
    platform: Text = text("Runtime platform and version.", null=True)
    model_id: Text = text("Model, as the log names it.", null=True)
    thinking: Text = text("Reasoning setting.", null=True)
    started_at: Utc = utc("First event.")
    ended_at: Utc = utc("Last event.")
    exit_status: Text = text("How the runtime says it ended.", null=True)
    self_reported_status: Text = text("What the agent says of its own result.", null=True)
    is_replay: Flag = flag("The log replays another run.", null=True)
    opaque_step_count: Count = count("Steps whose file changes cannot be known (shell commands).")
    path: Text = text("File of the run; the first, when there are several.")
    file_sha256: Text = sha256("Digest of that file.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "run_id"]
        metadata = {"version": 1}
