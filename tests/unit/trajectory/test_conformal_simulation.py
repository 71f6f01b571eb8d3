"""Simulations: on exchangeable rounds P(p <= alpha) <= alpha for every alpha, and a drift trips the martingale.

Every simulated cohort is judged by the same call as real ones. The seeds are fixed: a failure is a fault, not bad luck.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest

from governance_pipeline.trajectory.cohort import CohortRound
from governance_pipeline.trajectory.conformal import ConformalReason, Question, conformal_results

START = datetime(2026, 1, 1, tzinfo=UTC)
FEATURES = ("F", "L", "H")
ERRORS = 4  # standard errors of the binomial share that a simulation may lie above its level

EARLIER = 19
GRID = [Fraction(k, 40) for k in range(1, 40)]

DRAWS = {
    "smooth": lambda rng, n: np.column_stack([rng.normal(size=n), rng.exponential(size=n), rng.uniform(size=n)]),
    "heavy tails": lambda rng, n: rng.standard_cauchy((n, 3)),
    "counts with ties": lambda rng, n: rng.poisson([1.0, 3.0, 0.3], (n, 3)).astype(float),
    "terms that move together": lambda rng, n: rng.lognormal(size=(n, 1)) * rng.uniform(0.5, 2, (n, 3)),
    "a level per cohort": lambda rng, n: rng.normal() * 10 + rng.normal(size=(n, 3)),
    "terms unknown at random": lambda rng, n: np.where(rng.uniform(size=(n, 3)) < 0.1, np.nan, rng.normal(size=(n, 3))),
}


def cohort(name: str, table: np.ndarray) -> list[CohortRound]:
    """Give one round per row, a minute apart, in a cohort of their own."""
    return [
        CohortRound(
            f"{name}-{at}", START + timedelta(minutes=at), name, None, None, None, None,
            {key: None if math.isnan(value) else float(value) for key, value in zip(FEATURES, row, strict=True)},
        )
        for at, row in enumerate(table)
    ]  # fmt: skip


def judged(draw, cohorts: int, seed: int, earlier: int = EARLIER):
    """Judge the last round of each simulated cohort."""
    rng = np.random.default_rng(seed)
    rounds = [each for at in range(cohorts) for each in cohort(f"c{at}", draw(rng, earlier + 1))]
    targets = [f"c{at}-{earlier}" for at in range(cohorts)]
    return conformal_results(Question(rounds, targets, FEATURES, FEATURES, Fraction(1, 2)))


def too_often(results, feature: str) -> list[str]:
    """Name the levels at which p-values of a feature are below more often than chance allows."""
    found = [result.p for result in results if result.feature == feature and result.p is not None]
    assert len(found) > 50
    faults = []
    for alpha in GRID:
        share = sum(p <= alpha for p in found) / len(found)
        if share > alpha + ERRORS * math.sqrt(alpha * (1 - alpha) / len(found)):
            faults.append(f"{feature}: P(p <= {alpha}) = {share}")
    return faults


@pytest.mark.parametrize(
    "cohorts", [pytest.param(150, id="few"), pytest.param(5_000, id="many", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("kind", DRAWS)
def test_on_exchangeable_rounds_no_level_is_exceeded(kind, cohorts):
    results = judged(DRAWS[kind], cohorts, seed=6)
    assert [fault for feature in (*FEATURES, "max_z") for fault in too_often(results, feature)] == []


def test_the_test_notices_scores_that_are_not_exchangeable():
    """Scaled by the reference alone, max_z is below its level too often: the test above would see it."""
    rng = np.random.default_rng(6)
    below = 0
    for _ in range(2_000):
        pool = rng.normal(size=(5, 3))
        median = np.median(pool[:-1], axis=0)
        scores = np.max((pool - median) / np.median(np.abs(pool[:-1] - median), axis=0), axis=1)
        below += 1 + np.count_nonzero(scores[:-1] >= scores[-1]) <= 1
    assert below / 2_000 > 0.2 + ERRORS * math.sqrt(0.2 * 0.8 / 2_000)


def drifting(rng, n: int) -> np.ndarray:
    """Three terms that rise by a twentieth of a standard deviation each round."""
    return rng.normal(size=(n, 3)) + 0.05 * np.arange(n)[:, None]


@pytest.mark.parametrize("cohorts", [pytest.param(10, id="few"), pytest.param(300, id="many", marks=pytest.mark.long)])
def test_a_drifting_cohort_trips_the_martingale_and_raises_nothing(cohorts):
    results = judged(drifting, cohorts, seed=7, earlier=200)
    assert {result.reason for result in results} == {ConformalReason.EXCHANGEABILITY_SUSPECT}
    assert all(result.p is not None for result in results)
    assert {(result.p_adjusted, result.is_extreme) for result in results} == {(None, None)}


@pytest.mark.parametrize(
    ("cohorts", "earlier"),
    [pytest.param(60, 60, id="few"), pytest.param(3_000, 300, id="many", marks=pytest.mark.long)],
)
def test_an_exchangeable_cohort_is_suspect_once_in_a_hundred_at_most(cohorts, earlier):
    results = judged(DRAWS["smooth"], cohorts, seed=8, earlier=earlier)
    for feature in FEATURES:
        suspect = sum(result.log_martingale_max >= math.log(100) for result in results if result.feature == feature)
        assert suspect <= 0.01 * cohorts + ERRORS * math.sqrt(0.01 * 0.99 * cohorts)
