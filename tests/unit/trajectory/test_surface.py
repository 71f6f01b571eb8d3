"""F, L, M, P, H and D of arrays against a plain count, event by event, on changes nobody would make."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.modules import ModuleMap
from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.trajectory.files import event_files
from governance_pipeline.trajectory.rules import RoundRules
from governance_pipeline.trajectory.surface import surface_sum
from governance_pipeline.trajectory.terms import Counted, counted
from governance_pipeline.vocabulary import ContractState

INCLUDE, PUBLIC = ("src/**", "!src/gen/"), ("api/",)
RULES = {
    name: RoundRules(
        name, ContractState.VALID, Globs(INCLUDE), Globs(PUBLIC), ModuleMap(rule=rule), True, None, (rule,)
    )
    for name, rule in (("r-1", "dir:1"), ("r-2", "dir:2"))
}
PATHS = [
    "a.py",
    "./a.py",
    "src/a.py",
    "src/x/../a.py",
    "src/gen/b",
    "src/api/c",
    "../up",
    "/abs",
    "docs/é.md",
    "x\ny",
    "x\0y",
    "x",
]
LINES = st.one_of(st.none(), st.integers(0, 3), st.sampled_from([2**61, 2**62, 2**63 - 1]))
FILES = st.lists(
    st.tuples(st.sampled_from(PATHS), LINES, LINES, st.sampled_from([None, None, "m", "m\0", "src"])), max_size=6
)


def frame(events) -> pd.DataFrame:
    rows = [(at, *file) for at, (_, files) in enumerate(events) for file in files]
    columns = {
        name: [row[i] for row in rows] for i, name in enumerate(["event", "file_path", "added", "deleted", "module"])
    }
    return pd.DataFrame(
        {
            "event": pd.array(columns["event"], dtype="int64"),
            "file_path": pd.array(columns["file_path"], dtype="string"),
            "added_count": pd.array(columns["added"], dtype="Int64"),
            "deleted_count": pd.array(columns["deleted"], dtype="Int64"),
            "module": pd.array(columns["module"], dtype="string"),
        }
    )


def counts(events) -> list[Counted]:
    return counted(event_files(frame(events), [RULES[name] for name, _ in events]))


def by_hand(name: str, files) -> Counted:
    """The same count, file by file in plain Python."""
    rules, churn, named = RULES[name], defaultdict(int), {}
    for written, added, deleted, own in files:
        path = normal_form(written)
        known = churn[path] is not None and added is not None and deleted is not None
        churn[path] = churn[path] + added + deleted if known else None
        named.setdefault(path, own)
        named[path] = named[path] or own
    module = {path: rules.modules.module(path, named[path]) for path in churn}
    lines = None if None in churn.values() or any(n >= 2**62 for n in churn.values()) else sum(churn.values())
    lines = None if lines is not None and lines >= 2**62 else lines
    weights = defaultdict(int)
    for path in churn:
        weights[module[path]] += churn[path] if lines else 1
    total = sum(weights.values())
    entropy = -sum(w / total * math.log(w / total) for w in weights.values() if w)
    return Counted(
        files=len(churn),
        churn=lines,
        modules=len(weights),
        public=sum(map(rules.public.match, churn)),
        entropy=0.0 if len(weights) < 2 else None if lines is None else entropy,
        outside=sum(not rules.include.match(path) for path in churn),
        are_modules_named=all(named.values()),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(RULES)), FILES), max_size=5))
def test_arrays_count_as_one_would_by_hand(events):
    for found, (name, files) in zip(counts(events), events, strict=True):
        expected = by_hand(name, files)
        assert replace(found, entropy=None) == replace(expected, entropy=None)
        assert (found.entropy is None) == (expected.entropy is None)
        assert (found.entropy or 0) == pytest.approx(expected.entropy or 0, abs=1e-12, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(RULES)), FILES), min_size=1, max_size=5))
def test_what_an_event_counts_does_not_depend_on_other_events_to_the_last_bit(events):
    together = counts(events)
    assert [counts([event])[0] for event in events] == together


@settings(max_examples=30, deadline=None)
@given(FILES, st.randoms())
def test_the_order_in_which_files_are_listed_changes_nothing(files, random):
    files = [(path, added, deleted, None) for path, added, deleted, _ in files]
    shuffled = list(files)
    random.shuffle(shuffled)
    assert counts([("r-1", files)]) == counts([("r-1", shuffled)])


def test_a_churn_beyond_what_a_column_holds_is_unknown_and_never_wraps_to_a_small_number():
    half = [(f"src/{n}.py", 2**61, 0, None) for n in range(8)]
    assert [c.churn for c in counts([("r-1", half[:1]), ("r-1", half[:2]), ("r-1", half)])] == [2**61, None, None]


def test_a_repeated_path_is_one_file_in_the_first_module_it_is_listed_with():
    (count,) = counts([("r-1", [("src/a.py", 1, 0, None), ("./src/a.py", 2, 0, "x"), ("src/a.py", 3, 0, "y")])])
    assert (count.files, count.churn, count.modules, count.are_modules_named) == (1, 6, 1, True)


def test_one_unknown_file_leaves_the_lines_unknown_but_not_the_entropy_of_a_single_module():
    one, two = counts([
        ("r-1", [("src/a", 1, 0, None), ("src/b", None, 0, None)]),
        ("r-1", [("src/a", 1, 0, None), ("docs/b", 1, None, None)]),
    ])  # fmt: skip
    assert (one.churn, one.entropy) == (None, 0.0)
    assert (two.churn, two.entropy) == (None, None)


def test_entropy_of_equal_modules_is_the_logarithm_of_their_number_and_never_minus_zero():
    events = [("r-1", [(f"{m}/f", 5, 5, None) for m in "abcd"[:n]]) for n in range(5)]
    found = [count.entropy for count in counts(events)]
    assert found == pytest.approx([0, 0, math.log(2), math.log(3), math.log(4)], rel=1e-15)
    assert [math.copysign(1, value) for value in found] == [1] * 5


def test_no_events_and_events_without_files_are_counted_too():
    assert counts([]) == []
    assert counts([("r-1", [])]) == [Counted(0, 0, 0, 0, 0.0, 0, True)]


@pytest.mark.parametrize("unknown", range(6))
def test_s_is_unknown_when_any_one_term_is(unknown):
    terms: list[float | None] = [1, 2, 3, 4, 0.5, 0.25]
    assert surface_sum(terms) == 10.75
    terms[unknown] = None
    assert surface_sum(terms) is None


def test_s_is_rounded_once_so_the_order_of_terms_is_free():
    terms = [1, 10**16, 1, 0, 0.5, 0.5]
    assert {surface_sum(np.roll(terms, n).tolist()) for n in range(6)} == {float(10**16 + 3)}
