"""Claims about Parquet sources: raw texts of binary columns, usable keys, and damage."""

from __future__ import annotations

import datetime as dt
import hashlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.check import Role
from governance_pipeline.crosscheck.rows import MISSING, Value
from governance_pipeline.crosscheck.source import Source
from governance_pipeline.crosscheck.sources import SourceAccount, read_source
from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.numbers import is_number
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parquet")


def read(path: Path, table: pa.Table | None = None, columns: tuple[str, ...] = ("x",)):
    if table is not None:
        pq.write_table(table, path)
    account = SourceAccount()
    return list(read_source(Source("s", Role.COMPONENTS, "k", file=path), frozenset(columns), account)), account


def value_of(folder: Path, array: Any) -> Value:
    rows, _ = read(folder / "v.parquet", pa.table({"k": ["A"], "x": array}))
    return rows[0].values["x"]


@pytest.mark.parametrize("data", [b"", b"PAR1", b"not parquet at all" * 10])
def test_what_is_no_parquet_is_unreadable(folder, data):
    path = folder / "bad.parquet"
    path.write_bytes(data)
    with pytest.raises(UnreadableError, match="cannot be read as Parquet"):
        read(path)


def test_a_damaged_page_is_unreadable_and_not_a_shorter_source(folder):
    path = folder / "damaged.parquet"
    pq.write_table(pa.table({"k": [f"k{i}" for i in range(1000)], "x": list(range(1000))}), path, compression="zstd")
    data = bytearray(path.read_bytes())
    data[40:120] = bytes(80)
    path.write_bytes(data)
    with pytest.raises(UnreadableError):
        read(path)


def test_a_repeated_column_is_unreadable(folder):
    table = pa.Table.from_arrays([pa.array(["A"]), pa.array([1]), pa.array([2])], names=["k", "x", "x"])
    with pytest.raises(UnreadableError, match="repeated"):
        read(folder / "r.parquet", table)


@pytest.mark.parametrize(
    ("array", "keys"),
    [
        (pa.array(["A", "", None, "B"]), ["A", None, None, "B"]),
        (pa.array([1, None, -7], pa.int16()), ["1", None, "-7"]),
        (pa.array([2**64 - 1], pa.uint64()), [str(2**64 - 1)]),
        (pa.array(["A", "", None], pa.string_view()), ["A", None, None]),
        (pa.array([1.0]), [None]),
        (pa.array([True]), [None]),
        (pa.array([Decimal(1)]), [None]),
        (pa.array([None], pa.null()), [None]),
        (pa.array(["A", "A", None]).dictionary_encode(), ["A", "A", None]),
        (pa.array(["A"], pa.large_string()), ["A"]),
    ],
)
def test_a_key_is_a_text_or_an_integer(folder, array, keys):
    rows, account = read(folder / "k.parquet", pa.table({"k": array}), ())
    assert [(row.key, row.line) for row in rows] == [(key, line) for line, key in enumerate(keys, 1)]
    assert account.quarantined == keys.count(None)


def test_a_file_without_its_key_column_has_no_usable_row(folder):
    rows, account = read(folder / "n.parquet", pa.table({"x": [1, 2]}))
    assert [(row.key, row.line) for row in rows] == [(None, 1), (None, 2)]
    assert (account.rows, account.quarantined) == (2, 2)


def test_a_text_that_is_not_utf8_costs_its_own_row_only(folder):
    table = pa.table({"k": ["A", "B"], "x": pa.array([b"ok", b"\xff"]).view(pa.string())})
    rows, _ = read(folder / "u.parquet", table)
    assert [(row.key, row.line) for row in rows] == [("A", 1), (None, 2)]


@pytest.mark.parametrize(
    ("array", "value"),
    [
        (pa.array([12.5]), Value(ValueKind.NUMBER, "12.5")),
        (pa.array([67.0]), Value(ValueKind.NUMBER, "67")),
        (pa.array([0.1], pa.float32()), Value(ValueKind.NUMBER, "0.1")),
        (pa.array([np.float16(0.1)], pa.float16()), Value(ValueKind.NUMBER, "0.1")),
        (pa.array([0.1 + 0.2]), Value(ValueKind.NUMBER, "0.30000000000000004")),
        (pa.array([float("nan")]), Value(ValueKind.NOT_FINITE, "NaN")),
        (pa.array([float("-inf")]), Value(ValueKind.NOT_FINITE, "-Infinity")),
        (pa.array([None], pa.float64()), MISSING),
        (pa.array([None], pa.null()), MISSING),
        (pa.array([2**63], pa.uint64()), Value(ValueKind.NUMBER, "9223372036854775808")),
        (pa.array([Decimal("12.50")]), Value(ValueKind.NUMBER, "12.50")),
        (pa.array([Decimal("1E-7")], pa.decimal128(20, 9)), Value(ValueKind.NUMBER, "0.000000100")),
        (pa.array([True]), Value(ValueKind.BOOLEAN, "true")),
        (pa.array(["12.50"]), Value(ValueKind.TEXT, "12.50")),
        (pa.array([""]), Value(ValueKind.TEXT, "")),
        (pa.array([b"\xff\x00"]), Value(ValueKind.TEXT, "ff00")),
        (pa.array([dt.date(2026, 1, 2)]), Value(ValueKind.TEXT, "2026-01-02")),
        (pa.array([[1]]), Value(ValueKind.ARRAY, "array")),
        (pa.array([{"a": 1}]), Value(ValueKind.OBJECT, "object")),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), Value(ValueKind.OBJECT, "object")),
    ],
)
def test_the_raw_text_of_a_binary_value_is_its_shortest_decimal(folder, array, value):
    assert value_of(folder, array) == value


@settings(max_examples=100, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_lexeme_of_a_double_is_a_number_that_reads_back(folder, number):
    value = value_of(folder, pa.array([number]))
    assert value.raw is not None
    assert is_number(value.raw)
    assert float(value.raw) == number


def test_an_absent_column_is_missing_and_a_dotted_name_is_a_name(folder):
    table = pa.table({"k": ["A"], "a.b": [1], "a": pa.array([{"b": 2}])})
    rows, account = read(folder / "d.parquet", table, ("a.b", "y"))
    assert rows[0].values == {"a.b": Value(ValueKind.NUMBER, "1")}
    data = (folder / "d.parquet").read_bytes()
    assert (account.sha256, account.bytes) == (hashlib.sha256(data).hexdigest(), len(data))


def test_rows_of_many_batches_are_numbered_through(folder):
    count = 20_000
    rows, _ = read(folder / "m.parquet", pa.table({"k": np.arange(count), "x": np.arange(count)}))
    assert [row.line for row in rows] == list(range(1, count + 1))
    assert all(row.key == row.values["x"].raw == str(row.line - 1) for row in rows)
