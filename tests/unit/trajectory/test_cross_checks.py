"""Records of the numbers change events carry: shape, ids, digests, and what stays as it was."""

from __future__ import annotations

import hashlib
import json

import pytest

from governance_pipeline.contracts.registry import validate
from governance_pipeline.crosscheck.escalations import escalations
from governance_pipeline.crosscheck.record import DeclaredPointer, record_id
from governance_pipeline.trajectory.cross_checks import CROSS_CHECK_TABLES, surface_cross_checks
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.step_surface import step_surface


def records(tables) -> list[dict]:
    frame = surface_cross_checks({name: tables[name] for name in CROSS_CHECK_TABLES})
    return list(rows_of(validate("audit_cross_checks", frame)))


@pytest.fixture
def disagreeing(one_round, file):
    """Give the tables of a round whose first event declares one line too many and whose second is right."""
    return one_round([
        {"step": 1, "F": 2, "L": 41, "M": 2, "P": 0, "H": 0.6931472, "files": [file("src/a", 20), file("docs/b", 15, 5)]},
        {"step": 2, "L": 3, "files": [file("src/a", 3)]},
        {"step": 3, "F": 1, "L": 3},
    ])  # fmt: skip


def test_match_and_mismatch_rows_are_both_kept_with_both_values(disagreeing):
    found = [
        (r["check_id"], r["subject_id"], r["declared"], r["computed"], r["delta"], r["status"])
        for r in records(disagreeing)
    ]
    assert found == [
        ("changes_f", "step-1", "2", "2", "0", "match"),
        ("changes_h", "step-1", "0.6931472", "0.6931471805599453", "0.0000000194400547", "match"),
        ("changes_l", "step-1", "41", "40", "1", "mismatch"),
        ("changes_l", "step-2", "3", "3", "0", "match"),
        ("changes_m", "step-1", "2", "2", "0", "match"),
        ("changes_p", "step-1", "0", "0", "0", "match"),
    ]


def test_a_mismatch_goes_to_a_person_and_the_event_keeps_its_number(disagreeing):
    (wrong,) = [row for row in records(disagreeing) if row["status"] == "mismatch"]
    assert (wrong["mismatch"], wrong["action"], wrong["overwritten"]) == (True, "escalate_to_human", False)
    assert (wrong["declared_path"], wrong["declared_line"], wrong["declared_pointer"]) == ("changes.jsonl", 1, "/L")
    assert list(step_surface(disagreeing)["churn_count"]) == [41, 3, 3]
    opened = escalations(surface_cross_checks(disagreeing))
    assert list(opened["case_id"]) == [f"case-{wrong['record_id']}"]


def test_record_ids_follow_the_rule_of_all_other_records(disagreeing):
    for row in records(disagreeing):
        pointer = DeclaredPointer(row["declared_file_sha256"], row["declared_line"], row["declared_pointer"])
        assert row["record_id"] == record_id(row["check_id"], row["formula_digest"], row["subject_id"], pointer)
        assert row["formula_digest"] == hashlib.sha256(row["formula"].encode()).hexdigest()


def test_components_are_digested_as_listed_one_array_per_file(disagreeing):
    (row,) = [row for row in records(disagreeing) if row["check_id"] == "changes_l" and row["declared_line"] == 1]
    lines = [["files", 1, "20", "0"], ["files", 1, "15", "5"]]
    text = "\n".join(json.dumps(line, separators=(",", ":")) for line in lines)
    assert (row["components_count"], row["components_digest"]) == (2, hashlib.sha256(text.encode()).hexdigest())


def test_an_event_that_lists_no_file_has_components_none_and_no_digest(one_round):
    (row,) = records(one_round([{"step": 1, "F": 1, "files": []}]))
    assert (row["computed"], row["status"], row["components_count"], row["components_digest"]) == (
        "0",
        "mismatch",
        0,
        None,
    )


def test_events_that_contest_a_step_are_unverifiable_each_and_a_byte_identical_one_counts_once(one_round, file):
    line = {"step": 1, "F": 1, "files": [file("a")]}
    other = {"step": 1, "F": 9, "files": [file("a")]}
    assert [r["status"] for r in records(one_round([line, line]))] == ["match"]
    found = [(r["declared_line"], r["declared"], r["reason_code"]) for r in records(one_round([line, other]))]
    assert found == [(1, "1", "duplicate_subject"), (2, "9", "duplicate_subject")]


def test_a_round_whose_steps_come_from_logs_declares_no_number(one_round):
    assert records(one_round(None)) == []
