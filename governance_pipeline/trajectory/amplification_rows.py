"""Table `features_amplification`: the touched files of every round with their factors, products and signals.

What belongs here: putting a row together. What does not: any formula (`amplification`) and any provider
(`round_amplification`). Source: spec/trajectory.md §6.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.trajectory.amplification import WITH_REASON, Signal, impact_delta, signals_of
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.graph_coverage import known_share, read_share
from governance_pipeline.trajectory.impact_surface import IMPACT_PROVIDER
from governance_pipeline.trajectory.reading import READING_TABLES, read_surface
from governance_pipeline.trajectory.repositories import Repositories
from governance_pipeline.trajectory.round_amplification import HISTORY_PROVIDER, RULE, round_amplification
from governance_pipeline.trajectory.step_commits import SYMBOL_TABLES, StepCommits
from governance_pipeline.trajectory.typed_graph import EdgeType

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from governance_pipeline.trajectory.amplification import Factors, Region, UnitSignals
    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.impact_surface import Impact
    from governance_pipeline.trajectory.reading import Surface
    from governance_pipeline.trajectory.round_amplification import RoundAmplification, TouchedUnit

TABLE: Final = "features_amplification"
VERSION: Final = "change-amplification-v1"

AMPLIFICATION_TABLES: Final = tuple(dict.fromkeys((*READING_TABLES, *SYMBOL_TABLES)))
"""Tables `amplification` reads."""

COLUMN_OF: Final = {
    Signal.TOUCHED_OUTLIER: "is_touched_outlier",
    Signal.IMPACT_INCREASE: "is_impact_increase",
    Signal.OUTLIER_CROSSING: "is_outlier_crossing",
    Signal.FREQUENCY_ONLY_CROSSING: "is_frequency_only_crossing",
}
"""Signal -> its column."""

PROVIDER_TEXT: Final = json.dumps({"frequency": HISTORY_PROVIDER, "impact": IMPACT_PROVIDER}, sort_keys=True)
RULE_TEXT: Final = json.dumps(
    {name: float(value) if isinstance(value, Fraction) else value for name, value in asdict(RULE).items()}
)


def amplification(tables: Tables, repositories: Repositories | None = None) -> pd.DataFrame:
    """Return one row per file a round touched, by round and path; columns as contract `features_amplification`.

    Args:
        tables: the frames named by `AMPLIFICATION_TABLES`, of the same rounds, of any number of them.
        repositories: opens the repositories the contracts name; None: those with an absolute path only.

    Raises:
        UsageError: an event belongs to a round that `core_rounds` does not have.
        StorageError: a graph cannot be kept.
    """
    surface = read_surface(tables)
    commits = StepCommits(tables)
    opened = repositories or Repositories()
    touched, steps = _touched(surface, commits)

    def rows() -> Iterator[dict[str, Any]]:
        for row in rows_of(tables["core_rounds"]):
            paths = touched.get(row["round_id"])
            if paths:
                made = round_amplification(row, sorted(paths), steps[row["round_id"]], opened)
                yield from (_row(row["round_id"], made, unit) for unit in made.units)

    return frame_of(TABLE, rows())


def _touched(surface: Surface, commits: StepCommits) -> tuple[dict[str, set[str]], dict[str, list[str | None]]]:
    """Per round, the paths its steps touched and the commit each step is."""
    touched: dict[str, set[str]] = {}
    steps: dict[str, list[str | None]] = {}
    for step in surface.events.steps:
        for position in step.events:
            paths = touched.setdefault(step.round_id, set())
            paths.update(file.path for file in surface.files.of_event(position))
        event = None if step.event is None else surface.events.events[step.event]
        steps.setdefault(step.round_id, []).append(None if event is None else commits.commit(event))
    return touched, steps


def _row(round_id: str, made: RoundAmplification, touched: TouchedUnit) -> dict[str, Any]:
    unit, region = touched.unit, made.region
    is_measured = made.reason is None
    return {
        "round_id": round_id,
        "unit": unit.id,
        "is_in_baseline": unit.baseline is not None if is_measured else None,
        **_side("baseline", unit.baseline, touched.before, region),
        "is_in_candidate": unit.candidate is not None if is_measured and made.candidate is not None else None,
        **_side("candidate", unit.candidate, touched.after, region),
        "impact_delta_count": _whole(impact_delta(unit)),
        **_signals(signals_of(unit, region, RULE) if region is not None else None, made),
        **_region(region),
        "commits_used_count": None if made.history is None else made.history.commits_used,
        "commits_left_out_count": None if made.history is None else made.history.commits_left_out,
        "is_whole_history": made.is_whole_history,
        "base_commit_id": made.base,
        "candidate_commit_id": made.candidate,
        "read_files_share": None if made.made is None else read_share(made.made.coverage),
        "known_imports_share": None if made.made is None else known_share(made.made.coverage, EdgeType.IMPORT),
        "provider": PROVIDER_TEXT,
        "rule": RULE_TEXT,
        "feature_version": VERSION,
    }


def _side(name: str, factors: Factors | None, impact: Impact | None, region: Region | None) -> dict[str, Any]:
    if factors is None or region is None:
        return {}
    product = factors.amplification
    return {
        f"{name}_frequency_count": _whole(factors.frequency),
        f"{name}_impact_count": _whole(factors.impact),
        f"{name}_tests_count": None if impact is None else impact.tests,
        f"{name}_amplification": _real(product),
        f"{name}_robust_z": _real(region.robust_z(product)),
        f"is_{name}_outlier": region.contains(product),
    }


def _signals(signals: UnitSignals | None, made: RoundAmplification) -> dict[str, Any]:
    if signals is None:
        return {"unknown": json.dumps({str(signal): str(made.reason) for signal in WITH_REASON})}
    columns: dict[str, Any] = {COLUMN_OF[signal]: value for signal, value in signals.values.items()}
    return {**columns, "unknown": json.dumps({str(signal): str(why) for signal, why in signals.unknown.items()})}


def _region(region: Region | None) -> dict[str, Any]:
    if region is None:
        return {}
    return {
        "reference_units_count": region.reference_units,
        "region_median": _real(region.median),
        "region_mad": _real(region.mad),
        "region_threshold": _real(region.threshold),
        "region_reason": None if region.reason is None else str(region.reason),
    }


def _whole(value: Fraction | None) -> int | None:
    return None if value is None else int(value)


def _real(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
