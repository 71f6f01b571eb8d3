"""Cohort tables in Dagster: the end of a backfill does not depend on order and chunks, and stale verdicts are noticed."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime

import dagster as dg
import pytest

from assets_defs.backfill import phased_backfill, run_chunk
from assets_defs.schedules import cohort_refresh
from assets_defs.stale_verdicts import stale_verdicts
from governance_pipeline.pipeline import COHORT_WIDE, MEASURED_TABLES, TABLES
from governance_pipeline.trajectory.cohort_tables import BASELINE_TABLE, CONFORMAL_TABLE
from governance_pipeline.workspace import Workspace

CONTRACT = """schema = "govern/round/v1"
[round]
cohort = "c"
[scope]
include = ["src/**"]
public = ["api/**"]
[[criterion]]
id = "C1"
"""
IDS = [f"r-{day}" for day in range(1, 7)]


def write(landing, round_id: str) -> None:
    """Write a round of one cohort; its number is the day it ended and how much it changed."""
    number = int(round_id.removeprefix("r-"))
    folder = landing / round_id
    folder.mkdir(parents=True)
    (folder / "round.toml").write_text(CONTRACT)
    change = {"step": 1, "ts": f"2026-01-{number:02d}T10:00:00Z", "files": [{"path": "src/a", "added": number * 7 % 5, "deleted": 0}]}  # fmt: skip
    (folder / "changes.jsonl").write_text(json.dumps(change) + "\n")


def register(house, *round_ids: str) -> None:
    for round_id in round_ids:
        write(house.workspace.landing, round_id)
    house.instance.add_dynamic_partitions("rounds", list(round_ids))


def digests(lake) -> dict:
    kept = {(table, of): lake.digest(table, of) for table in TABLES if table != BASELINE_TABLE for of in IDS}
    return {**kept, (BASELINE_TABLE, None): lake.digest(BASELINE_TABLE, None)}


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict:
    """Give the digest of every table when all rounds are made at once, in the order of time."""
    folder = tmp_path_factory.mktemp("expected")
    for round_id in IDS:
        write(folder / "landing", round_id)
    workspace = Workspace(folder / "landing", folder / "lake")
    workspace.make(TABLES, IDS)
    assert workspace.lake.get(CONFORMAL_TABLE, "r-6")["known_count"].max() == 5
    return digests(workspace.lake)


def tick(house, cursor=None):
    context = dg.build_sensor_context(
        instance=house.instance, cursor=cursor, resources={"workspace": house.workspace, "gate": house.gate}
    )
    with context:
        return stale_verdicts(context)


@pytest.mark.long  # in memory and stored the same is held by tests/pipeline
@pytest.mark.parametrize("seed", [1, 2])
def test_a_shuffled_backfill_in_any_chunks_gives_the_same_bytes(house, expected, monkeypatch, seed):
    draw = random.Random(seed)
    order = draw.sample(IDS, len(IDS))
    register(house, *order)
    plan = [order[:2], order[2:3], order[3:]] if seed == 1 else [order[:5], order[5:]]
    jobs = []

    def one_after_the_other(chunks, processes, config, job="full_audit_job", *, is_whole=False):
        for chunk in draw.sample(list(chunks), len(list(chunks))):
            jobs.append(job)
            yield run_chunk(house.instance, house.workspace, chunk, house.gate, job)

    monkeypatch.setattr("assets_defs.backfill.parallel_backfill", one_after_the_other)
    runs = list(phased_backfill(plan, 2, None))
    assert [run.reason for run in runs] == [""] * len(runs)
    assert jobs == ["measure_job"] * len(plan) + ["cohort_job"] + ["judge_job"] * len(plan)
    assert digests(house.workspace.lake) == expected
    assert house.materialized("verdict_rounds") == set(IDS)


@pytest.mark.long
def test_a_round_that_comes_late_makes_the_verdicts_after_it_stale_and_they_are_asked_for(house, expected):
    early, late = [each for each in IDS if each != "r-3"], "r-3"
    register(house, *early)
    assert house.run(*early).success
    before = tick(house)
    assert not before.run_requests
    register(house, late)
    assert house.run(late).success
    found = tick(house, before.cursor)
    assert [(each.job_name, each.tags["dagster/asset_partition_range_start"]) for each in found.run_requests] == [
        ("judge_job", "r-4")
    ]
    assert house.run("r-4", "r-6", job="judge_job").success
    assert digests(house.workspace.lake) == expected
    assert tick(house, found.cursor).skip_reason.skip_message == "no cohort has changed"


def test_rounds_measured_without_the_others_make_the_cohorts_due(kept_house):
    house = kept_house
    context = dg.build_schedule_context(
        instance=house.instance,
        scheduled_execution_time=datetime(2026, 3, 15, 4, tzinfo=UTC),
        resources={"workspace": house.workspace},
    )
    assert isinstance(cohort_refresh(context), dg.SkipReason)
    register(house, "r-1", "r-2")
    house.make("r-1", "r-2", tables=MEASURED_TABLES)
    assert cohort_refresh(context).run_key == "2026-03-15"
    [request] = tick(house).run_requests
    assert request.job_name == "cohort_job"
    assert run_chunk(house.instance, house.workspace, (), house.gate, "cohort_job").is_success
    assert isinstance(cohort_refresh(context), dg.SkipReason)
    [judge] = tick(house).run_requests
    assert (judge.job_name, judge.tags["dagster/asset_partition_range_end"]) == ("judge_job", "r-2")


def test_the_cohort_tables_show_rows_and_their_checks_hold(house):
    register(house, *IDS[:2])
    result = house.run(*IDS[:2])
    assert result.success
    checks = {
        (each.asset_key.to_user_string(), each.check_name): each.passed for each in result.get_asset_check_evaluations()
    }
    assert {name: checks[name] for name in checks if name[0] in COHORT_WIDE} == {
        (BASELINE_TABLE, "meets_contract"): True,
        (BASELINE_TABLE, "cohorts_do_not_drift"): True,
        (CONFORMAL_TABLE, "meets_contract"): True,
    }
    shown = {
        m.asset_key.to_user_string(): m for m in (e.materialization for e in result.get_asset_materialization_events())
    }
    assert shown[CONFORMAL_TABLE].metadata["rounds_count"].value == 2


def test_a_lake_without_a_measured_round_has_empty_cohorts_and_no_failure(house):
    run = run_chunk(house.instance, house.workspace, (), house.gate, "cohort_job")
    assert run.is_success, run.reason
    assert house.workspace.lake.rounds(CONFORMAL_TABLE) == []
