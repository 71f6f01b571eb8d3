"""Conformal results: each reason in its order, exact levels, and nothing that depends on how rounds are given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.trajectory.cohort import CohortRound
from governance_pipeline.trajectory.conformal import MAX_Z, Question, conformal_results

START = datetime(2026, 1, 1, tzinfo=UTC)


def one(round_id: str, minute: int | None, cohort: str | None = "c", baseline: str | None = None, **values):
    at = None if minute is None else START + timedelta(minutes=minute)
    return CohortRound(round_id, at, cohort, None, None, None, baseline, values)


def earlier(values, feature: str = "L") -> list[CohortRound]:
    return [one(f"r{at:03}", at, **{feature: value}) for at, value in enumerate(values)]


def ask(rounds, target, features=("L",), vector=(), alpha=Fraction(1, 10), bound=100.0):
    return conformal_results(Question(rounds, [target.round_id], features, vector, alpha, bound))


def reasons(result) -> tuple[str | None, str | None]:
    return result.reason, result.z_reason


def test_without_a_cohort_everything_but_the_value_is_unknown_even_without_a_time():
    target = one("t", None, None, L=3)
    (found,) = ask([target], target)
    assert reasons(found) == ("no_cohort", "no_cohort")
    assert (found.value, found.cohort, found.n, found.log_martingale_max) == (3, None, None, None)


def test_without_a_time_only_cohort_and_value_are_known():
    target = one("t", None, L=3)
    feature, max_z = ask([*earlier(range(20)), target], target, vector=("L",))
    assert reasons(feature) == reasons(max_z) == ("no_time", "no_time")
    assert (feature.value, feature.cohort, feature.n, feature.statistics) == (3, ("c",), None, None)
    assert max_z.value is None


@pytest.mark.parametrize("values", [{}, {"L": None}])
def test_an_unknown_value_keeps_what_is_known_of_its_reference(values):
    target = one("t", 99, **values)
    feature, max_z = ask([*earlier(range(20)), target], target, vector=("L",))
    assert reasons(feature) == ("value_unknown", "value_unknown")
    assert (feature.n, feature.statistics.median, feature.p) == (20, 9.5, None)
    assert reasons(max_z) == ("value_unknown", "not_applicable")
    assert (max_z.n, max_z.value, max_z.p) == (20, None, None)


def test_an_empty_reference_is_too_few_and_has_no_robust_z():
    target = one("t", 99, L=3)
    feature, max_z = ask([target], target, vector=("L",))
    assert reasons(feature) == ("too_few", "no_reference")
    assert (feature.n, feature.statistics, feature.log_martingale_max) == (0, None, 0)
    assert reasons(max_z) == ("too_few", "not_applicable")


@pytest.mark.parametrize(("n", "reason"), [(8, "too_few"), (9, None)])
def test_a_reference_that_can_just_reach_the_level_is_large_enough(n, reason):
    target = one("t", 99, L=3)
    assert ask([*earlier([5, 1] * 4 + [2] * (n - 8)), target], target)[0].reason == reason


def test_too_few_comes_before_a_martingale_that_tripped():
    target = one("t", 999, L=3)
    (found,) = ask([*earlier(range(20)), target], target, alpha=Fraction(1, 100))
    assert (found.reason, found.p, found.log_martingale_max > 4.6) == ("too_few", None, True)


def test_max_z_of_a_vector_that_never_varies_has_no_value():
    target = one("t", 99, L=5)
    feature, max_z = ask([*earlier([5] * 20), target], target, vector=("L",))
    assert reasons(feature) == (None, "mad_zero")
    assert feature.p == 1
    assert (max_z.reason, max_z.value, max_z.p, max_z.n) == ("mad_zero", None, None, 20)


def test_max_z_is_suspect_when_one_feature_of_its_vector_is_though_that_one_is_not_asked_alone():
    rounds = [one(f"r{at:03}", at, L=at, F=at % 3) for at in range(40)]
    target = one("t", 99, L=3, F=1)
    found = ask([*rounds, target], target, features=("F", "L"), vector=("F", "L"))
    assert [each.reason for each in found] == [None, "exchangeability_suspect", "exchangeability_suspect"]
    assert found[0].p_adjusted == found[0].p  # alone in its batch
    assert found[2].p is not None
    assert (found[2].p_adjusted, found[2].is_extreme) == (None, None)
    (alone,) = ask([*rounds, target], target, features=("F",), vector=())
    assert alone.reason is None


def test_max_z_leaves_out_rounds_with_an_unknown_term_and_says_how_many():
    rounds = [one(f"r{at:03}", at, F=at % 5, L=None if at < 3 else at % 7) for at in range(20)]
    target = one("t", 99, F=1, L=1)
    *_, max_z = ask([*rounds, target], target, features=("F", "L"), vector=("F", "L"))
    assert (max_z.n, max_z.reference_nulls) == (17, 3)


def test_the_martingale_of_a_round_sees_only_what_ended_before_it():
    rounds = earlier(range(40))
    early, late = one("early", 5, L=1), one("late", 99, L=1)
    both = conformal_results(Question([*rounds, early, late], ["early", "late"], ["L"], [], Fraction(1, 2)))
    assert [each.reason for each in both] == [None, "exchangeability_suspect"]


def test_the_bound_itself_already_trips():
    target = one("t", 999, L=3)
    rounds = [*earlier(range(40)), target]
    (found,) = ask(rounds, target)
    reached = float(np.exp(found.log_martingale_max))
    assert ask(rounds, target, bound=reached * (1 - 1e-9))[0].reason == "exchangeability_suspect"
    assert ask(rounds, target, bound=reached * (1 + 1e-9))[0].reason is None


def test_declared_and_derived_cohorts_of_the_same_words_do_not_mix():
    derived = CohortRound("d", START, None, "c", "c", "c", None, {"L": 1})
    target = one("t", 9, L=1)
    assert ask([derived, target], target)[0].n == 0


def test_features_of_other_scales_that_are_equally_far_out_are_a_tie():
    """One round is 3 MADs of 3 out in F, the target 3 MADs of 1 in L; divided by a rounded product they would differ."""
    terms = [(3, 1), (9, 2), (6, 3), (15, 2), (6, 2), (3, 1)]
    rounds = [one(f"r{at}", at, F=f, L=each) for at, (f, each) in enumerate(terms)]
    target = one("t", 99, F=9, L=5)
    assert 3 / 1.4826 > 9 / (1.4826 * 3)
    *_, max_z = ask([*rounds, target], target, features=("F", "L"), vector=("F", "L"), alpha=Fraction(1, 2))
    assert max_z.p == Fraction(2, 7)


VALUE = st.one_of(st.none(), st.integers(-3, 8), st.floats(-10, 10).map(lambda x: round(x, 1)))
ROUND = st.tuples(
    st.one_of(st.none(), st.integers(0, 12)),
    st.sampled_from([None, "c", "d"]),
    st.sampled_from([None, "1"]),
    VALUE,
    VALUE,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(ROUND, min_size=1, max_size=25), st.randoms(), st.sampled_from([Fraction(1, 5), Fraction(1, 2)]))
def test_any_rounds_give_plain_p_values_one_reason_each_and_nothing_of_their_order(rows, random, alpha):
    rounds = [one(f"r{at:02}", *row[:3], F=row[3], L=row[4]) for at, row in enumerate(rows)]
    ids = [each.round_id for each in rounds]
    found = conformal_results(Question(rounds, ids, ["F", "L"], ["F", "L"], alpha))
    turned = random.sample(rounds, len(rounds))
    assert conformal_results(Question(turned, ids, ["F", "L"], ["F", "L"], alpha)) == found
    by_id = {each.round_id: each for each in rounds}
    for result in found:
        assert (result.p_adjusted is None) == (result.is_extreme is None) == (result.reason is not None)
        if result.feature == MAX_Z or result.n is None:
            continue
        own = by_id[result.round_id]
        reference = [
            each.values[result.feature] for each in rounds
            if each.at is not None and each.at < own.at
            and (each.cohort, each.baseline_version) == (own.cohort, own.baseline_version)
        ]  # fmt: skip
        known = [value for value in reference if value is not None]
        assert (result.n, result.reference_nulls) == (len(known), len(reference) - len(known))
        if result.p is not None:
            assert result.p == Fraction(1 + sum(value >= result.value for value in known), len(known) + 1)
