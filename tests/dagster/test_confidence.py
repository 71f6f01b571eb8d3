"""Confidence in Dagster: facts by round, scores over all, in any order the same bytes, and never part of an audit."""

from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from assets_defs import schedules
from assets_defs.assets import ASSETS
from assets_defs.definitions import build_defs
from assets_defs.partitions import rounds_of_run
from assets_defs.scoring import Facts
from governance_pipeline.confidence.lake_tables import EVENTS, POOLS, SCORES, TEAMS, make_events, refresh_scores
from governance_pipeline.confidence.stale_tables import due_rounds, stale_scores
from governance_pipeline.confidence.store import EventStore
from governance_pipeline.errors import StorageError
from governance_pipeline.pipeline import JUDGED_TABLES, TABLES
from governance_pipeline.workspace import Workspace

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "rounds"
IDS = ["billing-0008", "parser-0006", "parser-0001"]
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
RUNTIME = "bench-cli/coder-model-1/high"


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> Workspace:
    """Return a workspace with three audited rounds of the sample, two of which carry a false claim."""
    workspace = Workspace(SAMPLE, tmp_path_factory.mktemp("audited") / "lake")
    workspace.make(TABLES, IDS)
    return workspace


def recorded_store(folder: Path, event_type: str = "correct", number: int = 1) -> Path:
    """Record events of an agent the sample has, and of a user."""
    store = EventStore.create(folder)
    store.register({"pools": [RUNTIME]})
    subjects = [{"role": "agent", "subject_id": "coder-5"}, {"role": "user", "subject_id": "kim"}]
    store.register({"subjects": subjects, "teams": [{"team_id": "t", "agent_id": "coder-5", "user_id": "kim"}]})
    more = {"severity": "critical"} if event_type == "error" else {}
    for n in range(number):
        store.append({
            "schema": "govern/confidence-event/v1", "event_id": f"e{n}", "event_type": event_type,
            "ts": f"2026-03-02T09:{n:02d}:00Z", "day": "2026-03-02", "session_id": "s", "role": "agent",
            "subject_id": "coder-5", "runtime": RUNTIME, "domain": "TECH", **more,
        })  # fmt: skip
    return folder


def test_a_round_without_a_verdict_has_no_facts_yet(house):
    house.write_round("r-1")
    with pytest.raises(StorageError):
        make_events(house.workspace.lake, ["r-1"])


def test_dagster_makes_facts_of_rounds_and_the_scores_of_all(house, audited, tmp_path):
    folder = recorded_store(tmp_path / "confidence")
    defs = build_defs(
        resources={
            "workspace": audited, "gate": house.gate,
            "confidence": dg.ResourceDefinition.hardcoded_resource(folder),
        }
    )  # fmt: skip
    house.instance.add_dynamic_partitions("rounds", IDS)
    job = defs.resolve_job_def("confidence_job")
    for round_id in IDS:
        assert job.execute_in_process(instance=house.instance, run_config=QUIET, partition_key=round_id).success
    rows = {round_id: audited.lake.get(EVENTS, round_id) for round_id in IDS}
    assert [list(rows[round_id]["state"]) for round_id in IDS] == [["derived"], ["derived"], []]
    assert len(audited.lake.get(TEAMS, None)) == 1
    last = house.instance.get_latest_materialization_event(dg.AssetKey(SCORES)).asset_materialization
    assert last.metadata[f"agent coder-5 OPS {RUNTIME}"].value == 45.0
    assert last.metadata["dagster/row_count"].value == len(audited.lake.get(SCORES, None))


@pytest.mark.parametrize("seed", [1, 2])
def test_any_order_and_chunks_of_rounds_give_the_same_bytes(audited, seed):
    def digests(chunks):
        for chunk in chunks:
            make_events(audited.lake, chunk)
            refresh_scores(audited.lake, None)
        return {table: audited.lake.digest(table, None) for table in (SCORES, POOLS, TEAMS)}

    order = random.Random(seed).sample(IDS, len(IDS))
    assert digests([order[:1], order[1:]]) == digests([IDS])


def test_no_verdict_changes_whatever_confidence_holds(audited, tmp_path):
    """The import contract says that nothing reads it; this says the same of the bytes."""
    before = {(table, of): audited.lake.digest(table, of) for table in JUDGED_TABLES for of in IDS}
    for kind, number in (("correct", 30), ("error", 30)):
        make_events(audited.lake, IDS)
        refresh_scores(audited.lake, recorded_store(tmp_path / kind, kind, number))
        audited.make(TABLES, IDS)
        assert {key: audited.lake.digest(*key) for key in before} == before


def test_no_asset_comes_after_a_confidence_table_but_confidence():
    after = {
        spec.key.to_user_string(): spec.group_name
        for asset in ASSETS
        for spec in asset.specs
        if any(dep.asset_key.to_user_string().startswith("confidence_") for dep in spec.deps)
    }
    assert set(after.values()) == {"confidence"}


def tick(house, audited, folder, day=15):
    """Evaluate confidence_refresh, as the scheduler does."""
    context = dg.build_schedule_context(
        instance=house.instance,
        scheduled_execution_time=datetime(2026, 3, day, 4, 30, tzinfo=UTC),
        resources={"workspace": audited, "gate": house.gate, "confidence": folder},
    )
    return schedules.confidence_refresh(context)


def test_a_tick_with_nothing_to_score_is_a_skip_with_its_reason(kept_house, tmp_path):
    skipped = tick(kept_house, kept_house.workspace, tmp_path / "no store")
    assert "every judged round has its facts" in skipped.skip_message


def test_a_tick_asks_for_rounds_without_facts_then_for_scores_then_for_nothing(kept_house, audited, tmp_path):
    lake = audited.lake
    shutil.rmtree(lake.root / EVENTS, ignore_errors=True)
    shutil.rmtree(lake.root / SCORES, ignore_errors=True)
    [asked] = tick(kept_house, audited, tmp_path)
    judged = lake.rounds("verdict_findings")
    assert sorted(rounds_of_run(asked.tags, kept_house.instance.get_dynamic_partitions("rounds"))) == judged
    make_events(lake, judged)
    [scores] = tick(kept_house, audited, tmp_path, day=1)
    assert (scores.run_key, scores.tags["govern/night"]) == ("2026-03-01:scores", "2026-03-01")
    defs = build_defs(
        resources={
            "workspace": audited, "gate": kept_house.gate,
            "confidence": dg.ResourceDefinition.hardcoded_resource(tmp_path),
        }
    )  # fmt: skip
    job = defs.resolve_job_def("confidence_job")
    ran = job.execute_in_process(
        instance=kept_house.instance, run_config=QUIET, asset_selection=list(scores.asset_selection)
    )
    checks = {(one.asset_key.to_user_string(), one.passed) for one in ran.get_asset_check_evaluations()}
    assert checks == {(SCORES, True), (POOLS, True), (TEAMS, True)}
    assert isinstance(tick(kept_house, audited, tmp_path), dg.SkipReason)
    recorded_store(tmp_path)
    assert "recorded events came or changed" in stale_scores(lake, tmp_path)
    assert len(tick(kept_house, audited, tmp_path)) == 1


@pytest.mark.parametrize(
    ("decided", "due"),
    [
        ([], []),
        ([("parser-0006", "0" * 64, "confirmed", datetime(2026, 3, 1, tzinfo=UTC))], ["parser-0006"]),
        ([("another", "0" * 64, "confirmed", datetime(2026, 3, 1, tzinfo=UTC))], []),
    ],
)
def test_a_round_is_due_when_people_decided_something_about_it(audited, decided, due):
    make_events(audited.lake, audited.lake.rounds("verdict_findings"))
    assert due_rounds(audited.lake, decided) == due


def test_a_damaged_table_of_facts_is_due(audited):
    make_events(audited.lake, audited.lake.rounds("verdict_findings"))
    path = audited.lake.path(EVENTS, "parser-0001")
    kept = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(b"damaged")
    assert due_rounds(audited.lake) == ["parser-0001"]
    path.write_bytes(kept)


def test_facts_without_a_gate_are_those_no_person_had_to_decide(house, audited):
    made = Facts(house.gate, audited.lake).make([EVENTS], IDS)
    assert {of: stored.rows for of, stored in made[EVENTS].items()} == dict(zip(IDS, (1, 1, 0), strict=True))
    assert datetime.now(UTC) > audited.lake.get(EVENTS, "parser-0006")["at"].iloc[0]
