"""Frequency: each commit once per unit, and what is left out is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.touch_frequency import read_history

commits = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=12)


def test_a_commit_of_too_many_files_counts_for_no_unit_and_is_counted_itself():
    history = read_history([["a", "b", "c"], ["a"]], max_files=2)
    assert (history.frequency(["a"]), history.frequency(["c"])) == (1, 0)
    assert (history.commits_used, history.commits_left_out) == (1, 1)


def test_the_limit_is_on_distinct_files_and_belongs_to_what_counts():
    history = read_history([["a", "b", "a", "b"]], max_files=2)
    assert (history.frequency(["a"]), history.commits_left_out) == (1, 0)


def test_a_commit_that_touches_several_files_of_a_unit_counts_once():
    assert read_history([["a", "b"], ["b"]], max_files=30).frequency(["a", "b", "b"]) == 2


@pytest.mark.parametrize("files", [[], ["nowhere"]])
def test_a_unit_no_commit_touches_has_frequency_zero(files):
    assert read_history([["a"], []], max_files=30).frequency(files) == 0


@given(commits, st.integers(1, 6), st.sets(st.sampled_from("abcdef")))
def test_frequency_is_the_number_of_kept_commits_that_share_a_file_with_the_unit(given_commits, max_files, files):
    history = read_history(given_commits, max_files)
    kept = [set(commit) for commit in given_commits if len(set(commit)) <= max_files]
    assert history.frequency(files) == sum(bool(commit & files) for commit in kept)
    assert (history.commits_used, history.commits_left_out) == (len(kept), len(given_commits) - len(kept))
