"""Change amplification: unknowns stay unknown, frequency alone accuses nobody, edges are exact."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.amplification import (
    AmplificationRule,
    Factors,
    Signal,
    SignalReason,
    Unit,
    impact_delta,
    is_material,
    region_of,
    signals_of,
)

RULE = AmplificationRule(min_units=3)
FIRST_THREE = {Signal.TOUCHED_OUTLIER, Signal.IMPACT_INCREASE, Signal.OUTLIER_CROSSING}

number = st.integers(0, 40).map(Fraction) | st.fractions(0, 40, max_denominator=8)
factors = st.builds(Factors, st.none() | number, st.none() | number)
known = st.builds(Factors, number, number)
rules = st.builds(
    AmplificationRule, k=number, min_units=st.integers(1, 6), material_min=number, material_share=st.fractions(0, 2)
)


def units(sides, min_size=0):
    one = st.builds(Unit, st.just("u"), st.booleans(), sides, sides)
    listed = st.lists(one, min_size=min_size, max_size=12)
    return listed.map(lambda found: [replace(unit, id=f"u{at}") for at, unit in enumerate(found)])


def unit(frequency=1, impact=1, new_frequency=1, new_impact=1) -> Unit:
    sides = [None if n is None else Fraction(n) for n in (frequency, impact, new_frequency, new_impact)]
    return Unit("u", True, Factors(*sides[:2]), Factors(*sides[2:]))


def others(*products) -> list[Unit]:
    return [replace(unit(product), id=f"o{product}", is_touched=False) for product in products]


@pytest.mark.parametrize(
    ("baseline", "candidate", "reasons"),
    [
        (None, Factors(Fraction(1), Fraction(9)), ["no_baseline"] * 3),
        (None, None, ["no_baseline"] * 3),
        (Factors(Fraction(1), Fraction(1)), None, [None, "no_candidate", "no_candidate"]),
        (Factors(None, Fraction(1)), None, ["factor_unknown", "no_candidate", "no_candidate"]),
        (
            Factors(None, Fraction(1)),
            Factors(Fraction(1), Fraction(1)),
            ["factor_unknown", None, "factor_unknown"],
        ),
        (Factors(Fraction(1), None), Factors(Fraction(1), Fraction(1)), ["factor_unknown"] * 3),
        (
            Factors(Fraction(1), Fraction(1)),
            Factors(Fraction(1), None),
            [None, "factor_unknown", "factor_unknown"],
        ),
        (Factors(Fraction(0), None), Factors(Fraction(0), Fraction(1)), ["factor_unknown"] * 3),
        (Factors(Fraction(1), Fraction(1)), Factors(None, Fraction(1)), [None, None, None]),
    ],
)
def test_what_is_unknown_of_a_unit_is_null_with_the_first_reason_that_holds(baseline, candidate, reasons):
    found = signals_of(Unit("u", True, baseline, candidate), region_of(others(1, 2, 3), RULE), RULE)
    assert [found.unknown.get(signal) for signal in list(Signal)[:3]] == reasons


@given(units(factors), rules)
def test_every_null_signal_has_a_reason_and_every_known_one_has_none(given_units, rule):
    region = region_of(given_units, rule)
    for one in given_units:
        found = signals_of(one, region, rule)
        if not one.is_touched:
            assert found is None
            continue
        assert set(found.unknown) == {signal for signal in FIRST_THREE if found.values[signal] is None}
        if any(side is None or side.amplification is None for side in (one.baseline, one.candidate)):
            assert found.values[Signal.FREQUENCY_ONLY_CROSSING] is None


@given(units(factors), rules)
def test_a_region_that_is_unknown_decides_no_outlier_and_leaves_the_increase_known(given_units, rule):
    region = region_of(given_units, replace(rule, min_units=len(given_units) + 1))
    assert (region.threshold, region.reason) == (None, SignalReason.TOO_FEW)
    for one in given_units:
        found = signals_of(replace(one, is_touched=True), region, rule)
        assert found.values[Signal.TOUCHED_OUTLIER] is None
        assert found.values[Signal.OUTLIER_CROSSING] is None
        assert (found.values[Signal.IMPACT_INCREASE] is None) == (impact_delta(one) is None)


@given(units(known, min_size=1), rules, number)
def test_more_frequency_alone_is_never_a_crossing_and_never_an_increase(given_units, rule, more):
    region = region_of(given_units, rule)
    for one in given_units:
        busier = Factors(one.baseline.frequency + more, one.baseline.impact)
        found = signals_of(replace(one, is_touched=True, candidate=busier), region, rule).values
        assert found[Signal.IMPACT_INCREASE] is False
        assert found[Signal.OUTLIER_CROSSING] in (False, None)


@given(units(known, min_size=1), rules, number)
def test_the_new_frequency_changes_no_signal_but_the_one_that_is_only_reported(given_units, rule, frequency):
    region = region_of(given_units, rule)
    for one in given_units:
        touched = replace(one, is_touched=True)
        other = replace(touched, candidate=Factors(frequency, one.candidate.impact))
        before, after = (signals_of(side, region, rule).values for side in (touched, other))
        assert {name: before[name] for name in FIRST_THREE} == {name: after[name] for name in FIRST_THREE}


@given(units(known), rules, st.randoms(use_true_random=False))
def test_the_region_depends_on_the_baseline_only_and_not_on_order_or_touch(given_units, rule, random):
    shuffled = [replace(one, is_touched=not one.is_touched, candidate=None) for one in given_units]
    random.shuffle(shuffled)
    assert region_of(shuffled, rule) == region_of(given_units, rule)


@given(units(known, min_size=1), rules)
def test_a_crossing_by_frequency_is_reported_only_where_impact_alone_crosses_nothing(given_units, rule):
    region = region_of(given_units, rule)
    for one in given_units:
        found = signals_of(replace(one, is_touched=True), region, rule).values
        raised = [name for name in Signal if found[name] and name is not Signal.IMPACT_INCREASE]
        assert len(raised) <= 1


def test_without_any_known_product_nothing_but_the_reason_is_given():
    region = region_of([Unit("new", True, None, Factors()), unit(None)], RULE)
    assert region == type(region)(0, None, None, None, SignalReason.TOO_FEW)


def test_too_few_comes_before_a_mad_of_zero_and_keeps_median_and_mad():
    region = region_of(others(4, 4), RULE)
    assert (region.median, region.mad, region.reason) == (4, 0, SignalReason.TOO_FEW)


def test_a_product_on_the_threshold_is_no_outlier():
    region = region_of(others(1, 2, 3), RULE)
    assert region.threshold == 2 + 3 * Fraction("1.4826")
    assert region.contains(region.threshold) is False
    assert region.contains(region.threshold + Fraction(1, 10**20)) is True


@pytest.mark.parametrize(
    ("before", "after", "rule", "expected"),
    [
        (3, "3.99", RULE, False),
        (3, 4, RULE, True),
        (15, 18, RULE, True),
        (15, "17.99", RULE, False),
        (0, 1, RULE, True),
        (0, 0, replace(RULE, material_min=Fraction(0)), False),
        (5, 4, replace(RULE, material_min=Fraction(0)), False),
        (10, 21, replace(RULE, material_share=Fraction("1.1")), True),
    ],
)
def test_growth_is_material_from_one_unit_and_a_fifth_on_to_the_last_digit(before, after, rule, expected):
    assert is_material(unit(impact=before, new_impact=after), rule) is expected


def test_more_impact_at_the_old_frequency_crosses_and_frequency_is_not_blamed():
    region = region_of(others(1, 2, 3), RULE)
    found = signals_of(unit(2, 1, 9, 9), region, RULE).values
    assert (found[Signal.OUTLIER_CROSSING], found[Signal.FREQUENCY_ONLY_CROSSING]) == (True, False)


def test_a_product_that_needs_the_new_frequency_to_enter_is_only_reported():
    region = region_of(others(1, 2, 3), RULE)
    found = signals_of(unit(1, 3, 2, 4), region, RULE).values
    assert (found[Signal.OUTLIER_CROSSING], found[Signal.FREQUENCY_ONLY_CROSSING]) == (False, True)
