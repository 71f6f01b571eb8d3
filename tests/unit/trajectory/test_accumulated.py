"""AUS: what forbids it, first reason first, and the steps that are missing."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.accumulated import Accumulated, accumulated, step_gaps
from governance_pipeline.trajectory.reasons import AusReason


@pytest.mark.parametrize(
    ("surfaces", "gap", "quarantined", "known", "reason"),
    [
        ([], True, True, 0, AusReason.NO_STEPS),
        ([None], True, True, 0, AusReason.CHANGES_QUARANTINED),
        ([1.0, None], True, False, 1, AusReason.STEP_GAP),
        ([1.0, None], False, False, 1, AusReason.S_UNKNOWN),
    ],
)
def test_the_first_reason_that_holds_is_given_and_the_known_steps_are_counted(
    surfaces, gap, quarantined, known, reason
):
    found = accumulated(surfaces, has_gap=gap, has_quarantined=quarantined)
    assert found == Accumulated(None, known, reason)


def test_aus_adds_up_every_step_and_rounds_once():
    assert accumulated([0.1] * 10, has_gap=False, has_quarantined=False) == Accumulated(1.0, 10, None)


def test_a_sum_beyond_binary64_is_unknown_and_no_infinity():
    found = accumulated([1.7e308, 1.7e308], has_gap=False, has_quarantined=False)
    assert found == Accumulated(None, 2, AusReason.S_UNKNOWN)


@given(st.sets(st.integers(1, 40)))
def test_gaps_are_exactly_the_steps_below_the_last_that_are_missing(steps):
    gaps = step_gaps(sorted(steps))
    missing = {step for first, last in gaps for step in range(first, last + 1)}
    assert missing == set(range(1, max(steps, default=0))) - steps
    assert all(first <= last for first, last in gaps)
    assert all(one[1] + 1 < other[0] for one, other in itertools.pairwise(gaps))


def test_a_step_number_beyond_all_others_makes_one_gap_and_no_loop():
    assert step_gaps([1, 2**63 - 1]) == [(2, 2**63 - 2)]
