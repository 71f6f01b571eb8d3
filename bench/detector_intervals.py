"""Intervals around measured shares: Wilson for one share, a paired bootstrap for a difference of two sides.

What belongs here: arithmetic. What does not: what is counted.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Z95 = 1.959963984540054
"""97.5 % point of the normal distribution: 95 % lie between it and its negative."""

RESAMPLES = 2_000


class Interval(NamedTuple):
    """A share and the 95 % interval around it, all 0 to 1."""

    share: float
    low: float
    high: float


def wilson(hits: int, of: int) -> Interval | None:
    """Give hits / of with the 95 % interval of Wilson (1927), which holds for shares near 0 and 1; None of nothing."""
    if not of:
        return None
    share, square = hits / of, Z95 * Z95
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z95 / (1 + square / of) * (share * (1 - share) / of + square / (4 * of * of)) ** 0.5
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


def paired_difference(
    left: Sequence[Any], right: Sequence[Any], score: Callable[[Sequence[Any]], float], seed: int
) -> Interval:
    """Give score(left) - score(right) and its 95 % interval; position i of both sides is the same case.

    The same cases are drawn for both sides each time, so what makes a case hard for both does not widen the interval.
    """
    if len(left) != len(right) or not left:
        raise ValueError(f"pairs are needed: {len(left)} cases on one side, {len(right)} on the other")
    dice = random.Random(seed)
    differences = []
    for _ in range(RESAMPLES):
        drawn = dice.choices(range(len(left)), k=len(left))
        differences.append(score([left[at] for at in drawn]) - score([right[at] for at in drawn]))
    differences.sort()
    tail = int(RESAMPLES * 0.025)
    return Interval(score(left) - score(right), differences[tail], differences[-tail - 1])
