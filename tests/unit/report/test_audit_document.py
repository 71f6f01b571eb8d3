"""Claims about the audit document: it keeps its schema, loses nothing, and a number in it is the number."""

from __future__ import annotations

import copy
import json
from importlib import resources

import pytest
from jsonschema import Draft202012Validator

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.crosscheck.builtin import not_checkable
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.pipeline import TABLES
from governance_pipeline.report.audit_document import audit_document, records
from governance_pipeline.report.json_text import json_text

SCHEMA = json.loads((resources.files("governance_pipeline.report") / "schemas" / "audit-v1.json").read_text("utf-8"))
VERDICT = json.loads(
    (resources.files("governance_pipeline.verdict") / "schemas" / "verdict-v1.json").read_text("utf-8")
)


@pytest.fixture(scope="module")
def written(document):
    """Return the document as a reader of its JSON text gets it."""
    return json.loads(json_text(document))


def faults(written) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(SCHEMA).iter_errors(written)]


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "govern/audit/v1"


def test_a_document_with_something_of_everything_keeps_the_schema(written):
    assert faults(written) == []


def test_each_round_is_a_verdict_document_that_keeps_its_own_schema(written):
    assert [verdict["round_id"] for verdict in written["rounds"]] == ["everything"]
    assert list(Draft202012Validator(VERDICT).iter_errors(written["rounds"][0])) == []


def test_the_document_of_no_round_at_all_keeps_the_schema():
    tables = {table: empty_frame(table) for table in TABLES}
    document = audit_document(tables, not_checkable(tables["core_declared"]), catalogue().meanings)
    assert faults(json.loads(json_text(document))) == []
    assert set(document["counts"].values()) == {0}


BROKEN = [
    ("files", "path", None), ("files", "sha256", "x"), ("files", "lines_in", -1), ("files", "surprise", 1),
    ("cross_checks", "status", "fine"), ("cross_checks", "overwritten", True), ("cross_checks", "declared", "1.5"),
    ("cross_checks", "epsilon_reason", ""), ("hashes", "status", "match"), ("not_checkable", "reason", ""),
    ("rounds", "schema", "govern/verdict/v2"),
]  # fmt: skip


@pytest.mark.parametrize(("member", "name", "value"), BROKEN)
def test_the_schema_refuses_a_broken_member(written, member, name, value):
    broken = copy.deepcopy(written)
    broken[member][0][name] = value
    assert faults(broken) != []


def test_the_schema_refuses_a_missing_or_unknown_member(written):
    for name in SCHEMA["required"]:
        assert faults({key: value for key, value in written.items() if key != name}) != []
    assert faults({**written, "verdict": "fine"}) != []


def test_every_file_is_there_with_a_balanced_account(everything, document):
    assert len(document["files"]) == len(everything["raw_log_files"]) == 5
    for file in document["files"]:
        assert file["lines_in"] == file["accepted"] + file["quarantined"] + file["blank"] + file["duplicates"]
    assert {file["format"] is None for file in document["files"]} == {True, False}


def test_every_declared_number_is_a_record_or_listed_as_not_checkable(everything, document):
    pointed = {(r["declared_path"], r["declared_pointer"]["line"]) for r in document["cross_checks"]}
    declared = everything["core_declared"]
    answered = [(path, line) in pointed for path, line in zip(declared["path"], declared["line"], strict=True)]
    assert sum(answered) + len(document["not_checkable"]) == len(declared)
    assert document["counts"]["declared"] == len(declared)


def test_counts_are_those_of_the_records_and_hashes(document):
    counts = document["counts"]
    for status in ("match", "mismatch", "unverifiable"):
        assert counts[status] == sum(r["status"] == status for r in document["cross_checks"])
    for status in ("mismatch", "unverifiable"):
        assert counts[f"hash_{status}"] == sum(r["status"] == status for r in document["hashes"])
    assert counts["hash_match"] == 2
    assert (counts["rounds"], counts["rounds_without_contract"]) == (1, 0)


def test_numbers_are_written_as_numbers_and_raw_texts_as_texts(written):
    record = next(r for r in written["cross_checks"] if r["check_id"] == "native_total_cost_usd")
    assert (record["declared"], record["computed"], record["delta"], record["epsilon"]) == (9.5, 0.5, 9, 0.005)
    assert record["declared_raw"] == "9.5"
    assert record["declared_pointer"]["line"] == 2


def test_a_declared_text_that_looks_like_a_credential_is_masked(written):
    record = next(r for r in written["cross_checks"] if r["check_id"] == "native_run_count")
    assert record["declared_raw"].startswith("[masked:")
    assert "ghp_" not in json_text(written)


@pytest.mark.parametrize(
    ("table", "column"),
    [("audit_cross_checks", name) for name in ("subject_id", "field", "declared_raw", "declared_pointer")]
    + [("audit_integrity", name) for name in ("run_id", "declared_hash", "pointer")]
    + [("core_declared", name) for name in ("subject_id", "field")],
)
@pytest.mark.parametrize("secret", ["ghp_" + "Z9y8" * 9, "password=hunter2hunter2"])
def test_a_credential_is_masked_wherever_a_log_wrote_it(everything, table, column, secret):
    tables = {**everything, table: everything[table].assign(**{column: secret})}
    unlisted = not_checkable(everything["core_declared"])
    if table == "core_declared":
        unlisted = unlisted.assign(**{column: secret})
    text = json_text(audit_document(tables, unlisted, catalogue().meanings))
    assert secret.removeprefix("password=") not in text
    assert "[masked:" in text
    assert faults(json.loads(text)) == []


def test_every_file_with_quarantined_records_says_why(document):
    reasons = document["quarantine_reasons"]
    assert reasons["everything/changes.jsonl"] == "malformed_json"
    for file in document["files"]:
        if file["quarantined"]:
            assert reasons[f"everything/{file['path']}"]


def test_the_same_tables_give_the_same_text(everything, document):
    again = audit_document(everything, not_checkable(everything["core_declared"]), catalogue().meanings)
    assert json_text(again) == json_text(document)


def test_no_null_marker_of_pandas_is_left_in_a_row(everything):
    for table in TABLES:
        for row in records(everything[table]):
            assert all(value is None or isinstance(value, str | int | float) for value in row.values()), table
