"""The one score of a whole vector: its largest robust z among reference and target together.

What belongs here: the score. What does not: its p-value (`conformal`). Source: spec/trajectory.md §5.

Median and MAD are taken over reference and target together. Scaled by the reference alone a round outside it would be
measured by a rule it had no part in, the scores would not be exchangeable, and P(p <= alpha) would exceed alpha.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from governance_pipeline.trajectory.robust import MAD_SCALE, median_and_mad

if TYPE_CHECKING:
    from numpy.typing import NDArray


class MaxZ(NamedTuple):
    """Scores of a pool: the target's as a robust z, and one number per row that ranks as the score does."""

    of_target: float
    ranked: NDArray[np.float64]


def max_z_scores(pool: NDArray[np.float64]) -> MaxZ | None:
    """Score each row of a pool, one column per feature, the target last; None when every MAD is 0.

    Rows are ranked by max (x - median) / MAD, without the constant 1.4826, which is applied once to the target's: two
    features that are equally far out stay equal, where dividing each by a rounded product could part them.
    """
    scaled = []
    for column in pool.T:
        median, mad = median_and_mad(column)
        if mad > 0:
            with np.errstate(over="ignore"):  # beyond the largest double: clipped, the order is kept
                scaled.append(np.clip((column - median) / mad, -sys.float_info.max, sys.float_info.max))
    if not scaled:
        return None
    ranked = np.max(scaled, axis=0)
    return MaxZ(float(ranked[-1]) / MAD_SCALE, ranked)
