"""`output-hash-mismatch`: a log declares a hash of an output, and the bytes have another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.detector import Detector, Hit, place_of
from governance_pipeline.verdict.required_checks import hash_subject
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView


def _detect(view: RoundView) -> Iterator[Hit]:
    for row in view.rows("audit_integrity"):
        if row["status"] == RecordStatus.MISMATCH:
            yield Hit(
                hash_subject(row, view.round_id),
                f"step {row['step_index']} of {excerpt(row['run_id'], 80)} declares a hash that is not that of its "
                f"{row['hashed']}",
                {
                    "run_id": excerpt(row["run_id"]),
                    "step_index": row["step_index"],
                    "hashed": row["hashed"],
                    "declared_hash": excerpt(row["declared_hash"]),
                    "computed_hash": row["computed_hash"],
                },
                place_of(row),
            )


DETECTOR: Final = Detector(
    code="output-hash-mismatch",
    rule="a declared output hash is not the SHA-256 of the bytes of that output",
    reads=("audit_integrity",),
    detect=_detect,
    fires_on={"audit_integrity": [{"status": "mismatch", "computed_hash": "b" * 64}]},
    silent_on={
        "audit_integrity": [
            {"status": "match", "computed_hash": "a" * 64},
            {"step_index": 2, "status": "unverifiable", "hashed": "nothing", "reason_code": "output_not_in_round"},
        ]
    },
)
