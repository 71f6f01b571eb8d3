"""What Dagster shows around the gate: independence, verdicts with their word, and what did not pass the gate."""

from __future__ import annotations

import json

import dagster as dg
import pytest
from gate_house import ASSETS, refusal_of

from assets_defs import verdict_checks
from assets_defs.verdict_checks import FAMILIES, VERDICT_OF
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.verdict.detectors import DETECTORS

LEDGER_CHECKS = ("meets_contract", "gated_materializations_are_consumed")


def evaluations(result, check):
    return [e for e in result.get_asset_check_evaluations() if e.check_name == check]


def metadata_of(evaluation):
    return {name: value.value for name, value in evaluation.metadata.items()}


def claim(house, round_id):
    """Add a bare claim of a validator to a round, which satisfies nothing, and audit it again."""
    said = {"round_id": round_id, "validator_id": "builder", "run_id": "run-1", "result": "PASSED",
            "verified_at": "2026-03-01T11:00:00Z", "note": "I checked it again"}  # fmt: skip
    (house.workspace.landing / round_id / "attestations.jsonl").write_text(json.dumps(said) + "\n")
    house.audit(round_id)
    house.ask(round_id)


def test_a_validator_that_is_not_independent_is_shown_with_pair_and_rule(asked):
    claim(asked, "r-1")
    result = asked.run("r-1", "r-2", job="audit_job")
    assert result.success, "it is shown where the audit sees it, and stops at the gate"
    assert asked.check_status("validator_is_independent", "audit_independence") == {"r-1": "FAILED", "r-2": "SUCCEEDED"}
    by_round = {e.partition: e for e in _logged(asked, result, "validator_is_independent")}
    [row] = by_round["r-1"].metadata["rows"].records
    assert (row.data["validator_id"], row.data["rule"]) == ("builder", "unsigned")
    assert set(row.data) >= {"producer_run_id", "lineage_path", "shared_value"}
    assert by_round["r-1"].severity is dg.AssetCheckSeverity.ERROR


def test_the_request_about_it_still_appears_and_cannot_be_decided(asked):
    claim(asked, "r-1")
    assert asked.run("r-1", job="gate_job").success
    newest = asked.lake.get("gate_requests", "r-1").set_index("request_id").loc[asked.request_id("r-1")]
    assert (newest["state"], newest["code"]) == ("BLOCKED_POLICY", "NOT_INDEPENDENT")
    result = asked.run("r-1")
    assert asked.check_status("validator_is_independent") == {"r-1": "FAILED"}
    [independence] = evaluations(result, "validator_is_independent")
    assert independence.metadata["rows"].records[0].data["validator_id"] == "builder"
    assert asked.files() == set()


def test_a_table_that_says_independent_is_judged_anew(asked):
    """Somebody writes the row the gate would like to see; the check of the gate does not read it alone."""
    claim(asked, "r-1")
    table = asked.lake.get("audit_independence", "r-1")
    rows = [{**row, "is_independent": True, "rule": None, "reason_code": None} for row in table.to_dict("records")]
    rows = [{key: None if value is None or value != value else value for key, value in row.items()} for row in rows]  # noqa: PLR0124
    asked.lake.put("audit_independence", "r-1", frame_of("audit_independence", rows))
    asked.ask("r-1")
    asked.run("r-1")
    assert asked.check_status("validator_is_independent") == {"r-1": "FAILED"}
    assert asked.files() == set()


def test_families_speak_for_every_detector_once():
    codes = [code for family in FAMILIES.values() for code in family]
    assert sorted(codes) == sorted(detector.code for detector in DETECTORS)


def test_every_decision_has_a_verdict_or_is_only_recorded():
    assert set(VERDICT_OF) | {"record", "proposal"} == {"block", "unknown", "warn", "pause", "record", "proposal"}
    assert list(dict.fromkeys(VERDICT_OF.values())) == list(verdict_checks.WORST_FIRST)


@pytest.mark.parametrize(
    ("declared", "end", "verdict"), [(2, "", "pass"), (7, "", "warn"), (2, '{"cut off', "unknown")],
    ids=["true", "false", "unknown"],
)  # fmt: skip
def test_the_word_of_the_verdict_is_in_the_check(house, declared, end, verdict):
    house.write_rounds("r-1")
    log = house.write_round("r-1", declared=declared) / "logs" / "audit.jsonl"
    log.write_text(log.read_text() + end)
    result = house.run("r-1")
    assert result.success, "a verdict is shown, the gate acts on it"
    [whole], [numbers] = evaluations(result, "verdict"), evaluations(result, "numbers_agree")
    assert metadata_of(whole)["verdict"] == house.workspace.lake.get("verdict_rounds", "r-1")["status"].iloc[0]
    assert metadata_of(numbers)["verdict"] == verdict
    assert numbers.passed is (verdict == "pass")
    assert numbers.passed or numbers.severity is dg.AssetCheckSeverity.WARN
    assert ("rows" in numbers.metadata) is (verdict != "pass")


def test_after_a_chunk_each_round_shows_the_word_of_its_own_verdict(audited):
    key = dg.AssetCheckKey(dg.AssetKey("verdict_findings"), "numbers_agree")
    records = audited.instance.event_log_storage.get_asset_check_execution_history(key, limit=9)
    evaluations_ = [r.event.dagster_event.asset_check_evaluation_data for r in records if r.event]
    words = {e.partition: e.metadata["verdict"].value for e in evaluations_ if e.partition}
    assert words == {"true-1": "pass", "false-2": "warn", "true-3": "pass"}


def run_ledger_job(house):
    result = house.defs.resolve_job_def("ledger_job").execute_in_process(instance=house.instance, raise_on_error=False)
    return result, {e.check_name: e for e in result.get_asset_check_evaluations()}


def test_the_copy_of_the_ledger_holds_every_event(asked):
    asked.approve("r-1")
    assert asked.run("r-1").success
    result, checks = run_ledger_job(asked)
    assert result.success
    assert list(asked.lake.get("gate_ledger", None)["type"]) == asked.events()
    assert {name: checks[name].passed for name in LEDGER_CHECKS} == dict.fromkeys(LEDGER_CHECKS, True)


@pytest.mark.parametrize("asset", ASSETS)
def test_a_reported_materialization_without_a_file_is_found(asked, asset):
    asked.instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition="r-2"))
    assert asked.shown_as_made() == {(asset, "r-2")}
    assert asked.files() == set()
    _, checks = run_ledger_job(asked)
    check = checks["gated_materializations_are_consumed"]
    assert not check.passed
    [row] = check.metadata["rows"].records
    assert (row.data["asset"], row.data["round_id"]) == (asset, "r-2")
    assert "reported, not published" in row.data["message"]


def test_a_file_written_around_the_gate_is_found(asked):
    asked.approve("r-1")
    assert asked.run("r-1").success
    rows = asked.lake.get("published_features", "r-1")
    moved = rows.assign(round_id=rows["round_id"].str.replace("r-1", "r-3"))
    asked.lake.put("published_features", "r-3", moved)
    _, checks = run_ledger_job(asked)
    check = checks["gated_materializations_are_consumed"]
    assert not check.passed
    assert [row.data["round_id"] for row in check.metadata["rows"].records] == ["r-3"]
    asked.approve("r-3")
    assert "LOG_INCONSISTENT" in refusal_of(asked.run("r-3"))


def test_a_reported_materialization_does_not_keep_a_round_from_being_published(asked):
    asked.instance.report_runless_asset_event(dg.AssetMaterialization(ASSETS[0], partition="r-1"))
    asked.approve("r-1")
    assert asked.run("r-1").success
    _, checks = run_ledger_job(asked)
    assert checks["gated_materializations_are_consumed"].passed


def _logged(house, result, check):
    logs = house.instance.all_logs(result.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    found = [log.get_dagster_event().asset_check_evaluation_data for log in logs]
    return [e for e in found if e.check_name == check]
