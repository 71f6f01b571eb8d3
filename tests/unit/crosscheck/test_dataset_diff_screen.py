"""Screening chooses rows by their hashes: what it leaves out is said, what it says of keys and rows is exact."""

from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck import dataset_diff_screen
from governance_pipeline.crosscheck.dataset_diff import KeyFault, Method, compare_datasets_by_primary_key
from governance_pipeline.crosscheck.dataset_diff_values import tolerance
from governance_pipeline.errors import UnreadableError, UsageError


def both(old, new, key="id", **more):
    """Return the exact and the screened answer, the method left out of the second."""
    exact = compare_datasets_by_primary_key(old, new, key, **more)
    screened = compare_datasets_by_primary_key(old, new, key, screen=True, **more)
    assert screened.method is Method.SCREENED
    return exact, replace(screened, method=Method.EXACT)


@pytest.fixture
def no_buckets(monkeypatch):
    """Fail where buckets are asked: the test is about slots."""

    def refuse(*_):
        raise AssertionError("the slots were not used")

    monkeypatch.setattr("governance_pipeline.crosscheck.dataset_diff_join.by_buckets", refuse)


@pytest.mark.parametrize("at", [0, 1, 999], ids=["first", "second", "last"])
@pytest.mark.parametrize("repeated_side", ["old", "new"])
def test_one_repeated_key_is_refused_wherever_it_stands(at, repeated_side):
    ids = np.arange(1000)
    twice = ids.copy()
    twice[at] = 500
    sides = {"old": ids, "new": ids} | {repeated_side: twice}
    exact, screened = both(*(pa.table({"id": sides[name], "v": ids}) for name in ("old", "new")))
    assert screened == exact
    assert screened.reason_code is KeyFault.DUPLICATE
    assert getattr(screened, repeated_side).key.examples == (("500",),)


def test_a_repeated_key_is_refused_even_when_a_missing_one_keeps_the_count():
    """Rows and distinct keys of both sides together agree; only each side by itself shows the fault."""
    old, new = pa.table({"id": [1, 1, 2], "v": [7, 7, 7]}), pa.table({"id": [1, 2, 3], "v": [7, 7, 7]})
    for sides in ((old, new), (new, old)):
        exact, screened = both(*sides)
        assert screened == exact
        assert screened.reason_code is KeyFault.DUPLICATE


@pytest.mark.parametrize("side", [0, 1])
def test_a_null_key_is_refused(side):
    tables = [pa.table({"id": [1, 2], "v": [7, 7]}), pa.table({"id": [1, 2], "v": [7, 7]})]
    tables[side] = pa.table({"id": pa.array([1, None]), "v": [7, 7]})
    exact, screened = both(*tables)
    assert screened == exact
    assert screened.reason_code is KeyFault.NULL


def test_a_damaged_page_is_an_error_with_its_reason(tmp_path):
    path = tmp_path / "new.parquet"
    ids = np.arange(200_000)
    pq.write_table(pa.table({"id": ids, "v": ids * 1.0}), path, compression="zstd", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4000] = b"\xff" * 4000
    path.write_bytes(data)
    with pytest.raises(UnreadableError, match="cannot be"):
        compare_datasets_by_primary_key(pa.table({"id": ids, "v": ids * 1.0}), path, "id", screen=True)


def test_a_key_beyond_the_range_seen_before_says_that_the_side_changed(monkeypatch):
    monkeypatch.setattr(dataset_diff_screen, "_range", lambda *_: ((2, 2), 1, 2))
    old = pa.table({"id": [1, 900], "v": [7, 7]})
    with pytest.raises(UnreadableError, match="changed while it was read"):
        compare_datasets_by_primary_key(old, old, "id", screen=True)


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([-(2**63), -(2**63) + 1, -(2**63) + 2], pa.int64()),
        pa.array([2**63 - 3, 2**63 - 2, 2**63 - 1], pa.int64()),
        pa.array([-1, 0, 1], pa.int8()),
        pa.array([0, 1, 255], pa.uint8()),
        pa.array([2**64 - 3, 2**64 - 2, 2**64 - 1], pa.uint64()),
        pa.array([-(2**63), 0, 2**63 - 1], pa.int64()),
    ],
    ids=["least", "most", "around zero", "byte", "beyond 63 bits", "all apart"],
)
def test_keys_at_the_edges_of_their_type_are_matched(ids):
    old = pa.table({"id": ids, "v": [1, 2, 3]})
    exact, screened = both(old, pa.table({"id": ids.take([2, 0]), "v": [4, 1]}))
    assert screened == exact
    assert (exact.identical, exact.divergent, exact.only_old, exact.only_new) == (1, 1, 1, 0)


def test_128_bit_keys_without_a_sign_are_matched_too(tmp_path):
    paths = [tmp_path / "old.duckdb", tmp_path / "new.duckdb"]
    for path, value in zip(paths, (1, 2), strict=True):
        with duckdb.connect(str(path)) as session:
            session.execute(
                f"CREATE TABLE t AS SELECT 340282366920938463463374607431768211455::UHUGEINT AS id, {value} AS v"
            )
    exact, screened = both(*paths)
    assert replace(screened, old=exact.old, new=exact.new) == exact
    assert exact.columns[0].examples[0].key == ("340282366920938463463374607431768211455",)


@pytest.mark.usefixtures("no_buckets")
def test_tolerances_examples_and_both_zeros_are_those_of_the_exact_comparison():
    ids = list(range(50))
    old = pa.table({"id": ids, "v": [1.0, 0.0, float("nan"), None] + [5.0] * 46, "w": ["a"] * 50})
    new = pa.table({"id": ids[::-1], "v": [5.004] * 20 + [5.0] * 26 + [None, float("nan"), -0.0, 1.5], "w": ["a"] * 50})
    exact, screened = both(old, new, tolerances=[tolerance("v", "0.005", "half a cent")], examples=2)
    assert screened == exact
    assert (exact.within_tolerance, exact.divergent) == (20, 1)


@pytest.mark.usefixtures("no_buckets")
def test_more_chosen_rows_than_are_copied_give_the_same_answer(monkeypatch):
    monkeypatch.setattr(dataset_diff_screen, "_MOST_COPIED", 3)
    old = pa.table({"id": list(range(40)), "v": list(range(40))})
    new = pa.table({"id": list(range(5, 45)), "v": [at + at % 2 for at in range(5, 45)]})
    exact, screened = both(old, new)
    assert screened == exact
    assert (exact.divergent, exact.only_old, exact.only_new) == (18, 5, 5)


@pytest.mark.usefixtures("no_buckets")
def test_tables_of_a_key_alone_are_compared():
    exact, screened = both(pa.table({"id": [1, 2, 3]}), pa.table({"id": [2, 3, 4]}))
    assert screened == exact
    assert (exact.identical, exact.only_old, exact.only_new) == (2, 1, 1)


@pytest.mark.usefixtures("no_buckets")
def test_cells_that_changed_places_are_two_differences_in_either_column():
    old = pa.table({"id": [1, 2, 3], "v": [7, 7, 1], "w": [8, 8, 1], "x": [5, 5, 5]})
    new = pa.table({"id": [3, 2, 1], "v": [1, 8, 7], "w": [1, 7, 9], "x": [5, 5, 5]})
    exact, screened = both(old, new)
    assert screened == exact
    assert [column.divergent for column in exact.columns] == [1, 2, 0]


@pytest.mark.usefixtures("no_buckets")
def test_each_of_many_columns_is_told_apart_and_only_those_that_differ_are_read(monkeypatch):
    read = []
    slots = dataset_diff_screen.Slots
    monkeypatch.setattr(dataset_diff_screen, "Slots", lambda *found: read.append(found[2]) or slots(*found))
    ids = list(range(70))
    old = pa.table({"id": ids} | {f"v{at}": ids for at in ids})
    new = pa.table({"id": ids} | {f"v{at}": [7 if row == 3 and at in (2, 64) else row for row in ids] for at in ids})
    exact, screened = both(old, new)
    assert screened == exact
    assert [column.name for column in exact.columns if column.divergent] == ["v2", "v64"]
    one = pa.table({"id": ids} | {f"v{at}": [7 if row == 3 and at == 40 else row for row in ids] for at in ids})
    exact, screened = both(old, one)
    assert screened == exact
    assert read[-1] == [9, 40]  # the columns that share a shift


@pytest.mark.usefixtures("no_buckets")
def test_a_tolerance_of_a_column_without_numbers_is_refused_though_it_is_not_read():
    same = pa.table({"id": [1, 2], "v": [True, False]})
    with pytest.raises(UsageError, match="only numbers"):
        both(same, same, tolerances=[tolerance("v", "1", "any")])
    with pytest.raises(UsageError, match="only numbers"):
        compare_datasets_by_primary_key(same, same, "id", tolerances=[tolerance("v", "1", "any")], screen=True)


@pytest.mark.usefixtures("no_buckets")
def test_a_table_of_more_columns_than_an_expression_may_be_deep_is_compared():
    old = pa.table({"id": [1, 2]} | {f"v{at}": [at, at] for at in range(1100)})
    screened = compare_datasets_by_primary_key(old, old, "id", screen=True)
    assert screened.identical == 2


CELLS = st.lists(
    st.tuples(st.integers(-3, 12), st.sampled_from([None, 0.0, -0.0, 1.5, float("nan")]), st.sampled_from("ab")),
    min_size=1,
    max_size=9,
)


@settings(max_examples=25, deadline=None)
@given(CELLS, CELLS)
def test_any_two_small_tables_give_the_exact_answer_or_the_same_refusal(old, new):
    kinds = (pa.int32(), pa.float64(), pa.string())
    sides = [
        pa.table([pa.array(cells, kind) for cells, kind in zip(zip(*rows, strict=True), kinds, strict=True)], "ivt")
        for rows in (old, new)
    ]
    exact, screened = both(*(side.rename_columns(["id", "v", "w"]) for side in sides))
    assert screened == exact
