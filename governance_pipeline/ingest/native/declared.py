"""Native declared aggregates: `declared.jsonl`, one claim per line.

Read before every other native file, because components are kept for the subjects named here only. A claim whose
value is missing or no number is kept: that it cannot be compared is the finding.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import value_kind, value_raw
from governance_pipeline.ingest.native import audit_log, changes
from governance_pipeline.ingest.native.components import FORMAT
from governance_pipeline.ingest.native.members import (
    UnusableRecord,
    is_text,
    members_of,
    optional_text,
    required_text,
)
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

NAME: Final = "native_declared"
DECLARES: Final[tuple[str, ...]] = ("any field",)
RECOMPUTABLE: Final[tuple[str, ...]] = ("fields of the native check catalogue",)
VERSIONS: Final = "spec/ingest.md §3"


def detect(_sample: Sample) -> bool:
    """Declared aggregates are known by their place in the round folder, not by their content."""
    return False


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read every claim into `core_declared` and remember its subject."""
    sources = {"audit_log": out.paths_of.get(audit_log.NAME, ()), "changes": out.paths_of.get(changes.NAME, ())}
    component_paths = json.dumps(sources, ensure_ascii=False)
    for file in files:
        for record in file.lines():
            try:
                claim = _claim(members_of(record.value))
            except UnusableRecord as reason:
                file.quarantine(record, reason.code)
                continue
            out.subjects.add(claim["subject_id"])
            out.add("core_declared", file, record, "/value", format=FORMAT, component_paths=component_paths, **claim)


def _claim(members: Mapping[str, Any]) -> dict[str, Any]:
    data_type = optional_text(members, "data_type")
    if data_type is not None and data_type not in set(DataType):
        raise UnusableRecord("bad_data_type")
    value = members.get("value")
    return {
        "subject_id": _subject(members.get("subject")),
        "field": required_text(members, "field"),
        "value_raw": value_raw(value),
        "value_kind": value_kind(value),
        "data_type": data_type,
        "unit": optional_text(members, "unit"),
    }


def _subject(value: Any) -> str:
    """Give the subject: a text that is not empty or an integer, compared as its text (spec/crosscheck.md §11)."""
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    is_long_integer = isinstance(value, Lexeme) and value.removeprefix("-").isdigit()
    if is_integer or is_long_integer or (is_text(value) and value):
        return str(value)
    raise UnusableRecord("bad_subject")
