"""Many rounds at once: exactly the approved ones are published, and each other one says why it is not."""

from __future__ import annotations

import dagster as dg
import pytest
from gate_house import ASSETS, refusal_of

from governance_pipeline.errors import StorageError
from governance_pipeline.gate import publication
from governance_pipeline.gate.decision import Verb

ROUNDS = ("r-1", "r-2", "r-3", "r-4", "r-5")


def state_shown(house, round_id, check="human_approval"):
    """Return what the newest evaluation of a check says of a round: its metadata as text."""
    key = dg.AssetCheckKey(dg.AssetKey("gate_decisions"), check)
    records = house.instance.event_log_storage.get_asset_check_execution_history(key, limit=50)
    evaluations = [record.event.dagster_event.asset_check_evaluation_data for record in records if record.event]
    newest = next(evaluation for evaluation in evaluations if evaluation.partition == round_id)
    return {name: value.value for name, value in newest.metadata.items()}


def test_of_five_rounds_exactly_the_two_approved_ones_are_published(asked):
    """A backfill of gated assets is one run per round: there is no backfill policy."""
    asked.approve("r-1", "r-4")
    asked.decide("r-5", Verb.REJECT)
    results = {round_id: asked.run(round_id) for round_id in ROUNDS}
    assert {key for key, result in results.items() if result.success} == {"r-1", "r-4"}
    assert asked.files() == asked.shown_as_made() == {(asset, r) for asset in ASSETS for r in ("r-1", "r-4")}
    assert asked.check_status("human_approval") == {
        "r-1": "SUCCEEDED",
        "r-2": "FAILED",
        "r-3": "FAILED",
        "r-4": "SUCCEEDED",
        "r-5": "FAILED",
    }
    shown = {round_id: state_shown(asked, round_id) for round_id in ROUNDS}
    assert {key: said["state"] for key, said in shown.items()} == {
        "r-1": "OPEN",
        "r-2": "PENDING",
        "r-3": "PENDING",
        "r-4": "OPEN",
        "r-5": "REJECTED",
    }
    assert shown["r-2"]["reason"].startswith("MISSING: ")
    assert f"govern gate show {asked.request_id('r-2')}" in shown["r-2"]["reason"]
    assert shown["r-5"]["reason"].startswith("REVOKED: ")
    assert "I read it" in shown["r-5"]["reason"]


def test_approving_one_more_needs_no_work_on_the_others(asked):
    asked.approve("r-1")
    assert asked.run("r-1").success
    before = asked.events("r-1")
    asked.approve("r-2")
    assert asked.run("r-2").success
    assert asked.events("r-1") == before
    assert asked.files() == {(asset, r) for asset in ASSETS for r in ("r-1", "r-2")}


def test_one_run_over_all_rounds_makes_none_while_one_is_closed_and_names_every_closed_one(asked):
    asked.approve("r-1", "r-2", "r-4")
    result = asked.run(*ROUNDS)
    assert asked.files() == asked.shown_as_made() == set()
    assert "CONSUMED" not in asked.events()
    [failure] = [event.step_failure_data for event in result.all_events if event.is_step_failure]
    assert set(failure.user_failure_data.metadata["refused_rounds"].value) == {"r-3", "r-5"}
    assert asked.check_status("human_approval")["r-3"] == "FAILED"
    alone = asked.run_selection(dg.AssetSelection.assets(*ASSETS), *ROUNDS)
    assert "r-3: MISSING" in refusal_of(alone)
    assert asked.files() == set()


def test_one_run_over_approved_rounds_publishes_each_with_its_own_metadata(asked):
    asked.approve("r-2", "r-3")
    assert asked.run("r-2", "r-3").success
    assert asked.files() == asked.shown_as_made() == {(asset, r) for asset in ASSETS for r in ("r-2", "r-3")}
    for asset in ASSETS:
        records = asked.instance.fetch_materializations(dg.AssetKey(asset), limit=9).records
        digests = {r.partition_key: r.asset_materialization.metadata["sha256"].value for r in records}
        assert digests == {round_id: asked.lake.digest(asset, round_id) for round_id in ("r-2", "r-3")}
    assert asked.check_status("human_approval") == {"r-2": "SUCCEEDED", "r-3": "SUCCEEDED"}


def test_a_fault_in_the_second_round_keeps_the_first_and_says_so(asked, monkeypatch):
    asked.approve("r-2", "r-3")

    write = publication.write

    def stumble(release):
        if release.round_id == "r-3":
            raise StorageError("the disk is full")
        return write(release)

    monkeypatch.setattr(publication, "write", stumble)
    result = asked.run("r-2", "r-3")
    assert "1 of 2 rounds failed, the others are stored: r-3: StorageError: the disk is full" in refusal_of(result)
    assert asked.files() == asked.shown_as_made() == {(asset, "r-2") for asset in ASSETS}
    assert asked.events("r-3", ASSETS[0]) == ["INTENT", "CONSUMED"]


@pytest.mark.parametrize("rounds", [("r-1",), ("r-1", "r-2", "r-3")])
def test_a_request_shows_state_claims_and_the_command_that_approves(asked, rounds):
    assert asked.run(*rounds, job="gate_job").success
    for round_id in rounds:
        wanted = dg.AssetRecordsFilter(dg.AssetKey("gate_requests"), asset_partitions=[round_id])
        [record] = asked.instance.fetch_materializations(wanted, limit=1).records
        shown = record.asset_materialization.metadata
        request_id = asked.request_id(round_id)
        assert shown["state"].value == "PENDING"
        assert shown["request_id"].value == request_id
        assert shown["approve_with"].value == (
            f"govern gate approve {request_id} --lake {asked.lake.root} --key YOUR_KEY.pem --config {asked.config}"
        )
        [claim] = shown["claims"].records
        assert (claim.data["declared"], claim.data["computed"], claim.data["status"]) == ("2", "2", "match")
        assert [type(value).__name__ for value in shown.values() if "Markdown" in type(value).__name__] == []


def test_rounds_without_an_audit_are_named_and_the_others_are_asked_about(asked):
    asked.register("r-6")
    result = asked.run("r-4", "r-6", job="gate_job")
    assert not result.success
    assert "r-6: StorageError" in refusal_of(result)
    assert asked.instance.get_materialized_partitions(dg.AssetKey("gate_requests")) == {"r-4", "r-5"}


def test_without_a_gate_an_audit_asks_nobody_and_stays_green(house):
    house.write_rounds("r-1", "r-2")
    result = house.run("r-1", "r-2")
    assert result.success
    assert house.materialized("verdict_rounds") == {"r-1", "r-2"}
    assert house.materialized("gate_requests") == set()
    assert not house.workspace.lake.has("gate_requests", "r-1")
    warnings = [str(entry.user_message) for entry in house.instance.all_logs(result.run_id)]
    assert any("no gate is configured" in text and "govern trust init" in text for text in warnings)


@pytest.mark.parametrize("job", ["gate_job", "publish_job"])
def test_without_a_gate_asking_and_publishing_are_refused_and_say_how_to_make_one(house, job):
    house.write_rounds("r-1")
    house.make("r-1")
    said = refusal_of(house.run("r-1", job=job))
    assert "MISSING" in said
    assert "govern trust init" in said


def test_a_gate_that_cannot_be_used_is_a_closed_one(asked):
    asked.approve("r-1")
    asked.config.chmod(0o666)
    result = asked.run("r-1")
    assert "can be written by others" in refusal_of(result)
    assert state_shown(asked, "r-1")["state"] == "INTERNAL"
    assert asked.files() == set()
