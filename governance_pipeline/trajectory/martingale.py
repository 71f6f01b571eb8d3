"""The conformal test martingale: does a sequence of values look exchangeable, or does it drift?

Under exchangeability the value stays small: it reaches a bound b with probability 1 / b at most, whenever one looks
(Ville). Deterministic mixture over the power betting functions: M_N is the integral over e in [0, 1] of the product
of e * p_i^(e - 1). Without random tie-breaking p is a little too large, which only makes M smaller.

What belongs here: ln M of a sequence. What does not: what a suspect sequence means (`conformal`).
Source: spec/trajectory.md §5.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK: Final = 2048
_NEGLIGIBLE: Final = 1e-18


def log_martingale_maxima(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give, for each length k from 0 to n, the largest ln M over the first k values (0 at least: M starts at 1).

    Args:
        values: known values in the order of time.

    Returns:
        n + 1 numbers that never fall.
    """
    counts = np.arange(1, len(values) + 1, dtype=np.float64)
    surprise = np.cumsum(np.log(counts) - np.log(1 + earlier_at_least(values)))
    maxima = np.zeros(len(values) + 1)
    # M_N <= sup over e of the integrand: 1 when a <= N, else (N/a)^N * e^(a-N). Where that cannot be a new maximum,
    # the series is not summed; without drift this leaves out more than half of it.
    above = surprise > counts
    largest = np.where(above, surprise - counts, 0.0)
    largest[above] += counts[above] * np.log(counts[above] / surprise[above])
    best = 0.0
    for at in range(len(values)):
        if largest[at] > best:
            best = max(best, log_martingale(float(surprise[at]), at + 1))
        maxima[at + 1] = best
    return maxima


def log_martingale(surprise: float, n: int) -> float:
    """Give ln M_N = ln sum over k >= 0 of a^k / ((N+1)(N+2)...(N+1+k)), in any size of a and N.

    The terms rise while N + 1 + k < a and fall afterwards; they are summed from the largest one in both directions,
    relative to it, so nothing overflows.

    Args:
        surprise: a = - sum of ln p_i; at least 0.
        n: N, how many p were seen.
    """
    if surprise <= 0:
        return -math.log(n + 1)
    peak = max(0, math.floor(surprise) - n - 1)
    log_peak = -math.log(n + 1)
    if peak:
        log_peak = peak * math.log(surprise) + math.lgamma(n + 1) - math.lgamma(n + 2 + peak)
    total, term, k = 1.0, 1.0, peak
    while term > _NEGLIGIBLE * total:
        k += 1
        term *= surprise / (n + 1 + k)
        total += term
    term, k = 1.0, peak
    while k > 0 and term > _NEGLIGIBLE * total:
        term *= (n + 1 + k) / surprise
        total += term
        k -= 1
    return log_peak + math.log(total)


def earlier_at_least(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give for each value how many earlier ones are at least as large; blocks against the sorted rest."""
    counts = np.zeros(len(values), dtype=np.int64)
    earlier = np.empty(0)
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        inside = np.tril(block[None, :] >= block[:, None], -1).sum(axis=1)
        counts[start : start + _BLOCK] = len(earlier) - np.searchsorted(earlier, block, side="left") + inside
        earlier = np.sort(np.concatenate([earlier, block]), kind="stable")
    return counts
