"""A time limit rests on units that were measured: an invented one is refused, and its interval is exact."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.safety_checks import enforce
from governance_pipeline.framework.timeouts import (
    TimeoutFault,
    derive_timeout_from_percentiles,
    least_sample,
    nearest_rank,
    percentile_interval,
)


def _durations(n, seed=20261130):
    dice = random.Random(seed)
    return [dice.expovariate(1) for _ in range(n)]


@pytest.mark.parametrize(
    ("sample", "code"),
    [
        (60, TimeoutFault.NO_SAMPLE),
        (3600.0, TimeoutFault.NO_SAMPLE),
        (None, TimeoutFault.NO_SAMPLE),
        ("60", TimeoutFault.NO_SAMPLE),
        ([], TimeoutFault.NO_SAMPLE),
        (iter(()), TimeoutFault.NO_SAMPLE),
        ([30.0], TimeoutFault.SAMPLE_TOO_SMALL),
        ([30.0] * 99, TimeoutFault.SAMPLE_TOO_SMALL),
        ([1.0] * 200 + [math.nan], TimeoutFault.NOT_FINITE),
        ([1.0] * 200 + [math.inf], TimeoutFault.NOT_FINITE),
        ([1.0] * 200 + [Decimal("sNaN")], TimeoutFault.NOT_FINITE),
        ([1.0] * 200 + [10**400], TimeoutFault.NOT_FINITE),
        ([1.0] * 200 + [-0.5], TimeoutFault.NEGATIVE),
        ([1.0] * 200 + ["2"], TimeoutFault.NOT_A_DURATION),
        ([1.0] * 200 + [None], TimeoutFault.NOT_A_DURATION),
        ([1.0] * 200 + [True], TimeoutFault.NOT_A_DURATION),
        ([0.0] * 200, TimeoutFault.NO_VARIATION),
    ],
)
def test_a_limit_without_a_real_sample_behind_it_is_refused(sample, code):
    derived = derive_timeout_from_percentiles(sample)
    assert (derived.ok, derived.reason_code, derived.threshold_s) == (False, code, None)
    with pytest.raises(FrameworkRefused, match=f"^{code.upper()}: "):
        enforce(derived)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"percentile": 0}, TimeoutFault.BAD_PERCENTILE),
        ({"percentile": 100}, TimeoutFault.BAD_PERCENTILE),
        ({"percentile": math.nan}, TimeoutFault.BAD_PERCENTILE),
        ({"percentile": "99"}, TimeoutFault.BAD_PERCENTILE),
        ({"confidence": 1}, TimeoutFault.BAD_PERCENTILE),
        ({"safety_multiplier": 0.9}, TimeoutFault.BAD_MULTIPLIER),
        ({"safety_multiplier": math.inf}, TimeoutFault.BAD_MULTIPLIER),
        ({"safety_multiplier": None}, TimeoutFault.BAD_MULTIPLIER),
        ({"minimum_n": 1000}, TimeoutFault.SAMPLE_TOO_SMALL),
        ({"minimum_n": 1, "percentile": 99.9}, TimeoutFault.SAMPLE_TOO_SMALL),
    ],
)
def test_a_parameter_that_would_make_the_limit_meaningless_is_refused(arguments, code):
    assert derive_timeout_from_percentiles(_durations(500), **arguments).reason_code is code


def test_the_limit_is_a_measured_duration_times_the_multiplier_with_its_evidence():
    sample = list(range(1, 301))
    derived = enforce(derive_timeout_from_percentiles(sample, 99, 1.5))
    assert (derived.percentile_s, derived.threshold_s, derived.n, derived.least_n) == (297, 445.5, 300, 100)
    assert derived.evidence_s == {50: 150, 90: 270, 95: 285, 99: 297, 100: 300}
    assert derived.interval_s[0] <= derived.percentile_s


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, iter, lambda v: [Decimal(str(x)) for x in v]])
def test_any_series_of_numbers_is_a_sample(kind):
    sample = _durations(200)
    assert derive_timeout_from_percentiles(kind(sample)).threshold_s == pytest.approx(
        derive_timeout_from_percentiles(sample).threshold_s
    )


@pytest.mark.parametrize(("percentile", "n"), [(50, 10), (90, 10), (95, 20), (99, 100), (99.9, 1000), (1, 10)])
def test_a_percentile_needs_so_many_durations_that_one_is_expected_beyond_it(percentile, n):
    assert least_sample(percentile) == n


def test_a_sample_too_small_to_bound_the_percentile_from_above_says_so():
    assert derive_timeout_from_percentiles(_durations(298)).interval_s[1] is None
    # 1 - 0.99 ** n >= 0.975 from n = 368 on: half of the 5 % belongs to the upper end.
    assert derive_timeout_from_percentiles(_durations(367)).interval_s[1] is None
    assert derive_timeout_from_percentiles(_durations(368)).interval_s[1] == max(_durations(368))


def _exact_interval(n, percentile, confidence):
    p, tail = Fraction(percentile, 100), (1 - Fraction(str(confidence))) / 2
    cumulated, total = [], Fraction(0)
    for k in range(n + 1):
        total += math.comb(n, k) * p**k * (1 - p) ** (n - k)
        cumulated.append(total)
    lower = max((rank for rank in range(1, n + 1) if cumulated[rank - 1] <= tail), default=None)
    upper = min((rank for rank in range(1, n + 1) if 1 - cumulated[rank - 1] <= tail), default=None)
    return lower, upper


@pytest.mark.parametrize("n", [10, 47, 300])
@pytest.mark.parametrize("percentile", [1, 50, 90, 99])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_the_interval_is_that_of_exact_arithmetic(n, percentile, confidence):
    assert percentile_interval(list(range(1, n + 1)), percentile, confidence) == _exact_interval(
        n, percentile, confidence
    )


def test_the_interval_holds_the_true_percentile_as_often_as_it_says():
    true, held, trials = -math.log(0.1), 0, 600
    for seed in range(trials):
        low, high = percentile_interval(sorted(_durations(120, seed)), 90, 0.95)
        held += low <= true <= high
    assert held / trials >= 0.93  # 0.95 less two standard errors of 600 trials


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.floats(0.5, 99.5))
def test_nearest_rank_is_the_smallest_value_that_enough_of_the_sample_does_not_exceed(sample, percentile):
    ordered = sorted(sample)
    found = nearest_rank(ordered, percentile)
    share = sum(value <= found for value in ordered) / len(ordered)
    assert share >= percentile / 100 - 1e-9
    assert all(
        sum(v <= smaller for v in ordered) / len(ordered) < percentile / 100 for smaller in ordered if smaller < found
    )


@pytest.mark.long
def test_a_million_durations_give_an_interval_around_the_percentile():
    derived = derive_timeout_from_percentiles(_durations(1_000_000))
    low, high = derived.interval_s
    assert low < -math.log(0.01) < high
    assert high - low < 0.1
