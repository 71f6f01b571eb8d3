"""Claims about comparing two tables by primary key: what is refused, and that every difference is shown."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.dataset_diff import KeyFault, compare_datasets_by_primary_key
from governance_pipeline.crosscheck.dataset_diff_inputs import DatabaseTable
from governance_pipeline.crosscheck.dataset_diff_values import tolerance
from governance_pipeline.errors import UnreadableError, UsageError

METHODS = pytest.mark.parametrize("screen", [False, True], ids=["exact", "screened"])


def table(**columns):
    return pa.table(columns)


def rows(found):
    return found.identical, found.divergent, found.only_old, found.only_new


def compare(old, new, key="id", **more):
    return compare_datasets_by_primary_key(old, new, key, **more)


@pytest.mark.parametrize("name", ["rowid", "ROWID", "_rowid_", "file_row_number", "row_number", "ctid"])
def test_a_position_is_never_a_key_even_where_a_column_has_its_name(name):
    frame = table(**{name: [1, 2], "v": [1, 2]})
    found = compare(frame, frame, name)
    assert (found.ok, found.reason_code, found.identical) == (False, KeyFault.IS_POSITION, None)
    assert not found.is_same


def test_the_hidden_rowid_of_a_duckdb_table_cannot_be_reached(tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE t AS SELECT 1 AS id, 2 AS v")
    assert compare(path, path, "rowid").reason_code is KeyFault.IS_POSITION
    assert compare(path, path, ("id", "rowid ")).reason_code is KeyFault.MISSING


@pytest.mark.parametrize(
    ("old", "new", "key", "code"),
    [
        (table(id=[1], v=[1]), table(ID=[1], v=[1]), "id", KeyFault.MISSING),
        (table(id=[1.0], v=[1]), table(id=[1], v=[1]), "id", KeyFault.TYPE),
        (table(id=[[1]], v=[1]), table(id=[[1]], v=[1]), "id", KeyFault.TYPE),
        (table(id=[1, None], v=[1, 2]), table(id=[1, 2], v=[1, 2]), "id", KeyFault.NULL),
        (table(id=[1, 2], v=[1, 2]), table(id=[2, 2], v=[1, 2]), "id", KeyFault.DUPLICATE),
        (table(id=["a", "a"], v=[1, 2]), table(id=["a", "b"], v=[1, 2]), "id", KeyFault.DUPLICATE),
    ],
)
def test_a_key_that_identifies_nothing_is_refused_before_any_row_is_matched(old, new, key, code):
    found = compare(old, new, key)
    assert (found.ok, found.reason_code, rows(found)) == (False, code, (None,) * 4)
    assert found.message


def test_repeated_keys_are_counted_and_shown_smallest_first():
    found = compare(table(id=[1, 2, 3], v=[1, 1, 1]), table(id=[9, 2, 2, 1, 1, 1], v=[1] * 6), examples=1)
    assert found.new.key.duplicate_rows == 5
    assert found.new.key.examples == (("1",),)
    assert found.old.key.duplicate_rows == 0


@pytest.mark.parametrize("keys", [[2**62, -(2**62)], [0, 10**9 * 3], ["é", "e\u0301"], ["1", "01"]])
def test_far_apart_and_lookalike_keys_are_different_rows(keys):
    found = compare(table(id=keys, v=[1, 2]), table(id=keys, v=[1, 2]))
    assert rows(found) == (2, 0, 0, 0)


@METHODS
def test_rows_added_removed_changed_and_shuffled_are_told_apart(screen):
    old = table(id=[1, 2, 3, 4], v=["a", "b", "c", "d"])
    new = table(id=[5, 4, 3, 1], v=["e", "d", "CHANGED", "a"])
    found = compare(old, new, screen=screen)
    assert rows(found) == (2, 1, 1, 1)
    assert found.examples_only_old == (("2",),)
    assert found.examples_only_new == (("5",),)
    assert found.columns[0].examples == ((("3",), "c", "CHANGED"),)
    assert found.columns[0].divergent == 1


@METHODS
def test_the_rows_of_a_composite_key_are_matched_by_all_of_it(screen):
    old = table(a=[1, 1, 2], b=["x", "y", "x"], v=[1, 2, 3])
    new = table(b=["x", "y", "x"], a=[2, 1, 1], v=[3, 2, 7])
    assert compare(old, new, "a").reason_code is KeyFault.DUPLICATE
    found = compare(old, new, ("a", "b"), screen=screen)
    assert rows(found) == (2, 1, 0, 0)
    assert found.columns[0].examples == ((("1", "x"), "1", "7"),)


@METHODS
def test_null_nan_zero_and_empty_text_are_four_different_values(screen):
    nan = float("nan")
    old = table(id=[1, 2, 3, 4, 5], v=[None, nan, 0.0, nan, None], t=["", None, "null", "x", "y"])
    new = table(id=[1, 2, 3, 4, 5], v=[nan, 0.0, None, nan, None], t=[None, None, "null", "x", ""])
    found = compare(old, new, screen=screen)
    by_name = {column.name: column for column in found.columns}
    assert by_name["v"].examples == ((("1",), None, "nan"), (("2",), "nan", "0.0"), (("3",), "0.0", None))
    assert by_name["t"].examples == ((("1",), "", None), (("5",), "y", ""))
    assert rows(found) == (1, 4, 0, 0)


def test_columns_added_and_removed_are_shown_and_no_clean_answer():
    found = compare(table(id=[1], gone=[1]), table(id=[1], fresh=["x"]))
    assert [column.name for column in found.added] == ["fresh"]
    assert [column.name for column in found.removed] == ["gone"]
    assert (rows(found), found.is_same) == ((1, 0, 0, 0), False)


@pytest.mark.parametrize(
    ("old", "new", "differing"),
    [
        (pa.array([2**53 + 1, 3]), pa.array([float(2**53), 3.0]), 1),
        (pa.array([1, 2], pa.int32()), pa.array([1, 2], pa.int64()), 0),
        (pa.array([2**64 - 1, 1], pa.uint64()), pa.array([-1, 1], pa.int64()), 1),
        (pa.array([Decimal("1.50"), Decimal("2.00")]), pa.array([Decimal("1.5"), Decimal("2.1")]), 1),
        (pa.array([Decimal("0.50"), Decimal("0.10")], pa.decimal128(2, 2)), pa.array([0.5, 0.1]), 0),
        (pa.array([Decimal("0.2"), Decimal("0.1")]), pa.array([0.15, 0.1]), 1),
        (pa.array([Decimal(10**37 + 1)], pa.decimal128(38, 0)), pa.array([Decimal("0.1")], pa.decimal128(38, 38)), 1),
        (pa.array(["1.50", "-0", "01"]), pa.array([Decimal("1.5"), Decimal("0.0"), Decimal("1.0")]), 1),
        (pa.array(["1e2", "NaN", "x"]), pa.array([100.0, float("nan"), float("inf")]), 1),
        (pa.array([0.1], pa.float32()), pa.array([0.1]), 1),
        (pa.array(["2020-01-01"]), pa.array([18262], pa.date32()), 0),
        (pa.array([True, False]), pa.array(["true", "no"]), 1),
        (pa.array([None, 1]), pa.array([None, "1"]), 0),
    ],
)  # fmt: skip
@METHODS
def test_a_changed_type_is_shown_and_its_values_are_compared_exactly(old, new, differing, screen):
    ids = list(range(len(old)))
    for one, other in ((old, new), (new, old)):
        found = compare(pa.table({"id": ids, "v": one}), pa.table({"id": ids, "v": other}), screen=screen)
        assert (found.divergent, found.is_same) == (differing, False)
        assert found.columns[0].old_type != found.columns[0].new_type


def test_a_key_of_two_types_is_matched_by_its_text():
    found = compare(table(id=[1, 2], v=[1, 2]), table(id=["1", "02"], v=[1, 2]))
    assert rows(found) == (1, 0, 1, 1)
    assert (found.key_types, found.is_same) == ((("BIGINT", "VARCHAR"),), False)


@METHODS
def test_a_tolerance_is_exact_strict_and_counted(screen):
    half_cent = tolerance("v", "0.005", "rounded to cents")
    old = table(id=[1, 2, 3, 4, 5], v=[0.305, 0.305, None, float("nan"), 1.0])
    new = table(id=[1, 2, 3, 4, 5], v=[0.30, 0.2999, 0.0, 1.0, 1.0])
    found = compare(old, new, tolerances=[half_cent], screen=screen)
    assert rows(found) == (2, 3, 0, 0)
    assert (found.within_tolerance, found.columns[0].within_tolerance, found.columns[0].divergent) == (1, 1, 3)
    assert found.columns[0].epsilon_reason == "rounded to cents"


@pytest.mark.parametrize("kind", [pa.decimal128(3, 3), pa.float64(), pa.float32(), pa.string()])
def test_a_tolerance_means_the_same_for_every_type_that_spells_numbers(kind):
    def made(*numbers):
        cells = [Decimal(n) if pa.types.is_decimal(kind) else n if kind == pa.string() else float(n) for n in numbers]
        return pa.table({"id": [1, 2], "v": pa.array(cells, kind)})

    found = compare(made("0.305", "0.305"), made("0.300", "0.299"), tolerances=[tolerance("v", "0.005", "why")])
    assert (found.divergent, found.within_tolerance) == (1, 1)


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "nan", "0x10", "9" * 5000])
def test_a_text_that_spells_no_bounded_number_is_within_no_tolerance(text):
    found = compare(table(id=[1], v=[text]), table(id=[1], v=["1"]), tolerances=[tolerance("v", "5", "why")])
    assert found.divergent == 1


@pytest.mark.parametrize(
    ("column", "epsilon", "reason"), [("v", "0.1", " "), ("v", "-1", "x"), ("v", "nan", "x"), ("v", "+1", "x")]
)
def test_a_tolerance_without_reason_or_number_is_refused(column, epsilon, reason):
    with pytest.raises(UsageError):
        tolerance(column, epsilon, reason)


@pytest.mark.parametrize("column", ["id", "no such", "d"])
def test_a_tolerance_needs_a_column_of_numbers_that_is_no_key(column):
    frame = pa.table({"id": [1], "d": pa.array([1], pa.date32())})
    with pytest.raises(UsageError):
        compare(frame, frame, tolerances=[tolerance(column, "1", "why")])
    with pytest.raises(UsageError):
        compare(table(id=[1], v=[1]), table(id=[1], v=[1]), tolerances=[tolerance("v", "1", "why")] * 2)


HOSTILE = ['"; DROP TABLE t; --', "a'b", "c0", "k0", "state", "f0", "SELECT", "A", "a", "", "\x1b[31m", "x.y", "*", "o"]


@METHODS
def test_hostile_column_names_are_values(tmp_path, screen):
    old = pa.table({"id": [1, 2], **{name: [1, 2] for name in HOSTILE}})
    new = pa.table({**{name: [1, 3] for name in reversed(HOSTILE)}, "id": [1, 2]})
    pq.write_table(old, tmp_path / "old [*].parquet")
    pq.write_table(new, tmp_path / "new?.parquet")
    found = compare(tmp_path / "old [*].parquet", tmp_path / "new?.parquet", screen=screen)
    assert [column.name for column in found.columns] == HOSTILE
    assert {column.divergent for column in found.columns} == {1}
    for name in HOSTILE:
        assert compare(old, new, name).key == (name,)


def test_column_names_differing_in_case_only_are_two_columns(tmp_path):
    for name, values in (("old", [1]), ("new", [2])):
        pq.write_table(pa.table({"id": [1], "v": values, "V": [3]}), tmp_path / f"{name}.parquet")
    found = compare(tmp_path / "old.parquet", tmp_path / "new.parquet")
    assert [(column.name, column.divergent) for column in found.columns] == [("v", 1), ("V", 0)]


def test_an_empty_side_and_a_key_without_columns_are_compared_too():
    empty = pa.table({"id": pa.array([], pa.int64()), "v": pa.array([], pa.int64())})
    assert rows(compare(empty, table(id=[1, 2], v=[1, 2]))) == (0, 0, 0, 2)
    assert compare(empty, empty).is_same
    assert rows(compare(table(id=[1, 2]), table(id=[2, 3]))) == (1, 0, 1, 1)


def test_frames_of_pandas_are_compared_and_a_repeated_column_is_refused():
    old = pd.DataFrame({"id": [1, 2], "v": [1.5, None]})
    found = compare(old, old.iloc[::-1].reset_index(drop=True))
    assert (rows(found), found.old.path, found.old.digest) == ((2, 0, 0, 0), None, None)
    with pytest.raises(UnreadableError, match="repeats column v"):
        compare(old, pd.DataFrame([[1, 2, 3]], columns=["id", "v", "v"]))


@pytest.mark.parametrize("key", [(), ("id", "id")])
def test_no_key_and_a_column_named_twice_are_usage_errors(key):
    with pytest.raises(UsageError):
        compare(table(id=[1]), table(id=[1]), key)


CELLS = st.one_of(st.none(), st.sampled_from([0.0, -0.0, float("nan"), float("inf"), 0.1, 1.0]), st.floats(width=16))
ROWS = st.dictionaries(st.integers(-3, 6), st.tuples(CELLS, st.sampled_from([None, "", "a", "b"])), max_size=8)


def spelled(cell):
    return cell if isinstance(cell, str | None) else repr(cell + 0.0)


@settings(max_examples=25, deadline=None)
@given(ROWS, ROWS)
def test_exact_and_screened_agree_with_a_dictionary(old, new):
    kinds = [("id", pa.int64()), ("v", pa.float64()), ("t", pa.string())]
    sides = [
        pa.Table.from_pylist([{"id": k, "v": v, "t": t} for k, (v, t) in side.items()], pa.schema(kinds))
        for side in (old, new)
    ]
    both = old.keys() & new.keys()
    changed = {k for k in both if [*map(spelled, old[k])] != [*map(spelled, new[k])]}
    expected = (len(both) - len(changed), len(changed), len(old.keys() - new.keys()), len(new.keys() - old.keys()))
    assert rows(compare(*sides)) == rows(compare(*sides, screen=True)) == expected


def test_database_tables_are_named_when_there_are_several(tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute('CREATE TABLE "a""b" AS SELECT 1 AS id, 2 AS v')
        made.execute("CREATE TABLE c AS SELECT 1 AS id, 3 AS v")
        made.execute("CREATE VIEW w AS SELECT * FROM c")
    found = compare(DatabaseTable(path, 'a"b'), DatabaseTable(path, "main.c"))
    assert rows(found) == (0, 1, 0, 0)
    for table_name in (None, "w", "none"):
        with pytest.raises(UsageError, match="name one table"):
            compare(DatabaseTable(path, table_name), path)


@METHODS
def test_what_the_engine_takes_as_equal_is_told_apart_all_the_same(tmp_path, screen):
    for name, text, span in (("old", "A", "1 month"), ("new", "a", "30 days")):
        with duckdb.connect(str(tmp_path / f"{name}.duckdb")) as made:
            made.execute("CREATE TABLE t (id INTEGER, v VARCHAR COLLATE NOCASE, s INTERVAL)")
            made.execute(f"INSERT INTO t VALUES (1, '{text}', INTERVAL '{span}')")
    found = compare(tmp_path / "old.duckdb", tmp_path / "new.duckdb", screen=screen)
    assert [column.divergent for column in found.columns] == [1, 1]
    by_text = compare(tmp_path / "old.duckdb", tmp_path / "new.duckdb", "v", screen=screen)
    assert rows(by_text) == (0, 0, 1, 1)


def test_numbers_the_engine_would_round_are_refused(tmp_path):
    wide = pa.table({"id": [1], "v": pa.array([[Decimal(10**39)]], pa.list_(pa.decimal256(40, 0)))})
    pq.write_table(wide, tmp_path / "t.parquet")
    with pytest.raises(UnreadableError, match="would be rounded"):
        compare(tmp_path / "t.parquet", tmp_path / "t.parquet")
    spans = pa.table({"id": [1], "v": pa.array([1], pa.duration("ns"))})
    with pytest.raises(UnreadableError, match="would be rounded"):
        compare(spans, spans)
