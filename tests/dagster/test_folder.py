"""The governed folder in Dagster: verified on its own and when it changes, loud where it is wrong, absent without noise."""

from __future__ import annotations

import hashlib
import json

import dagster as dg
import pytest

from assets_defs.folder_sensor import folder_changes
from assets_defs.governed import Project
from assets_defs.schedules import registry_verify
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.coverage import covered_rules
from governance_pipeline.framework.lake_tables import FOLDER_TABLES, seen_of_folder
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.plan import plan_of

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
CHECKS = {
    ("audit_registry", "registry_matches"), ("audit_registry", "approvals_match_ledger"), ("audit_locks", "no_orphan_lock"),
    ("audit_incidents", "every_incident_has_a_row"), ("audit_rebaseline", "no_rebaseline_due"),
}  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    lay_out(tmp_path / "project", plan_of("en"))
    monkeypatch.setenv("GOVERN_PROJECT", str(tmp_path / "project"))
    return tmp_path / "project"


@pytest.fixture
def nowhere(monkeypatch):
    monkeypatch.delenv("GOVERN_PROJECT", raising=False)


def register(project, data: bytes, recorded: bytes) -> None:
    """Write an asset and an entry of the registry by hand, as somebody who knows no ledger would."""
    (project / "06_design" / "outputs" / "prices.csv").write_bytes(data)
    entry = {
        "name": "prices", "canonical_path": "06_design/outputs/prices.csv", "superseded_versions": [],
        "last_verified_hash": hashlib.sha256(recorded).hexdigest(), "last_verified_at": "2026-11-30T00:00:00Z",
    }  # fmt: skip
    (project / places.REGISTRY).write_text(json.dumps({"assets": [entry]}))


def verify(house) -> dict[tuple[str, str], dg.AssetCheckEvaluation]:
    result = house.defs.resolve_job_def("folder_job").execute_in_process(instance=house.instance, run_config=QUIET)
    assert result.success
    found = {(e.asset_key.to_user_string(), e.check_name): e for e in result.get_asset_check_evaluations()}
    assert {key for key in found if key[1] != "meets_contract"} == CHECKS
    assert {table for table, name in found if name == "meets_contract"} == set(FOLDER_TABLES)
    return found


def tick(house, cursor=None):
    resources = {"workspace": house.workspace, "gate": house.gate, "project": Project()}
    with dg.build_sensor_context(instance=house.instance, cursor=cursor, resources=resources) as context:
        return folder_changes(context)


def test_without_a_folder_the_tables_are_empty_and_nothing_is_asked_for(house, nowhere):
    assert all(evaluation.passed for evaluation in verify(house).values())
    assert {table for table in FOLDER_TABLES if len(house.workspace.lake.get(table, None))} == set()
    assert "govern init" in tick(house).skip_message
    with dg.build_schedule_context(resources={"project": Project()}) as context:
        assert "govern init" in registry_verify(context).skip_message


def test_a_registered_file_with_other_bytes_fails_the_check_that_says_so(house, project):
    register(project, b"changed", b"as it was")
    found = verify(house)
    assert {key for key, evaluation in found.items() if not evaluation.passed} == {
        ("audit_registry", "registry_matches")
    }
    failed = found["audit_registry", "registry_matches"]
    assert failed.severity is dg.AssetCheckSeverity.ERROR
    assert [row.data["state"] for row in failed.metadata["rows"].records] == ["changed"]
    assert len(house.workspace.lake.get("audit_coverage", None)) > 11


def test_what_no_ledger_can_confirm_is_a_warning_and_never_sound(house, project):
    register(project, b"the same", b"the same")
    found = verify(house)["audit_registry", "registry_matches"]
    assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.WARN)


def test_a_change_is_verified_once_and_verdicts_follow_once(house, project):
    house.write_rounds("r-1")
    house.make("r-1")
    first = tick(house)
    assert [request.job_name for request in first.run_requests] == ["folder_job"]
    assert tick(house, first.cursor).run_requests == []
    register(project, b"changed", b"as it was")
    second = tick(house, first.cursor)
    assert [request.job_name for request in second.run_requests] == ["folder_job"]
    verify(house)
    third = tick(house, second.cursor)
    assert [(request.job_name, request.partition_key) for request in third.run_requests] == [("judge_job", "r-1")]
    verify(house)  # looked at once more: only the times differ
    assert tick(house, third.cursor).run_requests == []


def test_a_registered_file_is_watched_wherever_it_lies(house, project):
    register(project, b"one", b"one")
    before = seen_of_folder(Project().folder(), None)
    (project / "06_design" / "outputs" / "prices.csv").write_bytes(b"longer than before")
    assert seen_of_folder(Project().folder(), None) != before


def test_what_names_no_governed_folder_is_refused_with_what_to_do(house, tmp_path, monkeypatch):
    monkeypatch.setenv("GOVERN_PROJECT", str(tmp_path))
    result = house.defs.resolve_job_def("folder_job").execute_in_process(
        instance=house.instance, run_config=QUIET, raise_on_error=False
    )
    assert not result.success


def test_the_list_of_coverage_names_every_check_of_the_folder_in_dagster():
    said = " ".join(check.called_at for rule in covered_rules() for check in rule.checks)
    assert {name for _, name in CHECKS if name not in said} == set()
