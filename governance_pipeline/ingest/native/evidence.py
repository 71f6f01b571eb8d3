"""Native evidence: `evidence.jsonl`, one state of one criterion per line (spec/ingest.md §3).

`step`, `criterion_id` and `state` are mandatory, `strength` is one of five values; anything else is quarantined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time
from governance_pipeline.ingest.native.members import (
    UnusableRecord,
    members_of,
    optional_integer,
    optional_text,
    required_integer,
    required_text,
)
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import exact_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

NAME: Final = "native_evidence"
DECLARES: Final[tuple[str, ...]] = ()
RECOMPUTABLE: Final[tuple[str, ...]] = ()
VERSIONS: Final = "spec/ingest.md §3"

STATES: Final = frozenset({"proven", "unproven", "refuted"})
STRENGTHS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


def detect(_sample: Sample) -> bool:
    """Evidence is known by its place in the round folder, not by its content."""
    return False


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read every record into `core_evidence`."""
    for file in files:
        for record in file.lines():
            try:
                out.add("core_evidence", file, record, **_evidence(members_of(record.value)))
            except UnusableRecord as reason:
                file.quarantine(record, reason.code)


def _evidence(members: Mapping[str, Any]) -> dict[str, Any]:
    state = required_text(members, "state")
    if state not in STATES:
        raise UnusableRecord("bad_state")
    return {
        "step_index": required_integer(members, "step", at_least=1),
        "at": parse_time(members.get("ts")),
        "criterion_id": required_text(members, "criterion_id"),
        "state": state,
        "strength": _strength(members.get("strength")),
        "command": optional_text(members, "command"),
        "exit_code": optional_integer(members, "exit_code"),
        "output_sha256": optional_text(members, "output_sha256"),
    }


def _strength(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | Lexeme) and not isinstance(value, bool):
        number = exact_number(str(value))
        for strength in STRENGTHS:
            if number == strength:
                return strength
    raise UnusableRecord("bad_strength")
