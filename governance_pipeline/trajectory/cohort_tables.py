"""Tables `features_cohort_baseline` and `features_conformal`: every round beside the comparable ones before it.

What belongs here: rounds out of the tables, and rows out of results. What does not: any formula (`cohort`, `baselines`,
`conformal`). Both are made over all rounds at hand and of nothing else, so their rows depend on which rounds there are,
never on the order or the chunks they came in. Source: spec/trajectory.md §4-5.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.settings import SETTINGS
from governance_pipeline.trajectory.baselines import baseline_chain, baseline_of_size
from governance_pipeline.trajectory.cohort import CohortRound, cohort_key, cohorts, known_values
from governance_pipeline.trajectory.conformal import Question, conformal_results
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION, refuse_other_formulas
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.martingale import log_martingale_maxima
from governance_pipeline.trajectory.robust import LARGEST_VALUE, ordered_statistics
from governance_pipeline.trajectory.running import RunningValues

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from governance_pipeline.settings import Settings
    from governance_pipeline.trajectory.baselines import Baseline
    from governance_pipeline.trajectory.cohort import Cohort, CohortKey
    from governance_pipeline.trajectory.conformal import Result
    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.robust import RobustStatistics

    Groups = Mapping[tuple[CohortKey, str | None], Cohort]
    Chains = Mapping[tuple[CohortKey, str | None], Sequence[Baseline]]

BASELINE_TABLE: Final = "features_cohort_baseline"
CONFORMAL_TABLE: Final = "features_conformal"

COMPARED: Final = ("aus_round", "largest_s", "largest_h", "unproven_growth", "rewrite_share")
"""Columns of `features_round` that rounds are compared by; of each, large is extreme."""

VECTOR: Final = COMPARED[:4]
"""What `max_z` is made of: all but the rewritten share, which only rounds with a repository have. A round in which one
of them is unknown has no `max_z`, so a feature that is nearly always unknown would take it from all."""

COHORT_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "core_rounds": ("round_id", "cohort", "project", "task_kind", "language", "baseline_version", "ended_at"),
    "features_round": ("round_id", *COMPARED, "feature_version", "epsilon"),
}
"""Table -> the columns of it that are read, for whoever reads them from many files."""

COHORT_TABLES: Final = tuple(COHORT_COLUMNS)
"""Tables the two functions of this module read."""


def cohort_baselines(tables: Tables) -> pd.DataFrame:
    """Return one row per baseline and feature, by cohort and time; columns as contract `features_cohort_baseline`.

    Args:
        tables: the frames named by `COHORT_TABLES`, of all rounds; of each at least `COHORT_COLUMNS`.

    Raises:
        StorageError: `features_round` has rows of another epsilon or version.
    """
    groups = _groups(_rounds(tables))
    rows = (row for of, chain in _chains(groups).items() for row in _baseline_rows(of, groups[of], chain))
    return frame_of(BASELINE_TABLE, rows)


def conformal(tables: Tables, settings: Settings = SETTINGS) -> pd.DataFrame:
    """Return one row per round and compared feature, by round; columns as contract `features_conformal`.

    Each round is a batch of its own: which other rounds are judged with it changes nothing.

    Args:
        tables: as for `cohort_baselines`.
        settings: level and bound.

    Raises:
        StorageError: as for `cohort_baselines`.
    """
    rounds = {each.round_id: each for each in _rounds(tables)}
    groups = _groups(list(rounds.values()))
    chains = _chains(groups)
    question = Question(
        rounds=list(rounds.values()),
        targets=sorted(rounds),
        features=COMPARED,
        vector=VECTOR,
        alpha=Fraction(settings.conformal_level),
        martingale_bound=settings.martingale_bound,
        is_batch_per_target=True,
    )
    results = conformal_results(question)
    width = len(COMPARED) + 1
    batches = (results[at : at + width] for at in range(0, len(results), width))
    return frame_of(
        CONFORMAL_TABLE,
        (row for batch in batches for row in _batch_rows(rounds[batch[0].round_id], batch, groups, chains, settings)),
    )


def _rounds(tables: Tables) -> list[CohortRound]:
    refuse_other_formulas(tables["features_round"], "features_round")
    values = {row["round_id"]: row for row in rows_of(tables["features_round"], ("round_id", *COMPARED))}
    return [
        CohortRound(
            round_id=row["round_id"],
            at=row["ended_at"],
            **{name: row[name] for name in ("cohort", "project", "task_kind", "language", "baseline_version")},
            values={name: _comparable(values[row["round_id"]][name]) for name in COMPARED},
        )
        for row in rows_of(tables["core_rounds"], COHORT_COLUMNS["core_rounds"])
    ]


def _comparable(value: float | None) -> float | None:
    """A number beyond what differences stay finite for is no measurement anybody made; it counts as unknown."""
    return None if value is None or abs(value) > LARGEST_VALUE else float(value)


def _groups(rounds: Sequence[CohortRound]) -> Groups:
    found = cohorts(rounds, COMPARED)
    return {of: found[of] for of in sorted(found, key=lambda of: (of[0], of[1] is not None, of[1] or ""))}


def _chains(groups: Groups) -> Chains:
    return {of: baseline_chain(*of, cohort, COMPARED) for of, cohort in groups.items()}


def _baseline_rows(
    of: tuple[CohortKey, str | None], cohort: Cohort, chain: Sequence[Baseline]
) -> Iterator[dict[str, Any]]:
    running = {name: RunningValues(cohort.values[name]) for name in COMPARED}
    maxima = {name: log_martingale_maxima(known_values(cohort.values[name])) for name in COMPARED}
    for baseline in chain:
        for name in COMPARED:
            running[name].grow(baseline.size)
            known = len(running[name].ordered)
            yield {
                "baseline_id": baseline.baseline_id,
                "cohort": _names(of[0]),
                "baseline_version": of[1],
                "until_at": baseline.until,
                "rounds_count": baseline.size,
                "supersedes_baseline_id": baseline.supersedes,
                "reason": baseline.reason,
                "added_round_ids": json.dumps(baseline.added),
                "feature": name,
                "known_count": known,
                "unknown_count": baseline.size - known,
                **_statistics(ordered_statistics(running[name].ordered)),
                "log_martingale_max": float(maxima[name][known]),
                "feature_version": FEATURE_VERSION,
                "epsilon": EPSILON,
            }


def _batch_rows(
    each: CohortRound, batch: Sequence[Result], groups: Groups, chains: Chains, settings: Settings
) -> Iterator[dict[str, Any]]:
    key = cohort_key(each)
    of = None if key is None or each.at is None else (key, each.baseline_version)
    size = 0 if of is None or each.at is None else groups[of].reference_size(each.at)
    baseline = None if of is None else baseline_of_size(chains[of], size)
    m = sum(result.p_adjusted is not None for result in batch)
    for result in batch:
        n = result.n
        yield {
            "round_id": each.round_id,
            "feature": result.feature,
            "cohort": None if key is None else _names(key),
            "baseline_version": each.baseline_version,
            "baseline_id": None if baseline is None else baseline.baseline_id,
            "ended_at": each.at,
            "value": result.value,
            "known_count": n,
            "unknown_count": result.reference_nulls,
            **_statistics(result.statistics),
            "robust_z": result.z,
            "robust_z_reason": result.z_reason,
            "log_martingale_max": result.log_martingale_max,
            "at_least_count": None if result.p is None or n is None else math.floor(result.p * (n + 1)) - 1,
            "p_value": None if result.p is None else float(result.p),
            "p_adjusted": None if result.p_adjusted is None else float(result.p_adjusted),
            "batch_count": m,
            "level": settings.conformal_level,
            "is_extreme": result.is_extreme,
            "reason": result.reason,
            "feature_version": FEATURE_VERSION,
            "epsilon": EPSILON,
        }


def _statistics(found: RobustStatistics | None) -> dict[str, float | None]:
    names = ("median", "mad", "q05", "q25", "q75", "q95")
    return {name: None if found is None else getattr(found, name) for name in names}


def _names(key: CohortKey) -> str:
    return json.dumps(key, ensure_ascii=False)
