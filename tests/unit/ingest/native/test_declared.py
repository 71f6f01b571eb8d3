"""Declared aggregates are kept as written, whatever their value is."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from governance_pipeline.ingest.native import declared

CLAIM = {"subject": "run-7", "field": "total_cost_usd", "value": 1, "data_type": "currency", "unit": "USD"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("5", "not_an_object"),
        ('{"field": "f", "value": 1}', "bad_subject"),
        ('{"subject": "", "field": "f", "value": 1}', "bad_subject"),
        ('{"subject": 1.5, "field": "f", "value": 1}', "bad_subject"),
        ('{"subject": true, "field": "f", "value": 1}', "bad_subject"),
        ('{"subject": "s", "value": 1}', "bad_field"),
        ('{"subject": "s", "field": "", "value": 1}', "bad_field"),
        ('{"subject": "s", "field": "f", "value": 1, "data_type": "date"}', "bad_data_type"),
        ('{"subject": "s", "field": "f", "value": 1, "unit": 5}', "bad_unit"),
        ('{"subject": "s", "field": "f", "value": Infinity}', "not_finite"),
    ],
)
def test_a_claim_that_cannot_be_used_is_quarantined(read_one, line, code):
    file, out = read_one(declared, line + "\n")
    assert [row["reason_code"] for row in file.rejected] == [code]
    assert len(out.frame("core_declared")) == 0
    assert out.subjects == set()


@pytest.mark.parametrize(
    ("value", "raw", "kind"),
    [
        ("1.250", "1.250", "number"),
        ("12345678901234567890123", "12345678901234567890123", "number"),
        ("1E2", "1E2", "number"),
        ("-0", "-0", "number"),
        ('"1.25"', "1.25", "text"),
        ("null", None, "missing"),
        ("true", "true", "boolean"),
        ("[1]", "array", "array"),
        ('{"a":1}', "object", "object"),
    ],
)
def test_the_value_is_kept_as_the_source_wrote_it(read_one, value, raw, kind):
    _, out = read_one(declared, f'{{"subject": "s", "field": "f", "value": {value}}}\n')
    row = out.frame("core_declared").iloc[0]
    assert (None if row["value_raw"] is pd.NA else row["value_raw"]) == raw
    assert (row["value_kind"], row["pointer"], row["line"]) == (kind, "/value", 1)
    assert row[["data_type", "unit"]].isna().all()


def test_a_value_left_out_is_missing_and_the_claim_stays(rows):
    (row,) = rows("core_declared", {"declared.jsonl": [{"subject": "s", "field": "f"}]})
    assert (row["value_raw"], row["value_kind"]) == (None, "missing")


@pytest.mark.parametrize(("subject", "text"), [("1", "1"), (1, "1"), (10**30, str(10**30)), ("é", "é")])
def test_a_subject_is_its_text(read_one, subject, text):
    _, out = read_one(declared, [CLAIM | {"subject": subject}])
    assert out.frame("core_declared")["subject_id"].tolist() == [text]
    assert out.subjects == {text}


def test_the_same_claim_twice_is_two_rows(rows):
    assert len(rows("core_declared", {"declared.jsonl": [CLAIM, CLAIM]})) == 2


def test_the_files_of_the_components_are_named(rows):
    entry = {"timestamp": None, "agent_id": "a", "run_id": "run-7", "tool_called": "bash"}
    files = {
        "logs/b.jsonl": [entry],
        "logs/a.jsonl": [entry],
        "changes.jsonl": [{"step": 1, "F": 0}],
        "declared.jsonl": [CLAIM],
        "logs/other.csv": "a\n",
    }
    (row,) = rows("core_declared", files)
    assert json.loads(row["component_paths"]) == {
        "audit_log": ["logs/a.jsonl", "logs/b.jsonl"],
        "changes": ["changes.jsonl"],
    }
    assert (row["format"], row["data_type"], row["unit"]) == ("native", "currency", "USD")
