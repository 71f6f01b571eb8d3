"""Asset checks: each round shows its own result, and a blocking failure stops what comes after in the run."""

from __future__ import annotations

import dagster as dg
import pandas as pd
import pytest

from governance_pipeline.contracts.registry import reads_all_rounds
from governance_pipeline.errors import StorageError
from governance_pipeline.pipeline import TABLES


def test_after_a_chunk_each_round_shows_its_own_result(audited):
    """A run over a range evaluates a check once, without a partition; decision 0003."""
    assert audited.check_status("audit_escalations", "no_open_mismatch") == {
        "true-1": "SUCCEEDED",
        "false-2": "FAILED",
        "true-3": "SUCCEEDED",
    }


def test_after_a_chunk_no_check_of_any_round_is_without_a_result(audited):
    keys = audited.defs.resolve_asset_graph().asset_check_keys
    names = [(k.asset_key.to_user_string(), k.name) for k in keys if k.asset_key.to_user_string() in TABLES]
    checks = [(table, name) for table, name in names if not reads_all_rounds(table)]
    status = {check: audited.check_status(*check) for check in checks}
    assert {c for c, s in status.items() if set(s) != {"true-1", "false-2", "true-3"}} == set()
    failed = {check: s for check, s in status.items() if set(s.values()) != {"SUCCEEDED"}}
    assert set(failed) == {
        ("audit_escalations", "no_open_mismatch"),
        ("verdict_findings", "numbers_agree"),
        ("verdict_rounds", "verdict"),
    }


def test_the_per_round_result_belongs_to_the_run_and_carries_the_offending_rows(audited):
    [run] = audited.instance.get_runs()
    logs = audited.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    evaluations = [log.get_dagster_event().asset_check_evaluation_data for log in logs]
    by_round = {e.partition: e for e in evaluations if _is(e, "audit_escalations", "no_open_mismatch")}
    assert set(by_round) == {"true-1", "false-2", "true-3", None}
    assert by_round[None].metadata["failed_rounds"].value == {"false-2": 1}
    rows = by_round["false-2"].metadata["rows"].records
    assert [row.data["declared"] for row in rows] == ["7"]
    assert "rows" not in by_round["true-1"].metadata


def test_a_blocking_check_that_fails_stops_downstream_in_the_run(house, monkeypatch):
    house.write_rounds("r-1", "r-2")
    _add_a_file_behind_the_back_of(house, monkeypatch, "r-2")
    result = house.run("r-1", "r-2")
    assert not result.success
    assert house.check_status("raw_log_files", "nothing_disappears") == {"r-1": "SUCCEEDED", "r-2": "FAILED"}
    assert house.materialized("raw_log_files") == {"r-1", "r-2"}
    assert house.materialized("core_rounds") == set()
    assert not house.workspace.lake.has("core_rounds", "r-1")


@pytest.mark.parametrize("chunk", [("r-1",), ("r-1", "r-2")])
def test_a_round_with_a_check_that_cannot_fail_is_blocked(house, monkeypatch, chunk):
    house.write_rounds(*chunk)
    monkeypatch.setattr("governance_pipeline.crosscheck.mutation._moves", lambda run, records: len(records) != 1)
    result = house.run(*chunk)
    assert not result.success
    assert house.check_status("audit_cross_checks", "checks_can_fail") == dict.fromkeys(chunk, "FAILED")
    assert house.materialized("verdict_findings") == set()
    logs = house.instance.all_logs(result.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    found = [log.get_dagster_event().asset_check_evaluation_data for log in logs]
    rows = [r.data for e in found if e.check_name == "checks_can_fail" and "rows" in e.metadata
            for r in e.metadata["rows"].records]  # fmt: skip
    assert {(row["code"], row["components_moved"]) for row in rows} == {("check_cannot_fail", "False")}


def test_a_check_that_does_not_block_lets_the_run_go_on(audited):
    assert "false-2" in audited.materialized("audit_integrity")


def test_only_a_breach_fails_the_contract_check(house, monkeypatch):
    house.write_rounds("r-1")
    breach = pd.DataFrame({"column": ["path"], "rule": ["not_null"], "row": [0], "value": ["\x1b[31m<b>x</b>"]})
    monkeypatch.setattr(type(house.workspace.lake), "breaches", lambda *_: breach)
    house.run("r-1", job="raw_job")
    assert house.check_status("raw_log_files", "meets_contract") == {"r-1": "FAILED"}


@pytest.mark.parametrize("chunk", [("r-1",), ("r-1", "r-2")])
def test_an_error_of_ours_is_not_a_breach_of_the_data(house, monkeypatch, chunk):
    house.write_rounds(*chunk)

    def stumble(lake, table, round_id):
        if round_id == "r-1":
            raise StorageError("the disk is gone")
        return pd.DataFrame()

    monkeypatch.setattr("assets_defs.checks.breaches", lambda table, frame: pd.DataFrame({"row": [0]}))
    monkeypatch.setattr(type(house.workspace.lake), "breaches", stumble)
    result = house.run(*chunk, job="raw_job")
    failure = result.failure_data_for_node("raw_log_files_meets_contract")
    assert "the disk is gone" in failure.error.cause.message
    status = house.check_status("raw_log_files", "meets_contract")
    assert status.get("r-1") == "OUTDATED", "it was planned and never evaluated"
    assert {key: value for key, value in status.items() if key != "r-1"} == dict.fromkeys(chunk[1:], "SUCCEEDED")


def test_a_long_list_of_offending_rows_is_cut_and_escaped(house, monkeypatch):
    house.write_rounds("r-1")
    breach = pd.DataFrame({"column": ["path"] * 50, "value": ["\x1b[31m" + "x" * 9999] * 50})
    monkeypatch.setattr(type(house.workspace.lake), "breaches", lambda *_: breach)
    result = house.run("r-1", job="raw_job")
    [evaluation] = [e for e in result.get_asset_check_evaluations() if _is(e, "raw_log_files", "meets_contract")]
    assert evaluation.metadata["failed_rows"].value == 50
    records = evaluation.metadata["rows"].records
    assert len(records) == 20
    assert max(len(record.data["value"]) for record in records) < 400
    assert "\x1b" not in "".join(record.data["value"] for record in records)


def _is(evaluation, table, check):
    return (evaluation.asset_key.to_user_string(), evaluation.check_name) == (table, check)


def _add_a_file_behind_the_back_of(house, monkeypatch, round_id):
    make = house.workspace.make

    def make_and_add(tables, round_ids, *plan):
        made = make(tables, round_ids, *plan)
        (house.workspace.landing / round_id / "logs" / "late.jsonl").write_text("{}\n")
        return made

    monkeypatch.setattr(house.workspace, "make", make_and_add)
