"""Claims about sources: what a usable row is, where it stands, and that every row is accounted for."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck import csv_rows
from governance_pipeline.crosscheck.check import Role
from governance_pipeline.crosscheck.rows import MISSING, Value
from governance_pipeline.crosscheck.source import Source
from governance_pipeline.crosscheck.sources import SourceAccount, SourceRow, read_source
from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.limits import Limits
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = frozenset({"x", "y"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


def read(
    path: Path, data: bytes | None = None, columns: frozenset[str] = COLUMNS
) -> tuple[list[SourceRow], SourceAccount]:
    if data is not None:
        path.write_bytes(data)
    account = SourceAccount()
    return list(read_source(Source("s", Role.COMPONENTS, "k", file=path), columns, account)), account


def keys(rows: list[SourceRow]) -> list[tuple[str | None, int]]:
    return [(row.key, row.line) for row in rows]


# ---------------------------------------------------------------- any format
@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
@pytest.mark.parametrize("what", ["absent", "folder", "fifo", "symlink"])
def test_what_is_no_regular_file_is_unreadable(tmp_path, suffix, what):
    path = tmp_path / f"s{suffix}"
    if what == "folder":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "symlink":
        (tmp_path / "real").write_bytes(b"{}\n")
        path.symlink_to("real")
    with pytest.raises(UnreadableError):
        read(path)


def test_a_source_that_is_a_table_cannot_be_read():
    with pytest.raises(UnreadableError, match="has no file"):
        list(read_source(Source("s", Role.COMPONENTS, "k"), COLUMNS, SourceAccount()))


@pytest.mark.parametrize(
    ("name", "data"), [("a.jsonl", b'\xef\xbb\xbf{"k":"A"}\n\n[1]\n'), ("a.csv", b"\xef\xbb\xbfk,x\nA,1\n\nB\n")]
)
def test_the_account_is_of_the_very_bytes_that_were_read(folder, name, data):
    told: list[int] = []
    path = folder / name
    path.write_bytes(data)
    account = SourceAccount()
    rows = list(read_source(Source("s", Role.DECLARED, "k", file=path), COLUMNS, account, told.append))
    assert account == SourceAccount(hashlib.sha256(data).hexdigest(), len(data), len(rows), 1, 1)
    assert sum(told) == len(data)


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv"])
def test_a_source_that_becomes_shorter_while_it_is_read_is_unreadable(folder, name):
    path = folder / name
    path.write_text(("k,x\n" if name == "t.csv" else "") + '{"k":"A"}\n' * 300_000)
    rows = read_source(Source("s", Role.COMPONENTS, "k", file=path), COLUMNS, SourceAccount())
    next(rows)
    os.truncate(path, 0)
    with pytest.raises(UnreadableError, match="shorter"):
        list(rows)


# ---------------------------------------------------------------- JSON Lines
@pytest.mark.parametrize(
    "line",
    [b"[1]", b"1", b"null", b'{"k":"A"', b'{"k":"A","k":"A"}', b'{"k":"\xff"}', b'{"k":"\\ud800"}', b'{"x":1}', b'{"k":""}',
     b'{"k":null}', b'{"k":1.5}', b'{"k":1.0}', b'{"k":1e0}', b'{"k":true}', b'{"k":["A"]}', b'{"k":NaN}', b"not json",
     b'{"k":"A","x":' + b"[" * 65 + b"]" * 65 + b"}"],
)  # fmt: skip
def test_a_line_that_is_no_object_with_a_key_is_quarantined_and_counted(folder, line):
    rows, account = read(folder / "q.jsonl", b'{"k":"A"}\n' + line + b"\n\n" + b'{"k":"B"}')
    assert keys(rows) == [("A", 1), (None, 2), ("B", 4)]
    assert (account.rows, account.quarantined, account.blank) == (3, 1, 1)


@pytest.mark.parametrize(
    ("written", "subject"),
    [(b"7", "7"), (b'"7"', "7"), (b"-0", "-0"), (b"123456789012345678901234567890", "1" + "23456789012345678901234567890"),
     (b'" A "', " A "), (b'"\\u00e9"', "é"), (b'"e\\u0301"', "e\u0301")],
)  # fmt: skip
def test_a_key_is_compared_as_its_text_and_never_normalised(folder, written, subject):
    rows, _ = read(folder / "k.jsonl", b'{"k":' + written + b"}\n")
    assert keys(rows) == [(subject, 1)]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (b"12.50", Value(ValueKind.NUMBER, "12.50")),
        (b"9007199254740993", Value(ValueKind.NUMBER, "9007199254740993")),
        (b"1e400", Value(ValueKind.NUMBER, "1e400")),
        (b"-0", Value(ValueKind.NUMBER, "-0")),
        (b'"12"', Value(ValueKind.TEXT, "12")),
        (b'""', Value(ValueKind.TEXT, "")),
        (b"true", Value(ValueKind.BOOLEAN, "true")),
        (b"false", Value(ValueKind.BOOLEAN, "false")),
        (b"null", MISSING),
        (b"[1]", Value(ValueKind.ARRAY, "array")),
        (b'{"a":1}', Value(ValueKind.OBJECT, "object")),
        (b"NaN", Value(ValueKind.NOT_FINITE, "NaN")),
        (b"-Infinity", Value(ValueKind.NOT_FINITE, "-Infinity")),
    ],
)
def test_a_json_value_keeps_its_kind_and_its_lexeme(folder, written, value):
    rows, _ = read(folder / "v.jsonl", b'{"k":"A","x":' + written + b"}\n")
    assert rows[0].values == {"x": value}


# ---------------------------------------------------------------- CSV
@pytest.mark.parametrize(
    "data", [b"", b"\xef\xbb\xbf", b"\n", b"k,x,k\nA,1,2\n", b"k,,\nA,1,2\n", b'"k\nA', b"\xff,x\n"]
)
def test_a_csv_without_a_header_of_distinct_names_is_unreadable(folder, data):
    with pytest.raises(UnreadableError, match="header"):
        read(folder / "h.csv", data)


@pytest.mark.parametrize("row", [b"B", b"B,1,2", b",1", b'"B"x,1', b"\xff,1", b"B,\xc3", b'"B\xff",1', b"B\rC,1"])
def test_a_csv_row_that_cannot_be_used_costs_itself_only(folder, row):
    rows, account = read(folder / "r.csv", b"k,x\nA,1\n" + row + b"\nC,3\n")
    assert keys(rows) == [("A", 2), (None, 3), ("C", 4)]
    assert account.quarantined == 1


def test_a_quote_that_is_never_closed_is_one_row_to_the_end(folder):
    data = b'k,x\nA,1\nB,"2\nC,3\nD,4\n'
    rows, account = read(folder / "o.csv", data)
    assert (keys(rows), account.bytes) == ([("A", 2), (None, 3)], len(data))


def test_a_row_that_outgrows_a_line_ends_the_reading_and_not_the_memory(folder, monkeypatch):
    monkeypatch.setattr(csv_rows, "LIMITS", Limits(line_bytes=40))
    data = b'k,x\nA,1\nB,"' + b"2\n" * 100 + b'"\nC,3\n'
    rows, account = read(folder / "l.csv", data)
    assert keys(rows) == [("A", 2), (None, 3)]
    assert (account.bytes, account.sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_a_cell_longer_than_the_default_of_the_csv_module_is_read(folder):
    before = csv.field_size_limit()
    rows, _ = read(folder / "w.csv", b'k,x\nA,"' + b"z" * 200_000 + b'\n"\nB,1\n')
    assert keys(rows) == [("A", 2), ("B", 4)]
    assert csv.field_size_limit() == before


def test_a_csv_row_starts_where_its_first_line_is(folder):
    rows, account = read(folder / "s.csv", b'k,x,n\r\nA,1,"two\r\nlines"\r\n\r\nB,2,\r\n"C ""q"", \n",3,')
    assert keys(rows) == [("A", 2), ("B", 5), ('C "q", \n', 6)]
    assert account.blank == 1


def test_a_csv_without_its_key_column_has_no_usable_row(folder):
    rows, account = read(folder / "n.csv", b"K,x\nA,1\nB,2\n")
    assert (keys(rows), account.quarantined) == ([(None, 2), (None, 3)], 2)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12.50", Value(ValueKind.NUMBER, "12.50")),
        ("5e0", Value(ValueKind.NUMBER, "5e0")),
        ("", MISSING),
        *((text, Value(ValueKind.NOT_FINITE, text)) for text in ("nan", "-NaN", "+inf", "Infinity", "-INFINITY")),
        *((text, Value(ValueKind.BOOLEAN, text)) for text in ("true", "false")),
        *(
            (text, Value(ValueKind.TEXT, text))
            for text in ("+5", " 5", "5 ", "007", "1.", ".5", "True", "null", "NULL", "1 000")
        ),
        ("1,250.00", Value(ValueKind.TEXT, "1,250.00")),
    ],
)
def test_a_csv_cell_is_a_number_only_as_json_writes_it(folder, cell, value):
    rows, _ = read(folder / "c.csv", f'k,x\nA,"{cell}"\n'.encode())
    assert rows[0].values == {"x": value}


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_what_the_csv_module_writes_is_read_back(folder, table, line_end):
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows([("k", "x"), *table])
    rows, _ = read(folder / "p.csv", stream.getvalue().encode())
    assert [row.key for row in rows] == [key or None for key, _ in table]
    found = [row.values["x"].raw for row in rows if row.key]
    assert found == [cell or None for key, cell in table if key]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=80), st.sampled_from(["b.jsonl", "b.csv"]))
def test_any_bytes_become_rows_or_a_refusal_and_every_row_is_counted(folder, data, name):
    try:
        rows, account = read(folder / name, b"k,x\n" + data if name == "b.csv" else data)
    except UnreadableError:
        return
    assert account.rows == len(rows)
    assert account.quarantined == sum(row.key is None for row in rows)
    assert account.sha256 == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    assert [row.line for row in rows] == sorted({row.line for row in rows})
