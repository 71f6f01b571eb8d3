"""Which rounds a round is compared with: its cohort, its baseline version, and only those that ended before it.

What belongs here: membership and order. What does not: any statistic of the values (`robust`, `conformal`).
Source: spec/trajectory.md §4.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

CohortKey = tuple[str, ...]
"""One name when declared, three when derived; the lengths keep the two kinds apart."""


@dataclass(frozen=True, slots=True)
class CohortRound:
    """One round as cohorts see it.

    Attributes:
        round_id: its id.
        at: end of the round; None when unknown.
        cohort: cohort its contract declares.
        project: first part of a derived cohort.
        task_kind: second part.
        language: third part.
        baseline_version: version it is judged against; None is a version of its own.
        values: finite value of each feature; one that is absent or None is unknown.
    """

    round_id: str
    at: datetime | None
    cohort: str | None
    project: str | None
    task_kind: str | None
    language: str | None
    baseline_version: str | None
    values: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Cohort:
    """Rounds that are comparable, in order of (time, round id); those without a time are left out.

    Attributes:
        round_ids: id of each round.
        times: end of each round.
        values: one array per feature, one item per round, NaN where unknown.
    """

    round_ids: Sequence[str]
    times: Sequence[datetime]
    values: Mapping[str, NDArray[np.float64]]

    def reference_size(self, at: datetime) -> int:
        """Give how many rounds, from the first, ended strictly before `at`: the reference of a round that ends then."""
        return bisect_left(self.times, at)


def cohort_key(of: CohortRound) -> CohortKey | None:
    """Give the declared cohort, else project x task kind x language when all three are known, else None."""
    if of.cohort is not None:
        return (of.cohort,)
    if of.project is None or of.task_kind is None or of.language is None:
        return None
    return (of.project, of.task_kind, of.language)


def cohorts(rounds: Iterable[CohortRound], features: Sequence[str]) -> dict[tuple[CohortKey, str | None], Cohort]:
    """Group rounds by (cohort, baseline version); the result does not depend on the order of `rounds`."""
    members: dict[tuple[CohortKey, str | None], list[tuple[datetime, str, CohortRound]]] = {}
    for each in rounds:
        key = cohort_key(each)
        if key is not None and each.at is not None:
            members.setdefault((key, each.baseline_version), []).append((each.at, each.round_id, each))
    return {key: _cohort(sorted(group, key=lambda item: item[:2]), features) for key, group in members.items()}


def known_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave out the unknown ones, in their order."""
    return values[~np.isnan(values)]


def _cohort(group: Sequence[tuple[datetime, str, CohortRound]], features: Sequence[str]) -> Cohort:
    values = {name: np.array([_known(each.values.get(name)) for _, _, each in group]) for name in features}
    return Cohort([round_id for _, round_id, _ in group], [at for at, _, _ in group], values)


def _known(value: float | None) -> float:
    return np.nan if value is None else float(value)
