"""Forged events through a real web server: they colour pages green, publish nothing, open nothing, and are found."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from gate_house import ASSETS


def _load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


webserver_house = _load("webserver_house")
CHECKS = ("human_approval", "validator_is_independent")
CONSUMED = "gated_materializations_are_consumed"
FORGED = {"approved_by": ["ana"], "decision_ids": ["0" * 64], "is_throwaway": False, "dagster/run_id": "1"}

REPORT = """mutation($p: ReportRunlessAssetEventsParams!) { reportRunlessAssetEvents(eventParams: $p) {
  __typename ... on PythonError { message } } }"""
REPORT_CHECK = """mutation($p: ReportAssetCheckEvaluationsParams!) { reportAssetCheckEvaluations(eventParams: $p) {
  __typename ... on PythonError { message } } }"""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def web(asked_folder, tmp_path_factory):
    """Give a served house; each test takes rounds of its own."""
    folder, rounds = tmp_path_factory.mktemp("web"), [f"r-{number}" for number in range(1, 8)]
    with webserver_house.web_house(folder, asked_folder / "landing" / "r-1", rounds) as house:
        yield house


def audit_of_files(web):
    """Ask the command line, which asks no Dagster: is every published file one that passed?"""
    return web.command("gate", "verify", "--lake", web.lake.root, "--config", web.config)


def test_a_materialization_reported_through_graphql(web):
    round_id = web.round()
    for asset in ASSETS:
        params = {"eventType": "ASSET_MATERIALIZATION", "assetKey": {"path": [asset]}, "partitionKeys": [round_id]}
        answer = web.query(REPORT, p=params)["reportRunlessAssetEvents"]
        assert answer["__typename"] == "ReportRunlessAssetEventsSuccess"
    web.assert_nothing_passed(round_id, shown=ASSETS)
    found = web.not_consumed()
    assert {key for key in found if key[1] == round_id} == {(asset, round_id) for asset in ASSETS}
    assert "reported, not published" in found[ASSETS[0], round_id]
    assert audit_of_files(web).returncode == 0


@pytest.mark.parametrize("names_round", [True, False])
def test_a_materialization_posted_with_metadata(web, names_round):
    round_id = web.round()
    body = {"metadata": FORGED, "data_version": "1", **({"partition": round_id} if names_round else {})}
    for path in (ASSETS[0], f"?asset_key=%5B%22{ASSETS[0]}%22%5D"):
        assert web.post(f"/report_asset_materialization/{path}", body) == (200, {})
    web.assert_nothing_passed(round_id, shown=ASSETS[:1] if names_round else ())
    found = web.not_consumed()
    assert "reported, not published" in found[ASSETS[0], round_id if names_round else ""]


def test_a_forged_passing_check(web):
    round_id = web.round()
    forged = {"check_name": CHECKS[0], "passed": True, "partition": round_id, "metadata": {"state": "OPEN"}}
    assert web.post("/report_asset_check/gate_decisions", forged) == (200, {})
    params = {"assetKey": {"path": ["gate_decisions"]}, "checkName": CHECKS[1], "passed": True,
              "partitionKeys": [round_id]}  # fmt: skip
    answer = web.query(REPORT_CHECK, p=params)["reportAssetCheckEvaluations"]
    assert answer["__typename"] == "ReportAssetCheckEvaluationsSuccess", answer
    reported = {"partition": round_id, "metadata": FORGED}
    assert web.post("/report_asset_materialization/gate_decisions", reported) == (200, {})
    alone = web.launched(round_id, webserver_house.ASSET_JOB, ASSETS)
    web.assert_refused(round_id, web.launched(round_id), alone)
    assert web.check_status("human_approval")[round_id] == "FAILED"


def test_a_forged_answer_to_whether_all_was_consumed(web):
    """The forgery holds until the check runs again; the gate and the command line never look at it."""
    round_id = web.round()
    assert web.post(f"/report_asset_materialization/{ASSETS[0]}", {"partition": round_id}) == (200, {})
    assert web.post("/report_asset_check/gate_ledger", {"check_name": CONSUMED, "passed": True}) == (200, {})
    assert (ASSETS[0], round_id) in web.not_consumed()
    web.assert_refused(round_id, web.launched(round_id), shown=ASSETS[:1])
    assert audit_of_files(web).returncode == 0


def test_a_report_does_not_keep_a_round_from_being_published_and_one_that_hides_it_is_found(web):
    round_id = web.round()
    whole = {(asset, round_id) for asset in ASSETS}
    assert web.post(f"/report_asset_materialization/{ASSETS[0]}", {"partition": round_id}) == (200, {})
    done = web.approve_by_command(round_id)
    assert done.returncode == 0, done.stderr + done.stdout
    run_id = web.launched(round_id)
    assert web.ended(run_id) == ["SUCCESS"], web.said(run_id)
    assert web.files(round_id) == whole
    assert whole.isdisjoint(web.not_consumed())
    events, digest = web.events(round_id), web.lake.digest(ASSETS[1], round_id)

    hiding = {"partition": round_id, "metadata": {**FORGED, "sha256": digest}}
    assert web.post(f"/report_asset_materialization/{ASSETS[1]}", hiding) == (200, {})
    found = web.not_consumed()
    assert {key for key in found if key[1] == round_id} == {(ASSETS[1], round_id)}
    assert "what Dagster shows of it was reported" in found[ASSETS[1], round_id]

    again = web.execute_again(run_id, "ALL_STEPS")
    assert web.ended(again) == ["SUCCESS"], web.said(again)
    assert whole.isdisjoint(web.not_consumed())
    assert web.events(round_id) == events
    assert web.lake.digest(ASSETS[1], round_id) == digest
