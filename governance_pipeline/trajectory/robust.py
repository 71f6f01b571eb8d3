"""Median, MAD, robust z and quantiles of a reference; no normality anywhere.

What belongs here: statistics of one array of known values. What does not: which values are in it (`cohort`).
Source: spec/trajectory.md §4.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAD_SCALE: Final = 1.4826
"""Makes MAD estimate the standard deviation of normal data (1 / 0.6745, rounded as the specification writes it)."""

LARGEST_VALUE: Final = 1e307
"""Largest magnitude a value may have: differences and means of two such values are still finite."""


class RobustStatistics(NamedTuple):
    """Of the n known values of a reference: median, median of |x - median|, and four quantiles."""

    n: int
    median: float
    mad: float
    q05: float
    q25: float
    q75: float
    q95: float


def ordered_statistics(ordered: NDArray[np.float64]) -> RobustStatistics | None:
    """Give the statistics of ascending values (finite, at most `LARGEST_VALUE`); None when there is none.

    Costs a few binary searches, not a pass over the values.
    """
    if not ordered.size:
        return None
    median = ordered_median(ordered)
    mad = ordered_mad(ordered, median)
    q05, q25, q75, q95 = (_percentile(ordered, percent) for percent in (5, 25, 75, 95))
    return RobustStatistics(len(ordered), median, mad, q05, q25, q75, q95)


def ordered_median(ordered: NDArray[np.float64]) -> float:
    """Give the median of at least one ascending value."""
    middle = len(ordered) // 2
    return float(ordered[middle]) if len(ordered) % 2 else float((ordered[middle - 1] + ordered[middle]) / 2)


def ordered_mad(ordered: NDArray[np.float64], median: float) -> float:
    """Give the median of |value - median| of at least one ascending value.

    The differences below the median and those above are two ascending sequences, so the middle ones are found by a
    binary search over how many come from below.
    """
    split = int(np.searchsorted(ordered, median))
    high = _nearest(ordered, split, median, len(ordered) // 2)
    if len(ordered) % 2:
        return high
    return (_nearest(ordered, split, median, len(ordered) // 2 - 1) + high) / 2


def _nearest(ordered: NDArray[np.float64], split: int, median: float, rank: int) -> float:
    """Give the difference to the median that has `rank` (from 0) among all; values from `split` on are not below it."""
    above = len(ordered) - split
    low, high = max(0, rank + 1 - above), min(rank + 1, split)  # how many of the rank + 1 nearest lie below
    while low < high:
        below = (low + high) // 2
        # One more from below belongs in as long as it is nearer than the last one taken from above.
        if median - ordered[split - 1 - below] < ordered[split + rank - below] - median:
            low = below + 1
        else:
            high = below
    from_below = float(median - ordered[split - low]) if low else 0.0
    from_above = float(ordered[split + rank - low] - median) if low <= rank else 0.0
    return max(from_below, from_above)


def robust_z(value: float, median: float, mad: float) -> float | None:
    """Give (value - median) / (1.4826 * MAD); None when MAD is 0.

    A ratio beyond the largest double is given as that double with its sign: the order is kept.
    """
    if mad == 0:
        return None
    scaled = (value - median) / (MAD_SCALE * mad)
    return scaled if math.isfinite(scaled) else math.copysign(sys.float_info.max, scaled)


def _percentile(ordered: NDArray[np.float64], percent: int) -> float:
    """Interpolate linearly at percent / 100 * (n - 1); the position is kept in integers, so that it is never off."""
    at, hundredths = divmod(percent * (len(ordered) - 1), 100)
    low = float(ordered[at])
    return low if hundredths == 0 else low + (float(ordered[at + 1]) - low) * (hundredths / 100)
