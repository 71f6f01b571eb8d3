"""Benjamini-Hochberg within one batch, exact.

What belongs here: the adjustment of p-values. What does not: which of them are in the batch (`conformal`).
Source: spec/trajectory.md §5; Benjamini and Hochberg 1995.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def adjusted(batch: Sequence[Fraction]) -> list[Fraction]:
    """Give min(1, min over j >= rank of m * p_(j) / j) of each p-value, in the order given; m is their number."""
    m = len(batch)
    order = sorted(range(m), key=batch.__getitem__)
    steps = (m * batch[order[rank - 1]] / rank for rank in range(m, 0, -1))
    result = [Fraction(1)] * m
    for at, value in zip(reversed(order), accumulate(steps, min), strict=True):
        result[at] = min(Fraction(1), value)
    return result
