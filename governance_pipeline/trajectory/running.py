"""References that grow with time: each round is compared with a prefix of its cohort, and prefixes share their work.

What belongs here: keeping the known values of a growing prefix in order, and what can be read off them. What does not:
which rounds are in a prefix (`cohort`) and what follows from a number (`conformal`). Source: spec/trajectory.md §4-5.

A prefix that grows by a round costs one insertion into a sorted array and a binary search, where sorting each prefix
anew would make a cohort of 10,000 rounds cost seconds per feature. All numbers are those `robust` gives for the prefix.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from governance_pipeline.trajectory.robust import MAD_SCALE, ordered_mad, ordered_median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_LARGEST = sys.float_info.max


class RunningValues:
    """The known values among the first `size` of a sequence, ascending; the prefix can only grow.

    Attributes:
        size: length of the prefix.
        ordered: its known values, ascending.
    """

    def __init__(self, values: NDArray[np.float64]) -> None:
        """Take the whole sequence, NaN where unknown; the prefix is empty."""
        self._values = values
        self.size = 0
        self.ordered: NDArray[np.float64] = np.empty(0)

    def grow(self, size: int) -> None:
        """Let the prefix grow to `size` items; a smaller size changes nothing."""
        added = self._values[self.size : size]
        known = np.sort(added[~np.isnan(added)])
        if not self.ordered.size:
            self.ordered = known
        elif known.size == 1:
            self.ordered = _with(self.ordered, known)
        elif known.size:
            self.ordered = np.insert(self.ordered, np.searchsorted(self.ordered, known), known)
        self.size = max(self.size, size)

    def at_least(self, value: float) -> int:
        """Count the known values that are at least `value`."""
        return len(self.ordered) - int(np.searchsorted(self.ordered, value, side="left"))

    def at_least_all(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Count, for each of many values, the known values that are at least it; gives what `at_least` gives of each.

        They are asked for in ascending order: neighbours then end at the same place of the reference, which is in the
        cache (two to five times as fast as in any order, research/performance.md W5). Equal values, which counts and
        rounded numbers mostly are, are asked for once.
        """
        order = np.argsort(values)
        ascending = values[order]
        is_first = np.ones(len(values), dtype=bool)
        np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
        starts = np.flatnonzero(is_first)
        found = len(self.ordered) - np.searchsorted(self.ordered, ascending[starts], side="left")
        counts = np.empty(len(values), dtype=np.int64)
        counts[order] = np.repeat(found, np.diff(starts, append=len(values)))
        return counts


class VectorScore(NamedTuple):
    """`max_z` of a target: its largest robust z in the pool, and how many reference rows score at least as much."""

    value: float
    at_least: int


class RunningVector:
    """The rows of a growing prefix in which every feature of the vector is known."""

    def __init__(self, columns: Sequence[NDArray[np.float64]]) -> None:
        """Take one sequence per feature, NaN where unknown."""
        table = np.column_stack(columns)
        is_complete = ~np.isnan(table).any(axis=1)
        self._complete = np.ascontiguousarray(table[is_complete].T)
        self._counts = np.concatenate([[0], np.cumsum(is_complete)])
        self._running = [RunningValues(row) for row in self._complete]

    def count(self, size: int) -> int:
        """Count the complete rows among the first `size`."""
        return int(self._counts[size])

    def score(self, size: int, own: Sequence[float]) -> VectorScore | None:
        """Score a target against the first `size` rows; sizes must not fall from call to call.

        Median and MAD are taken over reference and target together. Scaled by the reference alone a target outside it
        would be measured by a rule it had no part in, the scores would not be exchangeable, and P(p <= alpha) would
        exceed alpha. Rows are ranked by (x - median) / MAD, without the constant 1.4826, which is applied once at the
        end: two features equally far out stay equal, where dividing each by a rounded product could part them.

        Returns:
            None when every MAD is 0; features with MAD = 0 are left out.
        """
        rows = self.count(size)
        best: NDArray[np.float64] | None = None
        for running, column, value in zip(self._running, self._complete, own, strict=True):
            running.grow(rows)
            pool = _with(running.ordered, np.array([value]))
            median = ordered_median(pool)
            mad = ordered_mad(pool, median)
            if mad > 0:
                scaled = _scaled(np.append(column[:rows], value), median, mad)
                best = scaled if best is None else np.maximum(best, scaled)
        if best is None:
            return None
        target = float(best[-1])
        return VectorScore(target / MAD_SCALE, int(np.count_nonzero(best[:-1] >= target)))


def _with(ordered: NDArray[np.float64], one: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put one value into ascending ones; a tenth of the time `np.insert` takes, which handles much more."""
    at = int(np.searchsorted(ordered, one[0]))
    return np.concatenate((ordered[:at], one, ordered[at:]))


def _scaled(values: NDArray[np.float64], median: float, mad: float) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # beyond the largest double: clipped, the order is kept
        scaled: NDArray[np.float64] = np.clip((values - median) / mad, -_LARGEST, _LARGEST)
    return scaled
