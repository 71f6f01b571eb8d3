"""A run that failed although its gate was open is noted; what a person says to try again goes on where it stopped."""

from __future__ import annotations

import dagster as dg
import pytest
from gate_house import ASSETS, refusal_of

from assets_defs.failed_publications import failed_publications
from governance_pipeline.gate import publication
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.retrying import ask_again
from governance_pipeline.gate.states import State, standing_of


def state(house, round_id="r-1"):
    history = read_history(house.ledger)
    request = history.in_force("publish", round_id)
    return standing_of(request, house.gate.verifier(house.lake), history, house.clock()).state


def told(house, result):
    """Tell the sensor of a failed run, as the daemon does."""
    run = house.instance.get_run_by_id(result.run_id)
    event = next(e for e in reversed(result.all_events) if e.is_failure and not e.is_step_event)
    context = dg.build_run_status_sensor_context(
        sensor_name="failed_publications",
        dagster_instance=house.instance,
        dagster_run=run,
        dagster_event=event,
        resources=house.resources,
    ).for_run_failure()
    return failed_publications(context).skip_message


def broken(monkeypatch, asset):
    """Make writing one asset fail as a full disk would."""
    real = publication.write

    def write(release):
        if release.asset == asset:
            raise OSError("no space left")
        return real(release)

    monkeypatch.setattr(publication, "write", write)


def retry(house, round_id="r-1"):
    return ask_again(house.gate.verifier(house.lake), round_id, house.clock())


def launched(house, cursor=None):
    tick = house.tick(cursor)
    return tick, tick.run_requests or []


def test_what_failed_stays_approved_and_is_published_by_the_attempt_a_person_asks_for(asked, monkeypatch):
    asked.approve("r-1")
    first, [request] = launched(asked)
    with monkeypatch.context() as patched:
        broken(patched, ASSETS[1])
        failed = asked.run("r-1", tags=request.tags)
    assert not failed.success
    assert asked.files() == {(ASSETS[0], "r-1")}
    assert told(asked, failed) == "noted as approved and failed: r-1"
    assert told(asked, failed).startswith("noted as approved and failed: nothing")
    assert state(asked) is State.APPROVED_FAILED
    assert launched(asked, first.cursor)[1] == [], "nothing is tried again by itself"
    retry(asked)
    second, [again] = launched(asked, first.cursor)
    assert again.run_key == f"{request.run_key[:-1]}2"
    assert [key.to_user_string() for key in again.asset_selection] == ["gate_decisions", ASSETS[1]]
    assert asked.run("r-1", tags=again.tags, asset_selection=again.asset_selection).success
    assert state(asked) is State.CONSUMED
    assert asked.events("r-1", ASSETS[1]) == ["INTENT", "CONSUMED", "RELEASED", "DONE"]
    assert launched(asked, second.cursor)[1] == []


def test_a_run_without_the_attempts_tag_is_another_run_and_refused(asked, monkeypatch):
    asked.approve("r-1")
    with monkeypatch.context() as patched:
        broken(patched, ASSETS[0])
        told(asked, asked.run("r-1"))
    retry(asked)
    assert "REPLAYED" in refusal_of(asked.run("r-1"))
    assert "REPLAYED" in refusal_of(asked.run("r-1", tags={"govern/attempt": "publish:r-1:made-up:2"}))


@pytest.mark.parametrize("verb", [None, Verb.REJECT, Verb.REVOKE])
def test_a_run_the_gate_refused_is_no_failure(asked, verb):
    if verb is not None:
        asked.approve("r-1")
        asked.decide("r-1", verb)
    refused = asked.run("r-1")
    assert told(asked, refused).startswith("noted as approved and failed: nothing")
    assert "RUN_FAILED" not in asked.events()


def test_a_refusal_is_no_failure_also_when_the_gate_has_opened_since(asked):
    refused = asked.run("r-1")
    asked.approve("r-1")
    told(asked, refused)
    assert state(asked) is State.APPROVED


def test_a_failed_audit_is_none_of_its_business(asked):
    asked.approve("r-1")
    (asked.workspace.landing / "r-1").rename(asked.workspace.landing / "r-9")
    assert told(asked, asked.run("r-1", job="raw_job")) == "the failed run published nothing a gate releases"


def test_a_retry_after_a_revocation_launches_nothing(asked, monkeypatch):
    asked.approve("r-1")
    first = asked.tick()
    with monkeypatch.context() as patched:
        broken(patched, ASSETS[0])
        told(asked, asked.run("r-1"))
    retry(asked)
    asked.decide("r-1", Verb.REVOKE)
    second = asked.tick(first.cursor)
    assert second.run_requests == []
    assert "its gate is closed: REVOKED" in second.skip_reason.skip_message
