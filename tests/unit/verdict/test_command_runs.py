"""Runs of a command: exactly that command, seen in a log, or claimed with the digest of an output a log holds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from governance_pipeline.verdict.command_runs import claimed_runs, logged_runs, seen_run
from governance_pipeline.verdict.controls import control_view

COMMAND = "pytest -q"
OUTPUT = "c" * 64
CLAIM = {"state": "proven", "command": COMMAND, "exit_code": 0, "output_sha256": OUTPUT}


def at(minute):
    return datetime(2026, 11, 30, 12, minute, tzinfo=UTC)


def test_a_claim_alone_is_not_seen():
    assert seen_run(control_view({"core_evidence": [{**CLAIM, "output_sha256": None}]}), COMMAND) is None
    assert seen_run(control_view({"core_evidence": [CLAIM]}), COMMAND) is None


@pytest.mark.parametrize("column", ["output_result_sha256", "output_file_sha256"])
@pytest.mark.parametrize("written", [OUTPUT, f"sha256:{OUTPUT}", OUTPUT.upper()])
def test_a_claim_whose_output_the_logs_hold_is_seen(column, written):
    view = control_view({"core_evidence": [{**CLAIM, "output_sha256": written}], "core_steps": [{column: OUTPUT}]})
    assert seen_run(view, COMMAND).path == "evidence.jsonl"


def test_a_declared_output_hash_corroborates_nothing():
    view = control_view({"core_evidence": [CLAIM], "core_steps": [{"output_hash": OUTPUT}]})
    assert seen_run(view, COMMAND) is None


def test_the_output_of_another_command_corroborates_nothing():
    view = control_view(
        {"core_evidence": [{**CLAIM, "command": "make"}], "core_steps": [{"output_result_sha256": OUTPUT}]}
    )
    assert seen_run(view, COMMAND) is None


@pytest.mark.parametrize("command", ["pytest", "pytest -q tests", "Pytest -q", "pytest  -q", "cd x && pytest -q"])
def test_another_command_is_another_command(command):
    assert seen_run(control_view({"core_steps": [{"command": command}]}), COMMAND) is None


def test_a_step_a_person_rejected_did_not_run():
    assert seen_run(control_view({"core_steps": [{"command": COMMAND, "status": "rejected"}]}), COMMAND) is None


def test_runs_are_ordered_by_time_where_every_one_has_a_time():
    steps = [
        {"command": COMMAND, "exit_code": 1, "at": at(2), "run_id": "a"},
        {"command": COMMAND, "exit_code": 0, "at": at(1), "run_id": "b", "line": 2},
    ]
    assert [run.exit_code for run in logged_runs(control_view({"core_steps": steps}), COMMAND)] == [0, 1]


def test_without_a_time_they_are_ordered_by_file_run_and_step():
    steps = [
        {"command": COMMAND, "exit_code": 1, "at": at(2), "run_id": "a"},
        {"command": COMMAND, "exit_code": 0, "at": None, "run_id": "b", "line": 2},
    ]
    assert [run.exit_code for run in logged_runs(control_view({"core_steps": steps}), COMMAND)] == [1, 0]


@pytest.mark.parametrize(
    ("step", "passed"),
    [
        ({"exit_code": 0}, True),
        ({"exit_code": 3}, False),
        ({"exit_code": None, "status": None}, None),
        ({"exit_code": None, "status": "ok"}, True),
        ({"exit_code": None, "status": "error"}, False),
    ],
)
def test_the_outcome_of_a_step_is_its_exit_code_else_its_status_else_unknown(step, passed):
    (run,) = logged_runs(control_view({"core_steps": [{"command": COMMAND, **step}]}), COMMAND)
    assert run.passed is passed


@pytest.mark.parametrize(
    ("record", "passed"),
    [
        ({"state": "proven", "exit_code": None}, True),
        ({"state": "proven", "exit_code": 1}, False),
        ({"state": "refuted", "exit_code": 0}, False),
        ({"state": "unproven", "exit_code": 0}, True),
        ({"state": "unproven", "exit_code": None}, None),
    ],
)
def test_the_outcome_of_a_record_is_the_worse_of_state_and_exit_code(record, passed):
    (run,) = claimed_runs(control_view({"core_evidence": [{"command": COMMAND, **record}]}), COMMAND)
    assert run.passed is passed
