"""`cross-check-mismatch` and `components-missing`: what the cross-checks of declared numbers found.

A record is a fact when both numbers are known and differ beyond its epsilon, a gap when the parts of the declared
number are missing, broken or unknown. Other unverifiable records are required checks that did not run (see
`missing_checks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.detector import Detector, Hit
from governance_pipeline.verdict.required_checks import COMPONENT_REASONS, record_place, record_subject
from governance_pipeline.verdict.signals import GapReason
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.verdict.round_view import RoundView

_FACTORS: Final = (
    "record_id", "check_id", "subject_id", "field", "data_type", "unit", "declared", "computed", "delta", "epsilon",
    "reason_code", "components_count",
)  # fmt: skip


def _mismatches(view: RoundView) -> Iterator[Hit]:
    for row in view.rows("audit_cross_checks"):
        if row["status"] == RecordStatus.MISMATCH:
            message = f"{_name(row)}: declared {row['declared']}, computed {row['computed']}, delta {row['delta']}"
            yield Hit(record_subject(row, view.round_id), message, _factors(row), record_place(row))


def _without_components(view: RoundView) -> Iterator[Hit]:
    for row in view.rows("audit_cross_checks"):
        if row["reason_code"] in COMPONENT_REASONS:
            message = f"{_name(row)}: declared {row['declared']} cannot be recomputed: {row['reason_code']}"
            subject = record_subject(row, view.round_id)
            yield Hit(subject, message, _factors(row), record_place(row), reason=GapReason.COMPONENTS_MISSING)


def _name(row: Mapping[str, Any]) -> str:
    return f"{excerpt(row['field'], 80)} of {excerpt(row['subject_id'] or 'an unnamed subject', 80)}"


def _factors(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: excerpt(row[name]) if isinstance(row[name], str) else row[name] for name in _FACTORS}


MISMATCH: Final = Detector(
    code="cross-check-mismatch",
    rule="a declared number differs from the one computed from its components by more than its epsilon",
    reads=("audit_cross_checks",),
    detect=_mismatches,
    fires_on={
        "audit_cross_checks": [{"declared": "9", "computed": "8", "delta": "1", "status": "mismatch", "mismatch": True}]
    },
    silent_on={
        "audit_cross_checks": [
            {"declared": "8", "computed": "8", "delta": "0", "status": "match", "mismatch": False},
            {"record_id": "b" * 64, "declared": "8", "status": "unverifiable", "reason_code": "components_missing"},
        ]
    },
)
COMPONENTS_MISSING: Final = Detector(
    code="components-missing",
    rule="a declared number cannot be recomputed because its parts are missing, broken or unknown",
    reads=("audit_cross_checks",),
    detect=_without_components,
    fires_on={
        "audit_cross_checks": [{"declared": "8", "status": "unverifiable", "reason_code": "component_missing_value"}]
    },
    silent_on={
        "audit_cross_checks": [
            {"declared": "9", "computed": "8", "delta": "1", "status": "mismatch", "mismatch": True},
            {"record_id": "b" * 64, "status": "unverifiable", "reason_code": "declared_missing"},
        ]
    },
)
