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
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from governance_pipeline.settings import SETTINGS
from governance_pipeline.trajectory.cohort import Cohort, CohortKey, CohortRound, cohort_key, cohorts, known_values
from governance_pipeline.trajectory.false_discovery import adjusted
from governance_pipeline.trajectory.martingale import log_martingale_maxima
from governance_pipeline.trajectory.robust import RobustStatistics, ordered_statistics, robust_z
from governance_pipeline.trajectory.running import RunningValues, RunningVector

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

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
        targets: ids of the rounds to judge, in the order wanted; together they are one batch.
        features: names, in the order wanted.
        vector: features `max_z` is made of; empty: no `max_z`.
        alpha: level, exactly as written; between 0 and 1.
        martingale_bound: above 1.
        is_batch_per_target: each target is a batch of its own, so that its results do not depend on the others.
    """

    rounds: Sequence[CohortRound]
    targets: Sequence[str]
    features: Sequence[str]
    vector: Sequence[str]
    alpha: Fraction
    martingale_bound: float = SETTINGS.martingale_bound
    is_batch_per_target: bool = False


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
    by_target = _judged(question)
    if not question.is_batch_per_target:
        return _adjusted([one for target in question.targets for one in by_target[target]], question.alpha)
    return [result for target in question.targets for result in _adjusted(by_target[target], question.alpha)]


def _adjusted(results: list[Result], alpha: Fraction) -> list[Result]:
    """Adjust the known, not suspect p-values of one batch."""
    at = [place for place, result in enumerate(results) if result.p is not None and result.reason is None]
    batch = [result.p for result in results if result.p is not None and result.reason is None]
    done = list(results)
    for place, value in zip(at, adjusted(batch), strict=True):
        done[place] = replace(done[place], p_adjusted=value, is_extreme=value <= alpha)
    return done


def _judged(question: Question) -> dict[str, list[Result]]:
    """Judge each target, those of a cohort in order of time, so that what their references share is computed once."""
    by_id = {each.round_id: each for each in question.rounds}
    found = cohorts(question.rounds, question.features)
    judged: dict[str, list[Result]] = {}
    of_cohort: dict[tuple[CohortKey, str | None], list[tuple[datetime, CohortRound]]] = {}
    for target in dict.fromkeys(question.targets):
        each = by_id[target]
        key = cohort_key(each)
        if key is None or each.at is None:
            names = [*question.features, *([MAX_Z] if question.vector else [])]
            judged[target] = [_without_reference(each, name, key) for name in names]
        else:
            of_cohort.setdefault((key, each.baseline_version), []).append((each.at, each))
    for of, targets in of_cohort.items():
        judge = _Judge(question, of[0], found[of])
        sized = [(found[of].reference_size(at), each) for at, each in sorted(targets, key=lambda item: item[0])]
        for size, together in groupby(sized, key=itemgetter(0)):
            alike = [each for _, each in together]
            for each, results in zip(alike, judge.results(alike, size), strict=True):
                judged[each.round_id] = results
    return judged


class _Judge:
    """Judges the targets of one cohort, in order of time: their references are growing prefixes of it."""

    def __init__(self, question: Question, key: CohortKey, cohort: Cohort) -> None:
        self._question = question
        self._key = key
        self._log_bound = math.log(question.martingale_bound)
        self._running = {name: RunningValues(cohort.values[name]) for name in question.features}
        self._maxima = {name: log_martingale_maxima(known_values(cohort.values[name])) for name in question.features}
        self._vector = RunningVector([cohort.values[name] for name in question.vector]) if question.vector else None

    def results(self, targets: Sequence[CohortRound], size: int) -> list[list[Result]]:
        """Judge targets against the first `size` rounds of the cohort; sizes must not fall from call to call."""
        columns = [self._feature(targets, name, size) for name in self._question.features]
        of_targets = [[column[at] for column in columns] for at in range(len(targets))]
        if self._vector is None:
            return of_targets
        return [
            [*of_features, self._max_z(target, size, self._vector, of_features)]
            for target, of_features in zip(targets, of_targets, strict=True)
        ]

    def _feature(self, targets: Sequence[CohortRound], name: str, size: int) -> list[Result]:
        """Judge one feature of targets that share their reference, so that its statistics are taken once."""
        reference = self._running[name]
        reference.grow(size)
        n, statistics = len(reference.ordered), ordered_statistics(reference.ordered)
        largest = float(self._maxima[name][n])
        found = []
        for target, count in zip(targets, _at_least(reference, targets, name), strict=True):
            value = target.values.get(name)
            z, z_reason = _robust_z(value, statistics)
            p = None if count is None else Fraction(1 + count, n + 1)
            result = Result(target.round_id, name, self._key, value, n, size - n, statistics, z, z_reason, largest, p)
            found.append(self._decided(result, is_suspect=largest >= self._log_bound))
        return found

    def _max_z(self, target: CohortRound, size: int, reference: RunningVector, of_features: Sequence[Result]) -> Result:
        vector = self._question.vector
        n = reference.count(size)
        found = Result(target.round_id, MAX_Z, self._key, None, n, size - n, z_reason=RobustZReason.NOT_APPLICABLE)
        is_suspect = any(
            (each.log_martingale_max or 0.0) >= self._log_bound for each in of_features if each.feature in vector
        )
        own = [value for name in vector if (value := target.values.get(name)) is not None]
        if len(own) < len(vector):
            return replace(found, reason=ConformalReason.VALUE_UNKNOWN)
        score = reference.score(size, own)
        if score is not None:
            found = replace(found, value=score.value, p=Fraction(1 + score.at_least, n + 1))
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


def _at_least(reference: RunningValues, targets: Sequence[CohortRound], name: str) -> list[int | None]:
    """Count, for each target, the reference values at least as large as its own; None where that is unknown."""
    values = [target.values.get(name) for target in targets]
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    counts = iter(reference.at_least_all(known).tolist() if len(known) > 1 else map(reference.at_least, known.tolist()))
    return [None if value is None else next(counts) for value in values]


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
