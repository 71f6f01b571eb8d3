"""Contract of `core_components`."""

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
from governance_pipeline.vocabulary import ValueKind


class CoreComponents(TableModel):
    """One row per raw value a declared aggregate can be recomputed from.

    Rows with the same (source, row_index) are the columns of one component row. value_raw null = the log does not know.
    """

    round_id: Text = round_id()
    subject_id: Text = text("Subject of the declared aggregate.")
    source: Text = text("Component source of the check formula, such as api_calls.")
    row_index: Count = count("Row inside the source, from 1.", at_least=1)
    column: Text = text("Column of the source.")
    value_raw: Text = text("What the log wrote.", null=True)
    value_kind: Text = text("Kind of value written.", among=ValueKind)
    format: Text = text("Format.")
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "subject_id", "source", "row_index", "column"]
        metadata = {"version": 1}
