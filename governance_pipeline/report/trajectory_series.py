"""What the figures of a round show, as plain numbers: surface and evidence by step, cohort position, amplification.

What belongs here: choosing the numbers from rows of the feature tables, and saying why there are none. What does not:
drawing them (trajectory_figures) and any formula (trajectory). A null stays None in every series and is drawn as a gap,
never as 0; a step without a row is a gap as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.frames import plain_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

TABLES: Final = ("core_rounds", "features_step_surface", "features_conformal", "features_amplification")
"""Tables the series are read from."""

MOST_STEPS: Final = 2_000
"""Steps of a series at most, the first ones: beyond that a step is thinner than a screen can show."""

MOST_UNITS: Final = 30
"""Touched files of a series at most, those of the largest product: more lines than that nobody tells apart."""

SIGNALS: Final = ("is_touched_outlier", "is_impact_increase", "is_outlier_crossing", "is_frequency_only_crossing")


class StepSeries(NamedTuple):
    """S and E over the steps from the first to the last, with a place for those that are missing.

    Attributes:
        steps: numbers of the steps.
        surface: S of each; None where unknown or missing.
        evidence: E after each, 0 to 1; None where unknown or missing.
        left_out: steps beyond `MOST_STEPS`.
    """

    steps: tuple[int, ...]
    surface: tuple[float | None, ...]
    evidence: tuple[float | None, ...]
    left_out: int


class CohortPosition(NamedTuple):
    """One compared feature of a round beside the comparable rounds that ended before it; None where unknown."""

    feature: str
    value: float | None
    q05: float | None
    q25: float | None
    median: float | None
    q75: float | None
    q95: float | None
    known_count: int | None
    p_value: float | None
    reason: str | None

    @property
    def has_anything(self) -> bool:
        """Tell whether there is a number to draw."""
        return self.value is not None or self.median is not None


class UnitReach(NamedTuple):
    """One touched file: its product of frequency and impact before and after the round, and its signals that are on."""

    unit: str
    before: float | None
    after: float | None
    signals: tuple[str, ...]


class Amplification(NamedTuple):
    """Touched files, the largest product first, and where the outlier region begins (None: there is none)."""

    units: tuple[UnitReach, ...]
    threshold: float | None
    left_out: int


class Trajectory(NamedTuple):
    """Everything the figures of one round show."""

    round_id: str
    steps: StepSeries
    cohort: tuple[CohortPosition, ...]
    amplification: Amplification


def trajectories(tables: Mapping[str, pd.DataFrame]) -> list[Trajectory]:
    """Give the series of every round of `core_rounds`, in its order.

    Args:
        tables: the frames named by `TABLES`, over the same rounds.
    """
    rows = {table: _by_round(tables[table]) for table in TABLES[1:]}
    return [
        Trajectory(
            round_id,
            step_series(rows["features_step_surface"].get(round_id, [])),
            cohort_positions(rows["features_conformal"].get(round_id, [])),
            amplification_series(rows["features_amplification"].get(round_id, [])),
        )
        for round_id in map(str, tables["core_rounds"]["round_id"])
    ]


def step_series(rows: Sequence[Mapping[str, Any]]) -> StepSeries:
    """Give S and E by step from rows of `features_step_surface` of one round, null as None."""
    known = {int(row["step_index"]): row for row in rows}
    if not known:
        return StepSeries((), (), (), 0)
    first, last = min(known), max(known)
    end = min(last, first + MOST_STEPS - 1)
    steps = tuple(range(first, end + 1))
    return StepSeries(
        steps,
        tuple(_number(known[step]["surface_sum"]) if step in known else None for step in steps),
        tuple(_number(known[step]["evidence_share"]) if step in known else None for step in steps),
        sum(step > end for step in known),
    )


def cohort_positions(rows: Sequence[Mapping[str, Any]]) -> tuple[CohortPosition, ...]:
    """Give the position of a round in its cohort, by feature, from its rows of `features_conformal`, null as None."""
    names = CohortPosition._fields
    return tuple(CohortPosition(**{name: row[name] for name in names}) for row in rows)


def amplification_series(rows: Sequence[Mapping[str, Any]]) -> Amplification:
    """Give the products of the touched files from rows of `features_amplification` of one round, null as None."""
    units = [
        UnitReach(
            str(row["unit"]),
            _number(row["baseline_amplification"]),
            _number(row["candidate_amplification"]),
            tuple(name.removeprefix("is_") for name in SIGNALS if row[name]),
        )
        for row in rows
    ]
    units.sort(key=_largest_first)
    thresholds = {row["region_threshold"] for row in rows} - {None}
    return Amplification(
        tuple(units[:MOST_UNITS]), thresholds.pop() if len(thresholds) == 1 else None, len(units[MOST_UNITS:])
    )


def _largest_first(unit: UnitReach) -> tuple[float, str]:
    """Sort by the larger known product, files without one last."""
    known = [value for value in (unit.before, unit.after) if value is not None]
    return (-max(known) if known else 1.0, unit.unit)


def _by_round(frame: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in plain_rows(frame):
        found.setdefault(str(row["round_id"]), []).append(row)
    return found


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
