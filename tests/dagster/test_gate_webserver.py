"""The doors of a real web server: whatever is clicked or posted, nothing gated is made of a round nobody has approved.

Reports and forged checks are in test_gate_webserver_reports.py, backfills, sensors and automation, which need the
daemon, in test_gate_webserver_daemon.py (make test-long).
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from gate_house import ASSETS, GateHouse, RealClock, make_trust

from assets_defs.deciding import standings
from assets_defs.partitions import RANGE_END, RANGE_START
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.request import register_requests
from governance_pipeline.pipeline import TABLES


def _load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


webserver_house = _load("webserver_house")
ASSET_JOB, REPOSITORY = webserver_house.ASSET_JOB, webserver_house.REPOSITORY
PASSAGE = ["INTENT", "CONSUMED", "RELEASED", "DONE"]
CHECKS = [("gate_decisions", "human_approval"), ("gate_decisions", "validator_is_independent")]

WIPE = "mutation($p: [PartitionsByAssetSelector!]!) { wipeAssets(assetPartitionRanges: $p) { __typename } }"

# The gate of the product, where an account has one: the throw-away root lies where the account's would.
ACCOUNT = """
from governance_pipeline.trust import config

config.default_config_path = lambda: keeper.named
defs = build_defs(resources={"workspace": workspace})
"""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def web(asked_folder, tmp_path_factory):
    """Give a served house whose gate was handed to the assembler."""
    folder, rounds = tmp_path_factory.mktemp("web"), [f"r-{number}" for number in range(1, 16)]
    with webserver_house.web_house(folder, asked_folder / "landing" / "r-1", rounds) as house:
        yield house


@pytest.fixture(scope="module")
def account(asked_folder, tmp_path_factory):
    """Give a served house with the gate resource the product ships."""
    folder = tmp_path_factory.mktemp("account")
    with webserver_house.web_house(folder, asked_folder / "landing" / "r-1", ["r-1"], location=ACCOUNT) as house:
        yield house


def test_the_job(web):
    round_id = web.round()
    runs = [web.launched(round_id), webserver_house.run_id_of(
        web.launch(web.params(round_id), "launchPipelineExecution")
    )]  # fmt: skip
    web.assert_refused(round_id, *runs)


def test_several_runs_at_once(web):
    rounds = [web.round(), web.round()]
    query = f"""mutation($p: [ExecutionParams!]!) {{ launchMultipleRuns(executionParamsList: $p) {{
      ... on LaunchMultipleRunsResult {{ launchMultipleRunsResult {{ {webserver_house.LAUNCHED} }} }} }} }}"""
    answers = web.query(query, p=[web.params(round_id) for round_id in rounds])["launchMultipleRuns"]
    runs = [webserver_house.run_id_of(answer) for answer in answers["launchMultipleRunsResult"]]
    for round_id, run_id in zip(rounds, runs, strict=True):
        web.assert_refused(round_id, run_id)


def test_a_child_alone(web):
    round_id = web.round()
    runs = [web.launched(round_id, ASSET_JOB, [asset]) for asset in ASSETS]
    web.assert_refused(round_id, *runs)


def test_a_selection_without_checks(web):
    round_id = web.round()
    runs = [web.launched(round_id, ASSET_JOB, assets, checks=[]) for assets in (ASSETS, ["gate_decisions", *ASSETS])]
    web.assert_refused(round_id, *runs)
    assert web.check_status("human_approval").get(round_id) is None


def test_the_checks_without_the_decisions_and_the_steps_of_the_children_alone(web):
    round_id = web.round()
    runs = [
        web.launched(round_id, "publish_job", ASSETS, checks=CHECKS),
        web.launched(round_id, stepKeys=[ASSETS[0]]),
        web.launched(round_id, ops=[ASSETS[1]]),
    ]
    web.assert_refused(round_id, *runs)


def test_everything_from_the_round_folder_on(web):
    round_id = web.round()
    every = [*TABLES, "gate_requests", "gate_decisions", *ASSETS]
    web.assert_refused(round_id, web.launched(round_id, ASSET_JOB, every, checks=[]))


def test_execution_again(web):
    """From the failure, from the failed asset, all, and a chosen step under the same root run."""
    round_id = web.round()
    failed = web.launched(round_id)
    web.assert_refused(round_id, failed)
    again = [web.execute_again(failed, way) for way in ("FROM_FAILURE", "FROM_ASSET_FAILURE", "ALL_STEPS")]
    family = {"rootRunId": failed, "parentRunId": failed}
    for tags in ({}, {"dagster/is_resume_retry": "true"}):
        chosen = web.params(round_id, stepKeys=[ASSETS[0]], tags=tags, metadata=family)
        chosen["executionMetadata"]["tags"] = webserver_house.pairs({"dagster/partition": round_id, **tags})
        again.append(webserver_house.run_id_of(web.launch(chosen, "launchRunReexecution")))
    web.assert_refused(round_id, *again)


def test_a_backfill_of_the_job_that_the_server_submits_itself(web):
    rounds = [web.round(), web.round()]
    selector = {"partitionSetName": "publish_job_partition_set", "repositorySelector": REPOSITORY}
    launched = web.backfill(rounds, selector=selector, forceSynchronousSubmission=True)["launchedRunIds"]
    assert len(launched) == 2
    web.ended(*launched)
    said = "\n".join(map(web.said, launched))
    assert [f"nothing was made: {round_id}: MISSING: " in said for round_id in rounds] == [True, True]
    web.assert_nothing_passed(*rounds)


def test_no_partition_and_two_kinds_of_partition(web):
    round_id = web.round()
    run_id = web.launched(None)
    assert web.ended(run_id) == ["FAILURE"]
    both = web.params(round_id, tags={RANGE_START: round_id, RANGE_END: round_id})
    answer = web.launch(both)
    assert answer["__typename"] == "PythonError"
    assert "Cannot have dagster/asset_partition_range_start" in answer["message"]
    web.assert_nothing_passed(round_id)


@pytest.mark.parametrize("name", ["web", "account"])
def test_configuration_from_the_launchpad(request, tmp_path, name):
    """Somebody has a root of their own, with an approval of this very work, and points to it wherever they can."""
    house = request.getfixturevalue(name)
    round_id = house.round()
    mallory = rival(house, tmp_path / "mallory", round_id)
    planted = str(mallory.config)
    resource = {"config": {"config": planted, "named": planted, "root": planted, "place": {"env": "HOME"}}}
    configs = [
        {"resources": {"gate": resource, "workspace": resource}},
        {"resources": {"gate": {"config": planted}, "io_manager": {"config": {"base_dir": str(tmp_path)}}}},
    ]
    tags = {"gate": planted, "govern/config": planted, "GOVERN_CONFIG": planted}
    runs = [house.launched(round_id, runConfigData=json.dumps(config), tags=tags) for config in configs]
    house.assert_refused(round_id, *runs)


@pytest.mark.parametrize("config", [
    {"ops": {ASSETS[0]: {"config": {"config": "mine.toml"}}}},
    {"ops": {ASSETS[0]: {"inputs": {"gate": "mine.toml"}}}},
    {"resources": {"gate": "mine.toml"}},
    {"resources": {"gatekeeper": {"config": "mine.toml"}}},
])  # fmt: skip
def test_configuration_the_server_does_not_take(web, config):
    answer = web.launch(web.params(web.untouched[-1], runConfigData=json.dumps(config)))
    assert answer["__typename"] == "RunConfigValidationInvalid"
    web.assert_nothing_passed(web.untouched[-1])


def rival(house, folder, round_id):
    """Make another trust root beside a house, by which the round is approved."""
    other = GateHouse(folder, house.instance, RealClock())
    make_trust(folder / "trust", other.clock(), "mallory")
    other.lake = house.lake
    register_requests(PUBLISH, [round_id], other.gate.verifier(house.lake), other.clock())
    other.approve(round_id, who="mallory")
    assert standings(house.lake, other.gate, [round_id])[round_id].is_open
    return other


def test_an_approved_round_is_published_once_and_no_other_with_it(web):
    """The control: the same doors open when a person has decided, once."""
    approved, other = web.round(), web.round()
    done = web.approve_by_command(approved)
    assert done.returncode == 0, done.stderr

    both = {RANGE_START: approved, RANGE_END: other}
    assert web.ended(web.launched(None, ASSET_JOB, ASSETS, tags=both)) == ["FAILURE"]
    web.assert_nothing_passed(approved, other)

    first = web.launched(approved)
    assert web.ended(first) == ["SUCCESS"], web.said(first)
    whole = {(asset, approved) for asset in ASSETS}
    assert web.files(approved) == whole <= web.shown_as_made()
    events = {asset: web.events(approved, asset) for asset in ASSETS}
    assert events == dict.fromkeys(ASSETS, PASSAGE)
    assert whole.isdisjoint(web.not_consumed())

    # What Dagster remembers does not count: without it the decision stays used.
    digests = {asset: web.lake.digest(asset, approved) for asset in ASSETS}
    wiped = [{"assetKey": {"path": [asset]}} for asset in ASSETS]
    answer = web.query(WIPE, p=wiped)["wipeAssets"]
    assert answer["__typename"] == "AssetWipeSuccess"
    assert whole.isdisjoint(web.shown_as_made())
    family = {"metadata": {"rootRunId": first, "parentRunId": first}}
    web.assert_refused_as_used(approved, web.launched(approved))
    answer = web.query("mutation($id: String!) { deleteRun(runId: $id) { __typename } }", id=first)
    assert answer["deleteRun"]["__typename"] == "DeletePipelineRunSuccess"
    web.assert_refused_as_used(approved, web.launched(approved))

    # A run that says it goes on with the first one makes the same bytes, and nothing of another round.
    assert web.ended(web.launched(approved, **family)) == ["SUCCESS"]
    web.assert_refused(other, web.launched(other, **family))
    assert {asset: web.lake.digest(asset, approved) for asset in ASSETS} == digests
    assert {asset: web.events(approved, asset) for asset in ASSETS} == events


def test_a_read_only_server_takes_nothing(web):
    """How the web UI is served by default (spec: gate, in Dagster)."""
    port, round_id = webserver_house.free_port(), web.untouched[-1]
    web.serve(port, "--read-only")
    answer = web.query("mutation($p: ExecutionParams!) { launchRun(executionParams: $p) { __typename } }",
                       port, p=web.params(round_id))  # fmt: skip
    assert answer["launchRun"]["__typename"] == "UnauthorizedError"
    for path in ("/report_asset_materialization/published_features", "/report_asset_check/gate_decisions"):
        status, _ = web.post(path, {"partition": round_id, "check_name": "human_approval", "passed": True}, port)
        assert status == 401
    web.assert_nothing_passed(round_id)
