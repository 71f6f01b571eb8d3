"""`impact-increase` and `outlier-crossing`: a touched file reaches further than before the round (class C).

These are signals 2 and 3 of spec/trajectory.md §6; signal 1, a unit that was an outlier before, is context and stands
in the factors only. Neither says that anything is wrong, and a file that was merely touched once more raises nothing.
Both are recorded and change no decision: they have no calibration, and carry no p-value a calibration could be of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.detector import Detector, Hit, Place, place_of
from governance_pipeline.verdict.impact import TABLE, side
from governance_pipeline.verdict.signals import (
    IMPACT_INCREASE,
    OUTLIER_CROSSING,
    Calibration,
    Cohort,
    Extremity,
    Signal,
    Statistic,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.verdict.round_view import RoundView

    Row = Mapping[str, Any]

COLUMN_OF: Final = {IMPACT_INCREASE: "is_impact_increase", OUTLIER_CROSSING: "is_outlier_crossing"}
"""Code -> the column of its signal."""

_FACTORS: Final = (
    "impact_delta_count", "is_touched_outlier", "is_frequency_only_crossing", "region_threshold",
    "reference_units_count", "known_imports_share", "read_files_share", "base_commit_id", "candidate_commit_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PassiveDetector(Detector):
    """A detector of class C without a calibration: what it finds is recorded, whatever it is."""

    def signal(self, hit: Hit, finding_id: str) -> Signal:  # noqa: ARG002 - of a hit only its being there counts
        """Give a hit as a statistic nobody validated."""
        return Statistic(finding_id, self.code, Calibration.NONE, Extremity.MODERATE, Cohort.OK)


def _detect(code: str, view: RoundView) -> Iterator[Hit]:
    for row in view.rows(TABLE):
        if row[COLUMN_OF[code]]:
            factors = {"unit": excerpt(row["unit"], 200), **{name: row[name] for name in _FACTORS}}
            factors |= {name: side(row, name) for name in ("baseline", "candidate")}
            yield Hit((row["unit"],), _message(code, row), factors, _place(view, row["unit"]), required=False)


def _message(code: str, row: Row) -> str:
    before, after = row["baseline_impact_count"], row["candidate_impact_count"]
    reach = f"{excerpt(row['unit'], 120)} is used by {after} files, directly or through others, {before} before"
    if code == IMPACT_INCREASE:
        return f"{reach}: a change of it reaches materially further"
    return f"{reach}: at its old frequency it now lies among the outliers of the repository"


def _place(view: RoundView, unit: str) -> Place | None:
    """Where the round first touched the file."""
    for row in view.rows("core_file_changes"):
        if normal_form(row["file_path"]) == unit:
            return place_of(row)
    return None


_RULES: Final = {
    IMPACT_INCREASE: "the number of files that use a touched file, directly or through others, grew materially",
    OUTLIER_CROSSING: "the impact of a touched file carries it into the outlier region at the frequency it had before",
}

DETECTORS: Final = tuple(
    PassiveDetector(
        code=code,
        rule=rule,
        reads=(TABLE, "core_file_changes"),
        detect=partial(_detect, code),
        fires_on={TABLE: [{COLUMN_OF[code]: True, "candidate_impact_count": 9, "impact_delta_count": 7}]},
        silent_on={
            TABLE: [
                {COLUMN_OF[code]: False, "is_touched_outlier": True, "is_frequency_only_crossing": True},
                {"unit": "src/b.py", COLUMN_OF[code]: None, "unknown": '{"impact_increase": "no_baseline"}'},
            ]
        },
    )
    for code, rule in _RULES.items()
)
"""Impact increase, then outlier crossing."""
