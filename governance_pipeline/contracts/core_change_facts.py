"""Contract of `core_change_facts`."""

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
from governance_pipeline.vocabulary import FactKind


class CoreChangeFacts(TableModel):
    """One row per typed fact about what a change did to a file: tests, parsing, signatures, dependencies.

    Read at ingest from the contents a log, a history or an output shows, which are not kept themselves. Kind
    `unjudged`: nobody can tell; subject is then the question, text_after the reason.
    """

    round_id: Text = round_id()
    origin: Text = text(
        "log (an edit tool or diff in a log, a history read with its contents), output (a diff a step wrote) or native "
        "(changes.jsonl, which shows no content).",
        pattern=r"^(log|output|native)$",
    )
    run_id: Text = text("Run; empty when none is named.")
    step_index: Count = count("Step of the change as in core_file_changes; null of an output.", null=True, at_least=1)
    change_index: Count = count("Position of the changed file inside the step, from 1.", at_least=1)
    fact_index: Count = count("Position of the fact inside the change, from 1.", at_least=1)
    file_path: Text = text("Path of the changed file, as in core_file_changes.")
    kind: Text = text("What the change did.", among=FactKind)
    subject: Text = text("Test, public name, ecosystem:package, file; of unjudged the question.")
    text_before: Text = text("Marker, signature, specifier or first assertion before the change.", null=True)
    text_after: Text = text("The same after it; the error of parse_failed, the reason of unjudged.", null=True)
    removed_assertions: Text = text("JSON list: first 10 hex digits of SHA-256 of each assertion gone.", null=True)
    added_assertions: Text = text("JSON list: the same of each that came.", null=True)
    changed_line: Count = count(
        "Line in the changed file, after the change (before it, of what went away); null when unknown.",
        null=True,
        at_least=1,
    )
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "origin", "run_id", "path", "step_index", "change_index", "fact_index"]
        metadata = {"version": 1}
