"""Claims about the rows of a query: every kind of cell keeps its value, and nothing in it is obeyed."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from importlib import resources
from uuid import UUID

import jsonschema
import numpy as np
import pandas as pd
import pytest

from governance_pipeline.report.json_text import json_text
from governance_pipeline.report.query_rows import json_value, query_document, query_page
from governance_pipeline.strict.json_text import parse_json

SCHEMA = json.loads(
    (resources.files("governance_pipeline.report") / "schemas" / "warehouse-query-v1.json").read_text("utf-8")
)

CELLS = [
    (None, None), (True, True), (1, 1), (2**127, 2**127), ("text", "text"), (1.5, 1.5), (float("nan"), "NaN"),
    (float("inf"), "Infinity"), (float("-inf"), "-Infinity"), (Decimal("1.50"), "1.50"), (Decimal("1E+30"), "1" + "0" * 30),
    (b"\x00\xff", "00ff"), (dt.date(2026, 1, 2), "2026-01-02"), (dt.time(1, 2, 3), "01:02:03"),
    (pd.Timestamp("2026-01-02T03:04:05Z"), "2026-01-02T03:04:05+00:00"), (dt.timedelta(seconds=2), "0:00:02"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"), ([1, None, "x"], [1, None, "x"]),
    (np.array([1, 2]), [1, 2]), (np.array([Decimal("0.1")], dtype=object), ["0.1"]), ({"a": [b"\x01"]}, {"a": ["01"]}),
    (np.int64(7), 7),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "expected"), CELLS, ids=[repr(cell)[:40] for cell, _ in CELLS])
def test_a_cell_of_any_kind_is_a_value_of_json(cell, expected):
    value = json_value(cell)
    assert value == expected
    json_text({"value": value})


def test_a_decimal_is_written_as_the_number_it_is():
    frame = pd.DataFrame({"x": [Decimal("0.10")]})
    written = json_text(query_document(frame))
    assert str(parse_json(written.encode())["rows"][0][0]) == "0.10"


def test_two_columns_of_one_name_are_both_there():
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert query_document(frame)["columns"] == ["a", "a"]
    assert query_document(frame)["rows"] == [[1, 2]]
    assert query_page(frame).splitlines() == ["a  a", "1  2"]


def test_null_zero_and_empty_text_are_three_things():
    frame = pd.DataFrame({"n": pd.array([None, 0], dtype="Int64"), "t": pd.array(["", None], dtype="string")})
    assert query_document(frame)["rows"] == [[None, ""], [0, None]]
    assert query_page(frame).splitlines() == ["n     t", "NULL", "0     NULL"]


def test_no_row_and_no_column_are_still_a_document_and_a_page():
    empty = pd.DataFrame({"a": pd.array([], dtype="string")})
    jsonschema.validate(query_document(empty), SCHEMA)
    assert query_page(empty) == "a"
    assert query_document(pd.DataFrame())["rows"] == []


def test_the_document_keeps_its_schema_and_a_broken_one_does_not():
    document = query_document(pd.DataFrame({"a": [1]}))
    jsonschema.validate(document, SCHEMA)
    for broken in ({**document, "rows": [{"a": 1}]}, {**document, "columns": [1]}, {"schema": document["schema"]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMA)


def test_texts_and_names_reach_the_terminal_escaped_whole_and_masked():
    secret, long = "ghp_" + "A1b2" * 9, "x" * 5000
    page = query_page(pd.DataFrame({"\x1b[31mname": ["\x9b\u202ea\nb", secret, long]}))
    assert all(character == "\n" or character.isprintable() for character in page)
    assert "\\x1b[31mname" in page
    assert "ghp_" not in page
    assert long in page
    assert len(page.splitlines()) == 4
