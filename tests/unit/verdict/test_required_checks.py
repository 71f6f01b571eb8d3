"""Required checks: each is named, and only a result counts as having run."""

from __future__ import annotations

import pytest

from governance_pipeline.verdict.controls import control_view
from governance_pipeline.verdict.required_checks import required_checks
from governance_pipeline.verdict.signals import GapReason

READ = {"lines_in": 2, "accepted": 1, "blank": 1}
FINAL = [{"mode": "final"}]


def checks(**rows):
    return [(check.id, check.ran) for check in required_checks(control_view(rows))]


def test_a_round_without_files_has_no_check_at_all(codes):
    assert checks() == []
    assert codes({"raw_log_files": []}) == [("no-required-check-ran", "unknown")]


@pytest.mark.parametrize(
    "row",
    [
        {"lines_in": 1, "quarantined": 1, "reason_code": "unsupported_format"},
        {"lines_in": 2, "accepted": 1, "quarantined": 1},
        {"lines_in": 3, "accepted": 1, "blank": 1},
        {"lines_in": 0, "accepted": 1},
    ],
    ids=["unread", "a lost record", "a record nowhere", "a record from nowhere"],
)
def test_a_file_that_was_not_read_whole_did_not_pass_its_check(row):
    assert checks(raw_log_files=[row]) == [("log-accounted:logs/a.jsonl", False)]


def test_a_lost_record_is_pointed_at():
    view = control_view({"raw_log_files": [{"lines_in": 1, "quarantined": 1}], "raw_quarantine": [{"line": 7}]})
    (check,) = required_checks(view)
    assert check.place.line == 7


def test_duplicates_and_blank_lines_are_accounted_for():
    assert checks(raw_log_files=[{"lines_in": 3, "accepted": 1, "blank": 1, "duplicates": 1}]) == [
        ("log-accounted:logs/a.jsonl", True)
    ]


def test_a_contract_that_was_read_is_no_log():
    assert checks(raw_log_files=[{"path": "round.toml", "lines_in": 1, "accepted": 1}]) == []


def test_a_refused_contract_is_a_file_that_was_not_read():
    refused = [{"contract_state": "invalid", "contract_fault": "line 3: duplicate_id"}]
    view = control_view({"core_rounds": refused, "raw_quarantine": [{"path": "round.toml", "line": 3}]})
    (check,) = required_checks(view)
    assert (check.id, check.ran, check.place.line) == ("log-accounted:round.toml", False, 3)
    assert "duplicate_id" in check.message


def test_a_contract_that_loosens_the_policy_is_refused_as_invalid(judge):
    loose = [{"material_files_count": 11, "mode": "final", "task_kind": "bugfix"}]
    document = judge({"core_rounds": loose, "core_criteria": [{"criterion_id": "C1"}]})
    assert (document["mode"], document["contract"]["state"], document["criteria"]) == ("quick", "invalid", [])
    assert "policy_loosened" in document["contract"]["fault"]
    assert document["status"] == "unknown"


def test_a_round_cannot_pass_by_loosening_what_would_have_blocked_it(judge):
    strict = {"core_rounds": [{"mode": "final"}], "core_criteria": [{"criterion_id": "C1"}]}
    assert judge(strict)["status"] == "block"
    assert judge({**strict, "core_rounds": [{"mode": "final", "material_churn_count": 9999}]})["status"] == "unknown"


@pytest.mark.parametrize(("status", "ran"), [("match", True), ("mismatch", True), ("unverifiable", False)])
def test_a_cross_check_ran_when_it_came_to_a_comparison(status, ran):
    assert checks(audit_cross_checks=[{"status": status}]) == [("cross-check:native_total:total:r1", ran)]


@pytest.mark.parametrize(("status", "ran"), [("match", True), ("mismatch", True), ("unverifiable", False)])
def test_a_hash_check_ran_when_the_bytes_were_there(status, ran):
    assert checks(audit_integrity=[{"status": status}]) == [("output-hash:r1:1", ran)]


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        ({"check_command": None}, []),
        ({"check_command": "make", "is_required": False}, []),
        ({"check_command": "make"}, [("criterion-command:C1", False)]),
        ({"check_command": "pytest -q"}, [("criterion-command:C1", True)]),
    ],
)
def test_the_command_of_a_required_criterion_must_be_seen_in_the_logs(criterion, expected):
    assert checks(core_criteria=[criterion], core_steps=[{"command": "pytest -q"}]) == expected


def test_quick_mode_asks_for_no_validator():
    assert checks(core_rounds=[{"mode": "quick"}]) == []


@pytest.mark.parametrize(
    ("rows", "ran"),
    [
        ([], False),
        ([{"is_independent": None, "rule": "signature"}], False),
        ([{"is_independent": True}], True),
        ([{"is_independent": False, "rule": "key"}], True),
        ([{"is_independent": None, "rule": "signature"}, {"is_independent": True, "line": 2}], True),
        ([{"is_independent": True, "producer_run_id": "p1"},
          {"is_independent": None, "rule": "signature", "producer_run_id": "p2"}], False),
    ],
    ids=["none", "undecidable", "independent", "not independent", "one of two decided", "undecidable against one producer"],
)  # fmt: skip
def test_final_mode_asks_for_a_validator_whose_independence_is_decided(rows, ran):
    assert checks(core_rounds=FINAL, audit_independence=rows) == [("validator-independence", ran)]


def test_the_reason_says_when_the_declared_number_itself_is_missing():
    view = control_view({"audit_cross_checks": [{"status": "unverifiable", "reason_code": "declared_missing"}]})
    assert [check.reason for check in required_checks(view)] == [GapReason.DECLARED_MISSING]


def test_hostile_names_are_escaped_and_cut():
    view = control_view({"raw_log_files": [{"path": "logs/\x1b[2J" + "x" * 500, "quarantined": 1, "lines_in": 1}]})
    (check,) = required_checks(view)
    assert "\x1b" not in check.id + check.message
    assert len(check.id) < 200
