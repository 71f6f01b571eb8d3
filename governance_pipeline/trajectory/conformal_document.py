"""The `govern/conformal/v1` document: results as JSON can carry them.

What belongs here: results -> document. What does not: any decision. Source: spec/trajectory.md §9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.trajectory.conformal import Question, Result, conformal_results
from governance_pipeline.trajectory.documents import shortest_number

if TYPE_CHECKING:
    from fractions import Fraction

SCHEMA: Final = "govern/conformal/v1"

_STATISTICS: Final = ("median", "mad", "q05", "q25", "q75", "q95")


def conformal_document(question: Question) -> dict[str, Any]:
    """Answer a question with one document; `batch` is how many p-values were adjusted together."""
    results = conformal_results(question)
    return {
        "schema": SCHEMA,
        "alpha": float(question.alpha),
        "martingale_bound": shortest_number(question.martingale_bound),
        "batch": sum(result.p_adjusted is not None for result in results),
        "results": [_entry(result) for result in results],
    }


def _entry(result: Result) -> dict[str, Any]:
    statistics = {
        name: None if result.statistics is None else shortest_number(getattr(result.statistics, name))
        for name in _STATISTICS
    }
    return {
        "round_id": result.round_id,
        "feature": result.feature,
        "cohort": None if result.cohort is None else list(result.cohort),
        "value": shortest_number(result.value),
        "n": result.n,
        "reference_nulls": result.reference_nulls,
        **statistics,
        "robust_z": shortest_number(result.z),
        "robust_z_reason": None if result.z_reason is None else str(result.z_reason),
        "log_martingale_max": shortest_number(result.log_martingale_max),
        "p": _number(result.p),
        "p_adjusted": _number(result.p_adjusted),
        "is_extreme": result.is_extreme,
        "reason": None if result.reason is None else str(result.reason),
    }


def _number(fraction: Fraction | None) -> float | None:
    return None if fraction is None else shortest_number(float(fraction))
