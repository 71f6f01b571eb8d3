"""Table `audit_integrity`: every output hash a log declares, against the bytes.

The digests were computed while the round was read (core_steps.output_file_sha256 and output_result_sha256); here
they are only compared. An output that is not in the round is unverifiable, never a match.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

_DECLARED = re.compile(r"(?:sha256:)?([0-9a-f]{64})", re.ASCII | re.IGNORECASE)
_COPIED = ("round_id", "run_id", "step_index", "path", "file_sha256", "line", "pointer")


def integrity(core_steps: pd.DataFrame) -> pd.DataFrame:
    """Return one row per step that declares an output hash; columns as contract `audit_integrity`.

    A hash may be written as 64 hex digits of any case, with or without `sha256:`. Where the step names an
    output_path, the file counts; otherwise the output text in the log.
    """
    return frame_of("audit_integrity", _rows(core_steps[core_steps["output_hash"].notna()]))


def _rows(steps: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for row in plain_rows(steps):
        hashed, computed = _bytes_of(row)
        declared = _DECLARED.fullmatch(row["output_hash"])
        status, reason = _compare(declared.group(1).lower() if declared else None, computed)
        yield {
            **{name: row[name] for name in _COPIED},
            "hashed": hashed,
            "declared_hash": row["output_hash"],
            "computed_hash": computed,
            "status": status,
            "reason_code": reason,
        }


def _bytes_of(row: dict[str, Any]) -> tuple[str, str | None]:
    if row["output_path"] is not None:
        found = row["output_file_sha256"]
        return ("output_path" if found else "nothing"), found
    found = row["output_result_sha256"]
    return ("output_result" if found else "nothing"), found


def _compare(declared: str | None, computed: str | None) -> tuple[RecordStatus, str | None]:
    if declared is None:
        return RecordStatus.UNVERIFIABLE, "declared_not_a_sha256"
    if computed is None:
        return RecordStatus.UNVERIFIABLE, "output_not_in_round"
    return (RecordStatus.MATCH if declared == computed else RecordStatus.MISMATCH), None
