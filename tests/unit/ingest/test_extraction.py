"""Rows get their place filled in; values are told apart as written; times are instants or unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from governance_pipeline.errors import ContractBreach
from governance_pipeline.ingest import extraction
from governance_pipeline.ingest.extraction import Extraction, parse_time, text_sha256, value_kind, value_raw
from governance_pipeline.ingest.logfile import LogFile, Record, Sample
from governance_pipeline.strict.lexeme import Lexeme, NonFinite
from governance_pipeline.vocabulary import ValueKind

FILE = LogFile("logs/x.jsonl", "ab" * 32, 1, Sample("logs/x.jsonl", "jsonl", ()), Path("unused"))
LINE = Record(7, "", {}, 0, b"{}")
DECLARED = {
    "subject_id": "s",
    "field": "f",
    "value_kind": ValueKind.MISSING,
    "format": "native",
    "component_paths": "{}",
}


def test_a_column_the_table_does_not_have_is_refused():
    out = Extraction("r-1")
    out.add("core_declared", FILE, LINE, **DECLARED, invented=1)
    with pytest.raises(ContractBreach, match="invented"):
        out.frame("core_declared")


def test_a_value_that_does_not_fit_is_refused_and_not_coerced():
    out = Extraction("r-1")
    out.add("core_usage", FILE, LINE, run_id="r", input_tokens="12")
    with pytest.raises(ContractBreach, match="input_tokens"):
        out.frame("core_usage")


def test_place_is_filled_in_where_the_table_has_it():
    out = Extraction("r-1")
    out.add("core_declared", FILE, LINE, "/value", **DECLARED)
    out.add("core_declared", FILE, LINE, **DECLARED | {"field": "g"})
    out.add("core_runs", FILE, LINE, run_id="run", format="native", opaque_step_count=0)
    first, second = out.frame("core_declared").to_dict("records")
    assert (first["round_id"], first["path"], first["file_sha256"], first["line"]) == ("r-1", FILE.path, FILE.sha256, 7)
    assert (first["pointer"], second["pointer"]) == ("/value", "")
    assert out.frame("core_runs")["path"].tolist() == ["logs/x.jsonl"]
    assert len(out.frame("core_steps")) == 0


def test_rows_keep_their_order_across_chunks(monkeypatch):
    monkeypatch.setattr(extraction, "CHUNK_ROWS", 3)
    out = Extraction("r-1")
    for number in range(8):
        out.add("core_declared", FILE, LINE, f"/{number}", **DECLARED)
    frame = out.frame("core_declared")
    assert frame["pointer"].tolist() == [f"/{number}" for number in range(8)]
    assert frame.index.tolist() == list(range(8))
    out.add("core_declared", FILE, LINE, "/8", **DECLARED)
    assert len(out.frame("core_declared")) == 9


@pytest.mark.parametrize(
    ("value", "kind", "raw"),
    [
        (None, ValueKind.MISSING, None),
        (True, ValueKind.BOOLEAN, "true"),
        (False, ValueKind.BOOLEAN, "false"),
        (0, ValueKind.NUMBER, "0"),
        (-12, ValueKind.NUMBER, "-12"),
        (Lexeme("1.50"), ValueKind.NUMBER, "1.50"),
        (Lexeme("1e999"), ValueKind.NUMBER, "1e999"),
        (NonFinite("NaN"), ValueKind.NOT_FINITE, "NaN"),
        ("1.5", ValueKind.TEXT, "1.5"),
        ("", ValueKind.TEXT, ""),
        ({"a": 1}, ValueKind.OBJECT, "object"),
        ([1], ValueKind.ARRAY, "array"),
    ],
)
def test_a_value_is_told_by_kind_and_kept_as_written(value, kind, raw):
    assert value_kind(value) is kind
    assert value_raw(value) == raw


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -5, "", "yesterday", "2025-01-02", "12", "2025-01-02T03:04:05", "2025-13-02T03:04:05Z",
        "2025-01-02T25:04:05Z", "\u0662025-01-02T03:04:05Z", 10**14, Lexeme("1e999"), Lexeme("1e-999"),
        NonFinite("Infinity"), [1], "0001-01-01T00:00:00+23:00", "2025-01-02T03:04:05Z\n", "1757015025",
    ],
)  # fmt: skip
def test_what_names_no_instant_is_unknown(value):
    assert parse_time(value) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-01-02T03:04:05Z", datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2025-01-02 03:04:05.123456789+02:00", datetime(2025, 1, 2, 1, 4, 5, 123456, tzinfo=UTC)),
        ("2025-01-02T03:04z", datetime(2025, 1, 2, 3, 4, tzinfo=UTC)),
        ("2025-01-02T03:04:05,5-0130", datetime(2025, 1, 2, 4, 34, 5, 500000, tzinfo=UTC)),
        (1757015025, datetime(2025, 9, 4, 19, 43, 45, tzinfo=UTC)),
        (1757015025972, datetime(2025, 9, 4, 19, 43, 45, 972000, tzinfo=UTC)),
        (Lexeme("1757015025.972"), datetime(2025, 9, 4, 19, 43, 45, 972000, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_instants_in_utc(value, expected):
    assert parse_time(value) == expected


def test_a_time_without_offset_is_utc_only_where_the_format_says_so():
    assert parse_time("2025-01-02T03:04:05", assume_utc=True) == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_only_a_text_output_has_a_digest():
    assert text_sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert [text_sha256(value) for value in (None, 1, Lexeme("1.5"), {"a": 1}, [])] == [None] * 5
