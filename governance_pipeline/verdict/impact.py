"""The `impact` member of a verdict document: the amplification of the files a round touched.

What belongs here: rows of `features_amplification` as the document shows them. What does not: any formula, and what
follows from a signal (`detectors.amplification`). A unit of which nothing is known is left out: the table says why.
Source: spec/verdict.md §4, spec/trajectory.md §6.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.verdict.round_view import RoundView

TABLE: Final = "features_amplification"

_NUMBERS: Final = ("frequency_count", "impact_count", "tests_count", "amplification", "robust_z")
_SIGNALS: Final = {
    "touched_outlier": "is_touched_outlier",
    "impact_increase": "is_impact_increase",
    "outlier_crossing": "is_outlier_crossing",
    "frequency_only_crossing": "is_frequency_only_crossing",
}
_NAME_CHARACTERS: Final = 200


def impact(view: RoundView) -> list[dict[str, Any]]:
    """List the touched files of a round with their factors, products and signals, by path."""
    return [_entry(row) for row in view.rows(TABLE) if row["base_commit_id"] is not None]


def side(row: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Give the factors of a unit on one side, `baseline` or `candidate`; None where it does not exist, or may not."""
    if not row[f"is_in_{name}"]:
        return None
    return {number: row[f"{name}_{number}"] for number in _NUMBERS} | {"is_outlier": row[f"is_{name}_outlier"]}


def _entry(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "unit": excerpt(row["unit"], _NAME_CHARACTERS),
        "baseline": side(row, "baseline"),
        "candidate": side(row, "candidate"),
        "impact_delta": row["impact_delta_count"],
        "region_threshold": row["region_threshold"],
        "signals": {name: row[column] for name, column in _SIGNALS.items()},
        "unknown": json.loads(row["unknown"]),
    }
