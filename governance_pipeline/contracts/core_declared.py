"""Contract of `core_declared`."""

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
from governance_pipeline.vocabulary import DataType, ValueKind


class CoreDeclared(TableModel):
    """One row per aggregate a source declares; the value is immutable from here to the report.

    A number that several subjects can be held against, such as one score over the files of several agents, has a row
    for each of them. value_raw is the text the source wrote; null only where value_kind is missing.
    """

    round_id: Text = round_id()
    subject_id: Text = text("What the number is about: run, round, file ….")
    field: Text = text("Name of the aggregate.")
    value_raw: Text = text("What the source wrote.", null=True)
    value_kind: Text = text("Kind of value written.", among=ValueKind)
    data_type: Text = text("How it is compared; null when the source does not say.", null=True, among=DataType)
    unit: Text = text("Unit.", null=True)
    format: Text = text("Format that declares it.")
    component_paths: Text = text(
        "JSON object: component source (* = each) to the files it is read from; a quarantined record in one of them "
        "makes the number unverifiable."
    )
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "path", "line", "pointer", "field", "subject_id"]
        metadata = {"version": 1}
