"""Contract of `core_file_changes`."""

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


class CoreFileChanges(TableModel):
    """One row per file touched in a change event or edit step.

    added or deleted null = unknown (binary, or the tool does not say), never 0.
    """

    round_id: Text = round_id()
    origin: Text = text("native (changes.jsonl) or log (an edit tool or diff in a log).", pattern=r"^(native|log)$")
    run_id: Text = text("Run; empty when a native event names none.")
    step_index: Count = count("Native: step of the event. Log: step_index of core_steps.", at_least=1)
    change_index: Count = count("Position inside the step, from 1.", at_least=1)
    file_path: Text = text("Path as the source wrote it; below the folder the log says the run works in, from there.")
    added_count: Count = count("Lines added.", null=True)
    deleted_count: Count = count("Lines deleted.", null=True)
    module: Text = text("Module the event names.", null=True)
    symbols: Text = text("JSON list of symbols the event names.", null=True)
    tool: Text = text("Edit tool or kind of diff.", null=True)
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "origin", "run_id", "step_index", "change_index"]
        metadata = {"version": 1}
