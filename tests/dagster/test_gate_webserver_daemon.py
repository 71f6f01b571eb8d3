"""What the daemon launches for a real web server: backfills, retries, sensors and automation pass no closed gate."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import dagster as dg
import pytest
from gate_house import ASSETS

from assets_defs.decision_sensor import DECISION_TAG


def _load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


webserver_house = _load("webserver_house")
pairs, REPOSITORY = webserver_house.pairs, webserver_house.REPOSITORY
SELECTION = [{"path": [asset]} for asset in ASSETS]
PARTITION = "dagster/partition"
AUTOMATION = "default_automation_condition_sensor"

# The project ships no automation; this is the assembly of somebody who puts it on the gated assets.
EAGER = """
from assets_defs.tables import GATED


def eager(spec):
    return spec.replace_attributes(automation_condition=dg.AutomationCondition.eager())


defs = defs.map_resolved_asset_specs(func=eager, selection=[*GATED])
"""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def web(asked_folder, tmp_path_factory):
    """Give a served house with a daemon; each test takes rounds of its own."""
    folder, rounds = tmp_path_factory.mktemp("web"), [f"r-{number}" for number in range(1, 9)]
    a_round = asked_folder / "landing" / "r-1"
    with webserver_house.web_house(folder, a_round, rounds, location=EAGER, daemon=True) as house:
        yield house


def runs_of(web, **tags):
    """Give the runs with these tags, newest first."""
    return web.instance.get_runs(dg.RunsFilter(tags={key.replace("__", "/"): value for key, value in tags.items()}))


def backfilled(web, backfill_id, runs):
    """Wait until a backfill has ended and this many runs of it; give its status and runs."""
    query = """query($id: String!) { partitionBackfillOrError(backfillId: $id) {
      ... on PartitionBackfill { status error { message } } } }"""

    def ended():
        status = web.query(query, id=backfill_id)["partitionBackfillOrError"]["status"]
        found = runs_of(web, dagster__backfill=backfill_id)
        is_over = status.startswith(("COMPLETED", "FAILED", "CANCELED")) and len(found) >= runs
        return (status, found) if is_over and all(run.is_finished for run in found) else None

    return web.wait("end of the backfill", ended, seconds=400)


def sensor(web, mutation, name, arguments="", **variables):
    """Press a button of a sensor's page."""
    kinds = {"cursor": "String"}
    declared = "".join(f", ${key}: {kinds[key]}" for key in variables)
    passed = "".join(f", {key}: ${key}" for key in variables)
    query = f"mutation($s: SensorSelector!{declared}) {{ {mutation}(sensorSelector: $s{passed}) {{ __typename }} }}"
    answer = web.query(query, s={**REPOSITORY, "sensorName": name}, **variables)[mutation]
    assert answer["__typename"] == "Sensor", answer


def ticks_of(web, name):
    """Give the finished ticks of a sensor, newest first: when, and how each ended."""
    query = """query($s: SensorSelector!) { sensorOrError(sensorSelector: $s) { ... on Sensor {
      sensorState { ticks(limit: 50) { timestamp status skipReason } } } } }"""
    found = web.query(query, s={**REPOSITORY, "sensorName": name})["sensorOrError"]["sensorState"]["ticks"]
    return [tick for tick in found if tick["status"] != "STARTED"]


def more_ticks(web, name, count=1):
    """Wait for further ticks of a sensor; give them."""
    before = {tick["timestamp"] for tick in ticks_of(web, name)}

    def fresh():
        found = [tick for tick in ticks_of(web, name) if tick["timestamp"] not in before]
        return found if len(found) >= count else None

    return web.wait(f"{count} ticks of {name}", fresh, seconds=300)


def test_a_backfill_of_the_children_its_retries_and_its_execution_again(web):
    rounds = [web.round(), web.round()]
    retried = pairs({"dagster/max_retries": "1"})
    first = web.backfill(rounds, assetSelection=SELECTION, tags=retried)["backfillId"]
    status, runs = backfilled(web, first, runs=4)
    assert status == "COMPLETED_FAILED"
    query = """mutation($p: ReexecutionParams!) { reexecutePartitionBackfill(reexecutionParams: $p) {
      __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
    again = web.query(query, p={"parentRunId": first, "strategy": "FROM_FAILURE"})["reexecutePartitionBackfill"]
    assert again["__typename"] == "LaunchBackfillSuccess", again
    status, more = backfilled(web, again["backfillId"], runs=2)
    assert status == "COMPLETED_FAILED"
    for round_id in rounds:
        mine = [run.run_id for run in (*runs, *more) if run.tags[PARTITION] == round_id]
        assert len(mine) >= 3, "once, once more by itself, and once again by hand"
        web.assert_refused(round_id, *mine)


def test_a_backfill_of_decisions_and_children_publishes_exactly_what_is_approved_and_once(web):
    """The control: the sensor launches the approved round as well, and of the two runs one passes per asset."""
    approved, other = web.round(), web.round()
    done = web.approve_by_command(approved)
    assert done.returncode == 0, done.stderr
    selection = [{"path": ["gate_decisions"]}, *SELECTION]
    status, runs = backfilled(web, web.backfill([approved, other], assetSelection=selection)["backfillId"], runs=2)
    refused = [run.run_id for run in runs if run.tags[PARTITION] == other]
    web.assert_refused(other, *refused)
    assert refused

    def launched():
        found = [run for run in runs_of(web, dagster__partition=approved) if DECISION_TAG in run.tags]
        return found or any("published already" in (tick["skipReason"] or "") for tick in ticks_of(web, "decisions"))

    web.wait("sensor", launched, seconds=300)
    every = [run.run_id for run in runs_of(web, dagster__partition=approved)]
    web.ended(*every)
    for run_id in every:
        assert web.said(run_id) == "" or f"{approved}: REPLAYED: " in web.said(run_id)
    assert web.files(approved, other) == {(asset, approved) for asset in ASSETS}
    consumed = {asset: web.events(approved, asset).count("CONSUMED") for asset in ASSETS}
    assert consumed == dict.fromkeys(ASSETS, 1)
    assert web.not_consumed() == {}
    assert status == "COMPLETED_FAILED"


def test_the_sensor_launches_nothing_for_a_round_nobody_approved_whatever_its_cursor(web):
    round_id = web.round()
    ours = web.gate.config().root_fingerprint
    dry_run = """mutation($s: SensorSelector!, $c: String) { sensorDryRun(selectorData: $s, cursor: $c) {
      __typename ... on DryRunInstigationTick { evaluationResult { runRequests { runKey } error { message } } } } }"""
    for cursor in (None, "", "0", f"{ours}:0", f"{ours}:99999", "nonsense", round_id):
        answer = web.query(dry_run, s={**REPOSITORY, "sensorName": "decisions"}, c=cursor)["sensorDryRun"]
        assert answer["evaluationResult"]["error"] is None, answer
        keys = [request["runKey"] for request in answer["evaluationResult"]["runRequests"] or []]
        assert [key for key in keys if round_id in key.split(":")] == []
    before = len(web.instance.get_runs())
    sensor(web, "setSensorCursor", "decisions", cursor=f"{ours}:0")
    sensor(web, "resetSensor", "decisions")
    ticks = more_ticks(web, "decisions")
    assert {tick["status"] for tick in ticks} <= {"SKIPPED", "SUCCESS"}
    assert len(web.instance.get_runs()) == before, "what was launched once is not launched again"
    assert runs_of(web, dagster__partition=round_id) == []
    web.assert_nothing_passed(round_id)


def test_automation_on_a_forged_decision(web):
    """The table of decisions is reported as made and its checks as passed; freshness launches, the asset refuses."""
    round_id = web.round()
    sensor(web, "startSensor", AUTOMATION)
    try:
        more_ticks(web, AUTOMATION)
        for name in ("human_approval", "validator_is_independent"):
            forged = {"check_name": name, "passed": True, "partition": round_id}
            assert web.post("/report_asset_check/gate_decisions", forged) == (200, {})
        assert web.post("/report_asset_materialization/gate_decisions", {"partition": round_id}) == (200, {})
        runs = web.wait("run of the automation", lambda: runs_of(web, dagster__partition=round_id), seconds=300)
        assert runs[0].tags["dagster/from_automation_condition"] == "true"
        web.assert_refused(round_id, *(run.run_id for run in runs))
    finally:
        stop = """mutation($id: String) { stopSensor(id: $id) { __typename } }"""
        asked = "query($s: SensorSelector!) { sensorOrError(sensorSelector: $s) { ... on Sensor { id } } }"
        found = web.query(asked, s={**REPOSITORY, "sensorName": AUTOMATION})["sensorOrError"]
        web.query(stop, id=found["id"])
    web.assert_nothing_passed(round_id)
