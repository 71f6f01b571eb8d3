"""Numbers of a whole round: one unknown makes them unknown, and growth counts only where evidence did not rise."""

from __future__ import annotations

import pytest

from governance_pipeline.trajectory.growth import RewrittenFile, StepState, largest, rewrite_share, unproven_growth


def steps(*states):
    return [StepState(at, surface, evidence) for at, (surface, evidence) in enumerate(states, start=1)]


@pytest.mark.parametrize("values", [[], [None], [3, None, 9]])
def test_a_peak_among_unknown_values_is_unknown(values):
    assert largest(values) is None


def test_a_peak_is_the_largest_value():
    assert largest([3, 0, 9.5]) == 9.5


@pytest.mark.parametrize(
    "states",
    [[], steps((1, None)), steps((None, 0)), steps((1, 0), (None, 0)), [StepState(2, 1, 0)], [StepState(1, 1, 0), StepState(3, 1, 0)]],
)  # fmt: skip
def test_growth_over_an_unknown_or_missing_step_is_unknown(states):
    assert unproven_growth(states) is None


@pytest.mark.parametrize(
    ("states", "growth"),
    [
        (steps((5, 0)), 5),  # from S_0 = 0, with E no larger than E_0 = 0
        (steps((5, 0.5)), 0),
        (steps((5, 0.5), (7, 0.5)), 2),
        (steps((5, 0.5), (7, 1)), 0),
        (steps((5, 0.5), (7, 0.25)), 2),  # evidence that was refuted is no evidence
        (steps((5, 0), (2, 0), (4, 0)), 7),  # shrinking gives nothing back
    ],
)
def test_growth_counts_where_evidence_did_not_rise(states, growth):
    assert unproven_growth(states) == growth


@pytest.mark.parametrize("files", [None, [], [RewrittenFile(None, 3)], [RewrittenFile(0, 0)]])
def test_without_a_base_a_count_or_a_line_the_rewritten_share_is_unknown(files):
    assert rewrite_share(files) is None


def test_a_file_deleted_twice_counts_as_its_own_lines():
    assert rewrite_share([RewrittenFile(30, 10), RewrittenFile(0, 30)]) == 0.25
