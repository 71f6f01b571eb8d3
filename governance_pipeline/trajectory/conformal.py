"""How extreme a round is among the comparable rounds before it: conformal p-values, adjusted within their batch.

A p-value says how many of the reference rounds are at least as extreme. It is never a probability of being wrong.

What belongs here: scores, p-values, the order of reasons. What does not: reading and writing documents
(`conformal_input`, `conformal_document`) and any decision. Source: spec/trajectory.md §5, reasons §9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from governance_pipeline.settings import SETTINGS
from governance_pipeline.trajectory.cohort import Cohort, CohortKey, CohortRound, cohort_key, cohorts
from governance_pipeline.trajectory.false_discovery import adjusted
from governance_pipeline.trajectory.martingale import log_martingale_maxima
from governance_pipeline.trajectory.max_z import max_z_scores
from governance_pipeline.trajectory.robust import RobustStatistics, robust_statistics, robust_z

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_Z: Final = "max_z"
"""Name of the score made of the whole vector; no feature may have it."""


class ConformalReason(StrEnum):
    """Why there is no p-value, or why it can raise nothing; the first that holds, in this order."""

    NO_COHORT = "no_cohort"
    NO_TIME = "no_time"
    VALUE_UNKNOWN = "value_unknown"
    TOO_FEW = "too_few"
    MAD_ZERO = "mad_zero"
    EXCHANGEABILITY_SUSPECT = "exchangeability_suspect"


class RobustZReason(StrEnum):
    """Why there is no robust z; the first that holds, in this order."""

    NO_COHORT = "no_cohort"
    NO_TIME = "no_time"
    VALUE_UNKNOWN = "value_unknown"
    NO_REFERENCE = "no_reference"
    MAD_ZERO = "mad_zero"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a set of rounds.

    Attributes:
        rounds: all rounds at hand, ids distinct.
        targets: ids of the rounds to judge, in the order wanted; they are one batch.
        features: names, in the order wanted.
        vector: features `max_z` is made of; empty: no `max_z`.
        alpha: level, exactly as written; between 0 and 1.
        martingale_bound: above 1.
    """

    rounds: Sequence[CohortRound]
    targets: Sequence[str]
    features: Sequence[str]
    vector: Sequence[str]
    alpha: Fraction
    martingale_bound: float = SETTINGS.martingale_bound


@dataclass(frozen=True, slots=True)
class Result:
    """One feature (or `max_z`) of one target; None where unknown or not applicable.

    Attributes:
        round_id: the target.
        feature: name, or `max_z`.
        cohort: declared name, or project, task kind and language.
        value: the value compared; of `max_z` the largest robust z.
        n: reference rounds where it is known.
        reference_nulls: reference rounds left out because it is not.
        statistics: of the reference.
        z: robust z.
        z_reason: why there is none.
        log_martingale_max: largest ln M over the reference, 0 at least.
        p: conformal p-value, exact.
        p_adjusted: the same after Benjamini-Hochberg.
        is_extreme: p_adjusted is at most alpha.
        reason: why p is unknown or raises nothing.
    """

    round_id: str
    feature: str
    cohort: CohortKey | None
    value: float | None
    n: int | None = None
    reference_nulls: int | None = None
    statistics: RobustStatistics | None = None
    z: float | None = None
    z_reason: RobustZReason | None = None
    log_martingale_max: float | None = None
    p: Fraction | None = None
    p_adjusted: Fraction | None = None
    is_extreme: bool | None = None
    reason: ConformalReason | None = None


def conformal_results(question: Question) -> list[Result]:
    """Give one result per target and feature, then `max_z`, in the order asked; nothing depends on the rounds' order.

    Raises:
        KeyError: a target is none of the rounds.
    """
    judge = _Judge(question)
    by_id = {each.round_id: each for each in question.rounds}
    results = [result for target in question.targets for result in judge.results(by_id[target])]
    in_batch = [at for at, result in enumerate(results) if result.p is not None and result.reason is None]
    batch = [result.p for result in results if result.p is not None and result.reason is None]
    for at, value in zip(in_batch, adjusted(batch), strict=True):
        results[at] = replace(results[at], p_adjusted=value, is_extreme=value <= question.alpha)
    return results


class _Judge:
    """Judges one round after the other; what rounds of a cohort share is computed once."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._cohorts = cohorts(question.rounds, question.features)
        self._log_bound = math.log(question.martingale_bound)
        self._maxima: dict[tuple[int, str], np.ndarray] = {}

    def results(self, target: CohortRound) -> list[Result]:
        key = cohort_key(target)
        names = [*self._question.features, *([MAX_Z] if self._question.vector else [])]
        if key is None or target.at is None:
            return [_without_reference(target, name, key) for name in names]
        cohort = self._cohorts[key, target.baseline_version]
        size = cohort.reference_size(target.at)
        of_features = [self._feature(target, name, key, cohort, size) for name in self._question.features]
        if not self._question.vector:
            return of_features
        return [*of_features, self._max_z(target, key, cohort, size, of_features)]

    def _feature(self, target: CohortRound, name: str, key: CohortKey, cohort: Cohort, size: int) -> Result:
        reference = cohort.values[name][:size]
        known = reference[~np.isnan(reference)]
        value = target.values.get(name)
        statistics = robust_statistics(known)
        z, z_reason = _robust_z(value, statistics)
        largest = float(self._log_maxima(cohort, name)[len(known)])
        p = None if value is None else _p_value(known, value)
        return self._decided(
            Result(
                target.round_id, name, key, value, len(known), size - len(known), statistics, z, z_reason, largest, p
            ),
            is_suspect=largest >= self._log_bound,
        )

    def _max_z(
        self, target: CohortRound, key: CohortKey, cohort: Cohort, size: int, of_features: Sequence[Result]
    ) -> Result:
        vector = self._question.vector
        table = np.column_stack([cohort.values[name][:size] for name in vector])
        complete = table[~np.isnan(table).any(axis=1)]
        own = [target.values.get(name) for name in vector]
        found = Result(
            target.round_id,
            MAX_Z,
            key,
            None,
            len(complete),
            size - len(complete),
            z_reason=RobustZReason.NOT_APPLICABLE,
        )
        is_suspect = any(
            (each.log_martingale_max or 0.0) >= self._log_bound for each in of_features if each.feature in vector
        )
        if any(value is None for value in own):
            return replace(found, reason=ConformalReason.VALUE_UNKNOWN)
        scores = max_z_scores(np.vstack([complete, np.array(own, dtype=np.float64)]))
        if scores is not None:
            found = replace(found, value=scores.of_target, p=_p_value(scores.ranked[:-1], float(scores.ranked[-1])))
        return self._decided(found, is_suspect=is_suspect)

    def _decided(self, found: Result, *, is_suspect: bool) -> Result:
        """Give the result with its reason, and without the p-value that cannot reach the level."""
        if found.value is None and found.feature != MAX_Z:
            return replace(found, p=None, reason=ConformalReason.VALUE_UNKNOWN)
        if ((found.n or 0) + 1) * self._question.alpha < 1:
            return replace(found, p=None, reason=ConformalReason.TOO_FEW)
        if found.p is None:
            return replace(found, reason=ConformalReason.MAD_ZERO)
        return replace(found, reason=ConformalReason.EXCHANGEABILITY_SUSPECT) if is_suspect else found

    def _log_maxima(self, cohort: Cohort, name: str) -> np.ndarray:
        """Largest ln M by number of known values; a reference is a prefix of its cohort, so one sequence serves all."""
        at = (id(cohort), name)
        if at not in self._maxima:
            values = cohort.values[name]
            self._maxima[at] = log_martingale_maxima(values[~np.isnan(values)])
        return self._maxima[at]


def _without_reference(target: CohortRound, name: str, key: CohortKey | None) -> Result:
    value = None if name == MAX_Z else target.values.get(name)
    if key is None:
        return Result(
            target.round_id, name, key, value, z_reason=RobustZReason.NO_COHORT, reason=ConformalReason.NO_COHORT
        )
    return Result(target.round_id, name, key, value, z_reason=RobustZReason.NO_TIME, reason=ConformalReason.NO_TIME)


def _robust_z(value: float | None, statistics: RobustStatistics | None) -> tuple[float | None, RobustZReason | None]:
    if value is None:
        return None, RobustZReason.VALUE_UNKNOWN
    if statistics is None:
        return None, RobustZReason.NO_REFERENCE
    z = robust_z(value, statistics.median, statistics.mad)
    return z, RobustZReason.MAD_ZERO if z is None else None


def _p_value(reference: np.ndarray, score: float) -> Fraction:
    """(1 + how many reference scores are at least as large) / (n + 1)."""
    return Fraction(1 + int(np.count_nonzero(reference >= score)), len(reference) + 1)
