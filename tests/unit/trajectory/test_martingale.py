"""The martingale is what its integral says, in any size, and counts every earlier value that is at least as large."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.trajectory.martingale import earlier_at_least, log_martingale, log_martingale_maxima


def by_parts(surprise: float, n: int) -> float:
    """Give ln of the integral of e^N * exp(a (1 - e)) by repeated integration by parts, with a thousand digits."""
    with localcontext(prec=1000):
        a = Decimal(surprise)
        value = (a.exp() - 1) / a
        for k in range(1, n + 1):
            value = (k * value - 1) / a
        return float(value.ln())


@pytest.mark.parametrize(
    ("surprise", "n"),
    [
        (1e-3, 1),
        (0.5, 1),
        (42.3356, 20),
        (20, 20),
        (3, 20),
        (363.7, 100),
        (100, 100),
        (5912.1, 1000),
        (990, 1000),
        (2000, 3),
    ],
)
def test_the_series_is_the_integral_it_stands_for(surprise, n):
    assert log_martingale(surprise, n) == pytest.approx(by_parts(surprise, n), rel=1e-11, abs=1e-11)


def test_without_any_surprise_the_martingale_only_pays():
    assert log_martingale(0.0, 9) == pytest.approx(-math.log(10))


def test_a_cohort_of_ten_million_neither_overflows_nor_takes_long():
    assert math.isfinite(log_martingale(1.5e8, 10**7))


def test_no_value_gives_the_start_of_the_martingale():
    assert log_martingale_maxima(np.empty(0)).tolist() == [0.0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=40))
def test_the_largest_value_of_each_prefix_is_the_one_of_the_plain_definition(values):
    surprise, best, wanted = 0.0, 0.0, [0.0]
    for i, value in enumerate(values, start=1):
        surprise -= math.log((1 + sum(earlier >= value for earlier in values[: i - 1])) / i)
        best = max(best, log_martingale(surprise, i))
        wanted.append(best)
    assert log_martingale_maxima(np.array(values, dtype=float)) == pytest.approx(wanted, abs=1e-9)


def test_counts_over_several_blocks_are_the_plain_counts():
    values = np.random.default_rng(1).integers(0, 50, 5000).astype(float)
    found = earlier_at_least(values)
    assert all(found[at] == np.count_nonzero(values[:at] >= values[at]) for at in range(0, 5000, 7))
