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


def robust_statistics(known: NDArray[np.float64]) -> RobustStatistics | None:
    """Give the statistics of known values (finite, at most `LARGEST_VALUE`); None when there is none."""
    if not known.size:
        return None
    ordered = np.sort(known)
    median, mad = median_and_mad(ordered)
    q05, q25, q75, q95 = (_percentile(ordered, percent) for percent in (5, 25, 75, 95))
    return RobustStatistics(len(ordered), median, mad, q05, q25, q75, q95)


def median_and_mad(known: NDArray[np.float64]) -> tuple[float, float]:
    """Give median and MAD of at least one value; an even number of values has the mean of the middle two."""
    median = float(np.median(known))
    return median, float(np.median(np.abs(known - median)))


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
