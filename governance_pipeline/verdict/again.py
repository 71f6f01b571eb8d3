"""Looking for one finding again: what `govern verdict check --finding` does.

What belongs here: finding the one row an id means, in what is stored and in what the detectors say now. What does not:
reading tables. Source: spec/verdict.md §4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.errors import UsageError
from governance_pipeline.verdict.dismissals import NOTHING, Dismissals
from governance_pipeline.verdict.document import finding_entry
from governance_pipeline.verdict.findings import TABLE, findings
from governance_pipeline.verdict.round_view import NOT_CALIBRATED, RowsByRound

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from governance_pipeline.verdict.calibration import Records
    from governance_pipeline.verdict.policy_document import Policy

SCHEMA: Final = "govern/verdict-check/v1"


class Again(NamedTuple):
    """One finding, as the detectors give it now, or as it was stored when they no longer do."""

    round_id: str
    entry: dict[str, Any]
    is_reproduced: bool

    def document(self) -> dict[str, Any]:
        """Give the `govern/verdict-check/v1` document."""
        return {
            "schema": SCHEMA,
            "round_id": self.round_id,
            "is_reproduced": self.is_reproduced,
            "finding": self.entry,
        }


def look_again(
    finding: str,
    tables: Mapping[str, pd.DataFrame],
    policy: Policy,
    stored: pd.DataFrame | None,
    dismissals: Dismissals = NOTHING,
    calibrations: Records = NOT_CALIBRATED,
) -> Again:
    """Run the detectors over `tables` and look for the finding whose id begins with `finding`.

    Args:
        finding: the first hex digits of its id.
        tables: input tables of the rounds that may have it.
        policy: the policy document in force.
        stored: findings stored of these rounds; None when none are.
        dismissals: what people have dismissed.
        calibrations: code of a statistic -> the calibration in force.

    Raises:
        UsageError: no finding or several begin so, or an input table is missing.
    """
    now = _matching(findings(tables, policy, dismissals, calibrations), finding)
    before = _matching(empty_frame(TABLE) if stored is None else stored, finding)
    ids = {row["finding_id"] for row in (*now, *before)}
    if not ids:
        raise UsageError(f"no finding begins with {finding}; `govern verdict show ROUND` lists those of a round")
    if len(ids) > 1:
        raise UsageError(f"{len(ids)} findings begin with {finding}; give more digits")
    row = (*now, *before)[0]
    return Again(row["round_id"], finding_entry(row), is_reproduced=bool(now))


def _matching(frame: pd.DataFrame, finding: str) -> list[dict[str, Any]]:
    source = RowsByRound({TABLE: frame}, inputs=(TABLE,))
    rows: list[dict[str, Any]] = source.whole(TABLE).to_pylist()
    return [row for row in rows if row["finding_id"].startswith(finding)]
