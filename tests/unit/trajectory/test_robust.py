"""Robust statistics: hand-made numbers, hostile sizes, and interpolation that is never off by a rounded position."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.robust import LARGEST_VALUE, ordered_statistics, robust_z


def test_no_value_has_no_statistics():
    assert ordered_statistics(np.sort(np.empty(0))) is None


def test_one_value_is_its_own_median_and_quantiles():
    assert ordered_statistics(np.sort(np.array([5.0]))) == (1, 5, 0, 5, 5, 5, 5)


def test_an_even_number_of_values_takes_the_mean_of_the_middle_two():
    assert ordered_statistics(np.sort(np.array([4.0, 1.0, 3.0, 2.0])))[:3] == (4, 2.5, 1)


def test_without_spread_there_is_no_robust_z():
    assert robust_z(7, 5, 0) is None


def test_the_scale_is_the_one_of_the_specification():
    assert robust_z(30 + 14.826, 30, 10) == pytest.approx(1)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_ratio_beyond_all_doubles_keeps_its_sign_and_is_finite(sign):
    assert robust_z(sign * LARGEST_VALUE, 0, 5e-324) == sign * 1.7976931348623157e308


def test_the_largest_values_give_finite_statistics():
    found = ordered_statistics(np.sort(np.array([-LARGEST_VALUE, LARGEST_VALUE] * 5)))
    assert all(math.isfinite(value) for value in found)


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=60))
def test_median_mad_and_quantiles_are_the_ones_of_exact_arithmetic(values):
    found = ordered_statistics(np.sort(np.array(values, dtype=float)))
    ordered, middle = sorted(map(Fraction, values)), median(map(Fraction, values))
    wanted = [middle, median(abs(value - middle) for value in ordered)]
    for percent in (5, 25, 75, 95):
        position = Fraction(percent, 100) * (len(values) - 1)
        low = math.floor(position)
        high = min(low + 1, len(values) - 1)
        wanted.append(ordered[low] + (position - low) * (ordered[high] - ordered[low]))
    assert found[1:] == pytest.approx([float(value) for value in wanted], rel=1e-12, abs=1e-12)
