"""Known and new findings: from parent to parent, whatever the order, and unknown where a parent is not at hand."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.verdict.baseline import ancestors, baselines

ROUNDS = ["r1", "r2", "r3", "r4"]


def test_a_parent_that_is_not_at_hand_leaves_known_and_new_unknown():
    found = baselines({"r2": "r1"}, {"r2": ["x"]})["r2"]
    assert (found.round_id, found.is_known("x"), found.first_seen_in("x", "r2")) == ("r1", None, None)


def test_a_circle_of_parents_ends_and_its_oldest_member_has_no_baseline():
    found = baselines({"r1": "r2", "r2": "r1"}, {"r1": ["x"], "r2": ["x"]})
    assert {found["r1"].is_known("x"), found["r2"].is_known("x")} == {None, True}
    assert baselines({"r1": "r1"}, {"r1": ["x"]})["r1"].is_known("x") is None


def test_a_round_that_continues_none_has_only_new_findings():
    found = baselines({"r1": None}, {"r1": ["x"]})["r1"]
    assert (found.is_known("x"), found.first_seen_in("x", "r1")) == (False, "r1")


def test_a_finding_is_first_seen_in_the_earliest_round_of_an_unbroken_line():
    parents = {"r1": None, "r2": "r1", "r3": "r2", "r4": "r3"}
    found = baselines(parents, {"r1": ["x"], "r2": ["x"], "r3": [], "r4": ["x"]})
    assert [found[r].first_seen_in("x", r) for r in ROUNDS] == ["r1", "r1", "r1", "r4"]
    assert [found[r].is_known("x") for r in ROUNDS] == [False, True, True, False]


def test_where_the_line_begins_at_a_missing_parent_first_seen_is_unknown():
    found = baselines({"r2": "r1", "r3": "r2"}, {"r2": ["x"], "r3": ["x", "y"]})["r3"]
    assert (found.is_known("x"), found.first_seen_in("x", "r3")) == (True, None)
    assert (found.is_known("y"), found.first_seen_in("y", "r3")) == (False, "r3")


@given(
    st.dictionaries(st.sampled_from(ROUNDS), st.sampled_from([None, *ROUNDS]), min_size=1),
    st.dictionaries(st.sampled_from(ROUNDS), st.lists(st.sampled_from("xyz"), unique=True)),
    st.integers(0, 9),
)
def test_lines_without_a_circle_do_not_depend_on_the_order_of_rounds(parents, fingerprints, seed):
    line = {r: p if p is None or p < r else None for r, p in parents.items()}
    marks = {r: fingerprints.get(r, []) for r in line}
    shuffled = list(line)
    random.Random(seed).shuffle(shuffled)
    assert baselines({r: line[r] for r in shuffled}, marks) == baselines(line, marks)


def test_ancestors_are_listed_once_without_the_rounds_themselves_and_a_circle_ends():
    parents = {"r4": "r3", "r3": "r1", "r2": "r1", "r1": "r4"}
    assert ancestors(["r4", "r2"], parents.get) == ["r3", "r1"]
    assert ancestors(["r2"], {"r2": None}.get) == []
