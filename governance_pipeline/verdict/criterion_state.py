"""State of a criterion at the end of a round, unknown included.

What belongs here: the last state as a verdict reads it. What does not: the fold itself (`rounds.evidence`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from governance_pipeline.verdict.round_view import RoundView

NO_RECORD: Final = "none"
UNKNOWN: Final = "unknown"


def criterion_state(view: RoundView, criterion_id: str) -> str:
    """`proven`, `unproven`, `refuted`, `none` without a record, `unknown` when a lost line may be the last word."""
    if view.lost_evidence:
        return UNKNOWN
    record = view.last_evidence.get(criterion_id)
    return NO_RECORD if record is None else str(record["state"])


def evidence_counts(view: RoundView) -> dict[str, int | None]:
    """Per key result of the contract, its criteria with observable evidence; None when a line of evidence is lost.

    Observable: the last state is proven, or unproven with strength above 0 (spec/verdict.md §2).
    """
    counts: dict[str, int | None] = {}
    for criterion in view.criteria:
        key_result = criterion["key_result_id"]
        if key_result is not None:
            known = counts.get(key_result, 0) or 0
            counts[key_result] = None if view.lost_evidence else known + _is_observable(view, criterion["criterion_id"])
    return counts


def _is_observable(view: RoundView, criterion_id: str) -> bool:
    record = view.last_evidence.get(criterion_id)
    if record is None or record["state"] == "refuted":
        return False
    return record["state"] == "proven" or (record["strength"] or 0) > 0
