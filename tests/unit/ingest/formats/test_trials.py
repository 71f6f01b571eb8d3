"""pass^k and pass@k are exact, and unknown where a trial is unknown or missing."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.ingest.formats.trials import LARGEST_K, Trial, add_trials, all_pass, any_passes
from governance_pipeline.strict.numbers import exact_number


class Rows:
    def __init__(self):
        self.rows = []

    def component(self, source, row_index, columns):
        self.rows.append((source, row_index, {name: value for name, (_, value) in columns.items()}))


def added(outcomes, k, passing=all_pass):
    """Add trials given as {task: outcomes}; give the counts of each task."""
    rows = Rows()
    trials = [Trial(task, outcome, None) for task, found in outcomes.items() for outcome in found]
    add_trials(rows, "tasks", trials, k, passing)
    assert [(source, number) for source, number, _ in rows.rows] == [("tasks", n + 1) for n in range(len(outcomes))]
    return [counts for _, _, counts in rows.rows]


UNKNOWN = {"passing": None, "of": None}


def test_an_unknown_trial_makes_its_task_unknown_and_no_other():
    assert added({"a": [True, None], "b": [True, False]}, 1) == [UNKNOWN, {"passing": 1, "of": 2}]


def test_a_task_with_fewer_trials_than_k_is_unknown():
    assert added({"a": [True], "b": [True, True]}, 2) == [UNKNOWN, {"passing": 1, "of": 1}]


@pytest.mark.parametrize("k", [0, -1, LARGEST_K + 1, 10**9])
def test_a_k_nobody_declares_costs_nothing_and_is_unknown(k):
    assert added({"a": [True] * 3}, k) == [UNKNOWN]


def test_counts_beyond_an_exact_number_are_unknown():
    assert added({"a": [True] * 400}, LARGEST_K) == [UNKNOWN]


def test_no_trial_at_all_adds_no_row():
    assert added({}, 1) == []


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=5), st.integers(1, 4))
def test_the_mean_over_tasks_is_that_of_counting_every_subset(tasks, k):
    tasks = [found for found in tasks if len(found) >= k]
    for passing, holds in ((all_pass, all), (any_passes, any)):
        counts = added(dict(enumerate(tasks)), k, passing)
        shares = [
            Fraction(sum(holds(subset) for subset in combinations(found, k)), comb(len(found), k)) for found in tasks
        ]
        if tasks:
            total = Fraction(sum(c["passing"] for c in counts), sum(c["of"] for c in counts))
            assert total == sum(shares) / len(shares)
            assert all(exact_number(str(c["of"])) is not None for c in counts)
