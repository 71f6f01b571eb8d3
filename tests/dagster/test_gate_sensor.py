"""The sensor `decisions`: each approval launches its round once, and nothing else does."""

from __future__ import annotations

import dagster as dg
import pytest
from gate_house import ASSETS, make_trust

from assets_defs import decision_sensor
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.events import EventType
from governance_pipeline.storage.heartbeat import last_beat


def asked_for(result):
    return [request.partition_key for request in result.run_requests or []]


def test_an_approval_is_launched_once_with_a_key_that_names_the_decision(asked):
    first = asked.tick()
    [decision] = asked.approve("r-2")
    second = asked.tick(first.cursor)
    third = asked.tick(second.cursor)
    assert [asked_for(result) for result in (first, second, third)] == [[], ["r-2"], []]
    [request] = second.run_requests
    assert request.run_key == f"publish:r-2:{decision}:1"
    assert {key.to_user_string() for key in request.asset_selection} == {"gate_decisions", *ASSETS}
    assert request.tags == {"govern/decision": decision}
    assert third.skip_reason.skip_message == "nobody has approved anything since the last tick"
    assert third.cursor.endswith(f":{asked.ledger.size()}")


def test_a_launched_request_publishes_its_round(asked):
    asked.approve("r-2")
    [request] = asked.tick().run_requests
    result = asked.run(request.partition_key, tags=request.tags)
    assert result.success
    assert asked.files() == {(asset, "r-2") for asset in ASSETS}


def test_a_tick_that_is_repeated_or_starts_over_asks_under_the_same_key(asked):
    asked.approve("r-1", "r-3")
    ticks = [asked.tick(), asked.tick(), asked.tick("no cursor of ours"), asked.tick("0" * 64 + ":99"), asked.tick("")]
    assert [asked_for(tick) for tick in ticks] == [["r-1", "r-3"]] * 5
    assert len({tuple(request.run_key for request in tick.run_requests) for tick in ticks}) == 1


def test_what_is_published_is_not_launched_when_the_cursor_is_lost(asked):
    asked.approve("r-1")
    assert asked.run("r-1").success
    result = asked.tick()
    assert asked_for(result) == []
    assert result.skip_reason.skip_message == "round r-1 is published already"


@pytest.mark.parametrize("verb", [Verb.REJECT, Verb.REVOKE])
def test_a_no_launches_nothing(asked, verb):
    asked.approve("r-1")
    cursor = asked.tick().cursor
    asked.decide("r-1", verb)
    assert asked_for(asked.tick(cursor)) == []


def test_the_first_of_two_needed_approvals_waits_for_the_second(asked):
    policy = asked.folder / "trust" / "policy.json"
    policy.write_text(_policy(quorum=2))
    with asked.config.open("a") as config:
        config.write(f'policy = "{policy}"\n')
    asked.ask("r-1")
    asked.approve("r-1")
    first = asked.tick()
    assert asked_for(first) == []
    assert first.skip_reason.skip_message.startswith("round r-1 needs another approver: 1 of 2")
    asked.approve("r-1", who="ben")
    second = asked.tick(first.cursor)
    assert asked_for(second) == ["r-1"]
    assert asked.run("r-1").success


def test_a_tick_looks_into_a_bounded_number_of_approvals(asked, monkeypatch):
    monkeypatch.setattr(decision_sensor, "DECISIONS_PER_TICK", 2)
    asked.approve("r-1", "r-2", "r-3")
    first = asked.tick()
    second = asked.tick(first.cursor)
    assert [asked_for(first), asked_for(second)] == [["r-1", "r-2"], ["r-3"]]


def test_a_round_this_instance_never_saw_becomes_a_partition(asked):
    asked.approve("r-1")
    asked.instance.delete_dynamic_partition("rounds", "r-1")
    result = asked.tick()
    assert [list(request.partition_keys) for request in result.dynamic_partitions_requests] == [["r-1"]]
    assert asked_for(result) == ["r-1"]


def test_an_event_somebody_wrote_launches_a_run_that_is_refused(asked):
    """A row in the ledger is no decision: the sensor may believe it, the asset does not."""
    body = {
        "gate": "publish",
        "round_id": "r-1",
        "request_id": asked.request_id("r-1"),
        "decision_id": "0" * 64,
        "envelope": "{}",
    }
    asked.ledger.append(EventType.APPROVED, "mallory", body, ts=asked.clock())
    [request] = asked.tick().run_requests
    assert not asked.run(request.partition_key).success
    assert asked.files() == set()


@pytest.mark.parametrize("round_id", ["../r-1", "", "a...b"])
def test_an_event_about_no_round_is_named_and_left(asked, round_id):
    body = {"gate": "publish", "round_id": round_id, "request_id": "0", "decision_id": "0" * 64, "envelope": "{}"}
    asked.ledger.append(EventType.APPROVED, "mallory", body, ts=asked.clock())
    result = asked.tick()
    assert asked_for(result) == []
    assert result.dynamic_partitions_requests == []
    assert "approves something that is not here" in result.skip_reason.skip_message


def test_without_a_gate_a_tick_says_how_to_make_one(asked):
    asked.config.unlink()
    result = asked.tick()
    assert isinstance(result, dg.SkipReason)
    assert "govern trust init" in result.skip_message


def test_a_gate_that_cannot_be_used_fails_the_tick_and_keeps_the_cursor(asked):
    """The daemon shows a failed tick and saves no cursor, so nothing is missed."""
    asked.config.chmod(0o666)
    with pytest.raises(Exception, match="can be written by others"):
        asked.tick()


def test_every_tick_leaves_a_sign_of_life(asked):
    assert last_beat(asked.lake, "decisions") is None
    asked.tick()
    assert last_beat(asked.lake, "decisions") == asked.clock.now
    asked.config.unlink()
    asked.clock.now = asked.clock.now.replace(minute=30)
    asked.tick()
    assert last_beat(asked.lake, "decisions") == asked.clock.now


def test_another_ledger_is_read_from_its_beginning(asked, tmp_path):
    asked.approve("r-1")
    cursor = asked.tick().cursor
    make_trust(tmp_path / "other", asked.clock.now, "ana")
    asked.gate.named = asked.config = tmp_path / "other" / "gate.toml"
    asked.ask("r-2")
    asked.approve("r-2")
    assert asked_for(asked.tick(cursor)) == ["r-2"]


def _policy(quorum):
    return f"""{{"schema": "govern/gate-policy/v1", "version": "2", "approvers": null, "quorum": {quorum},
      "distinct_controllers": true, "minimum_assurance": "key_file", "ttl_hours": 72, "exclude_lineage": true,
      "refuse_same_runtime": false, "minimum_validators": 0, "on_timeout": "reject"}}"""
