"""No door opens without a decision: however a run is started, nothing gated is made of a round nobody has approved."""

from __future__ import annotations

import os

import dagster as dg
import pandas as pd
import pytest
from gate_house import ASSETS, QUIET, executed_again, make_trust, refusal_of

from assets_defs.assets.published import published_tables
from assets_defs.definitions import defs as project_defs
from assets_defs.jobs import JOBS
from governance_pipeline.pipeline import TABLES

PUBLISHED = dg.AssetSelection.assets(*ASSETS)
DECISIONS = dg.AssetSelection.assets("gate_decisions")


def assert_nothing_passed(house, *results):
    """Nothing was made, in Dagster or in the lake, and no decision was used."""
    assert [result.success for result in results] == [False] * len(results)
    assert house.shown_as_made() == set()
    assert house.files() == set()
    assert not (house.lake.root / "reports").exists()
    assert {"INTENT", "CONSUMED", "RELEASED", "DONE"}.isdisjoint(house.events())


def test_the_job(asked):
    result = asked.run("r-1")
    assert_nothing_passed(asked, result)
    assert "r-1: MISSING: " in refusal_of(result)


def test_asking_publishes_nothing(asked):
    assert asked.run("r-1", job="gate_job").success
    assert asked.files() == set()
    assert {job.name for job in JOBS if _selects(job.name, "published")} == {"publish_job"}


@pytest.mark.parametrize("asset", ASSETS)
def test_a_child_alone_in_a_run_of_its_own(asked, asset):
    result = asked.run_selection(dg.AssetSelection.assets(asset), "r-1")
    assert_nothing_passed(asked, result)
    assert "r-1: MISSING: " in refusal_of(result)


def test_a_selection_without_checks(asked):
    result = asked.run_selection((PUBLISHED | DECISIONS).without_checks(), "r-1")
    assert_nothing_passed(asked, result)
    assert result.get_asset_check_evaluations() == []


def test_the_checks_of_the_decisions_without_the_decisions(asked):
    checks = dg.AssetSelection.checks_for_assets("gate_decisions")
    result = asked.run_selection(PUBLISHED | checks, "r-1")
    assert_nothing_passed(asked, result)
    assert asked.check_status("human_approval") == {"r-1": "FAILED"}


def test_everything_in_one_run_from_the_round_folder_on(asked):
    with pytest.warns(UserWarning, match="varying BackfillPolicies"):
        result = asked.run_selection(dg.AssetSelection.all() - dg.AssetSelection.assets("gate_ledger"), "r-1")
    assert_nothing_passed(asked, result)
    assert asked.instance.get_materialized_partitions(dg.AssetKey("gate_requests")) == {"r-1"}


@pytest.mark.parametrize("steps", [(), (ASSETS[0],), ("gate_decisions", *ASSETS)], ids=["failed", "child", "all"])
def test_execution_again_of_a_failed_run(asked, steps):
    failed = asked.run("r-1")
    with executed_again(asked, failed.run_id, "r-1", *steps) as result:
        assert result.dagster_run.root_run_id == failed.run_id
        assert_nothing_passed(asked, failed, result)
        assert "r-1: MISSING: " in refusal_of(result)


@pytest.mark.parametrize("policy", [dg.BackfillPolicy.single_run(), dg.BackfillPolicy.multi_run(2)])
def test_another_backfill_policy(asked, policy):
    assets = [asset.with_attributes(backfill_policy=policy) for asset in published_tables]
    defs = dg.Definitions(assets=assets, resources=asked.resources, executor=dg.in_process_executor)
    asked.defs = dg.Definitions.merge(defs, dg.Definitions(jobs=[dg.define_asset_job("backfilled", PUBLISHED)]))
    asked.approve("r-1", "r-3")
    results = [asked.run(*chunk, job="backfilled") for chunk in (("r-1", "r-5"), ("r-1", "r-2"), ("r-4", "r-5"))]
    assert_nothing_passed(asked, *results)
    assert "r-2: MISSING" in refusal_of(results[1])


def test_automation(asked):
    """Nothing of ours is launched by freshness, and a condition put on the asset launches the same body."""
    specs = [spec for asset in published_tables for spec in asset.specs]
    assert [spec.key for spec in specs if spec.automation_condition is not None] == []
    eager = [asset.with_attributes(automation_condition=dg.AutomationCondition.eager()) for asset in published_tables]
    result = dg.materialize(
        eager,
        partition_key="r-1",
        instance=asked.instance,
        resources=asked.resources,
        run_config=QUIET,
        raise_on_error=False,
    )
    assert_nothing_passed(asked, result)


def test_run_configuration(asked, tmp_path):
    """The launchpad can write any configuration for a resource; the gate takes none."""
    make_trust(tmp_path / "mallory", asked.clock.now, "mallory")
    planted = str(tmp_path / "mallory" / "gate.toml")
    resource = {"config": {"config": planted, "named": planted, "root": planted, "landing": planted}}
    config = {**QUIET, "resources": {"gate": resource, "workspace": resource}}
    assert_nothing_passed(asked, asked.run("r-1", run_config=config))
    asked.defs = project_defs
    refusal = asked.run("r-1", run_config=config)
    assert_nothing_passed(asked, refusal)
    assert "no gate is configured" in refusal_of(refusal)


def test_variables_and_the_working_directory(asked, tmp_path, monkeypatch):
    """The project's own gate is that of the account; a configuration lying elsewhere is never looked for."""
    home = tmp_path / "planted"
    make_trust(home / ".config" / "governance-pipeline", asked.clock.now, "mallory")
    (home / "gate.toml").write_bytes((home / ".config" / "governance-pipeline" / "gate.toml").read_bytes())
    for name in ("HOME", "XDG_CONFIG_HOME", "GOVERN_CONFIG", "GOVERN_GATE", "DAGSTER_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.chdir(home)
    asked.defs = project_defs
    monkeypatch.setenv("GOVERN_LANDING", str(asked.workspace.landing))
    monkeypatch.setenv("GOVERN_LAKE", str(asked.lake.root))
    result = asked.run("r-1")
    assert_nothing_passed(asked, result)
    assert "no gate is configured" in refusal_of(result)
    assert "govern trust init" in refusal_of(result)
    assert os.environ["HOME"] == str(home)


def test_a_forged_check_through_the_instance(asked):
    for name in ("human_approval", "validator_is_independent"):
        asked.instance.report_runless_asset_event(
            dg.AssetCheckEvaluation(
                asset_key=dg.AssetKey("gate_decisions"), check_name=name, passed=True, metadata={}, partition="r-1"
            )
        )
    results = [asked.run("r-1"), asked.run_selection(PUBLISHED, "r-1")]
    assert_nothing_passed(asked, *results)


def test_a_reported_materialization_of_the_decisions_opens_nothing(asked):
    asked.instance.report_runless_asset_event(dg.AssetMaterialization("gate_decisions", partition="r-1"))
    result = asked.run_selection(PUBLISHED, "r-1")
    assert_nothing_passed(asked, result)


def test_a_written_table_of_decisions_opens_nothing(asked):
    """The table is for reading; whoever may write the lake can copy the row of another round into it."""
    asked.approve("r-1")
    assert asked.run_selection(DECISIONS, "r-1").success
    rows = asked.lake.get("gate_decisions", "r-1").assign(round_id=pd.Series(["r-2"], dtype="string"))
    asked.lake.put("gate_decisions", "r-2", rows)
    assert_nothing_passed(asked, asked.run_selection(PUBLISHED, "r-2"))


@pytest.mark.parametrize(
    "key", ["", "\n", "r-1\n", " r-1", "a...b", "../r-1", "r-1/../r-2", "R-1", "r-1\x00", "x" * 300, "-", "r\u20101"]
)
def test_a_hostile_partition_key(asked, key):
    asked.approve("r-1")
    before = {path for path in asked.folder.rglob("*") if "locks" not in path.parts}
    asked.register(key)
    for job in ("publish_job", "gate_job"):
        try:
            result = asked.run(key, job=job)
        except dg.DagsterError:  # Dagster itself does not take the key
            continue
        assert not result.success
    assert_nothing_passed(asked)
    assert {path for path in asked.folder.rglob("*") if "locks" not in path.parts} == before


def _selects(job: str, layer: str) -> bool:
    keys = project_defs.resolve_job_def(job).asset_layer.selected_asset_keys
    assert set(TABLES) <= {key.to_user_string() for key in project_defs.resolve_asset_graph().get_all_asset_keys()}
    return any(key.to_user_string().startswith(f"{layer}_") for key in keys)
