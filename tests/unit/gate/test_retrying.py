"""What is approved and failed stays approved and is tried again when somebody says so; what is closed never is."""

from __future__ import annotations

import pytest
from gate_world import FEATURES, HOUR, NOON, REPORT

from governance_pipeline.errors import UsageError
from governance_pipeline.gate.attempts import resumed_run
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.launching import due_launches
from governance_pipeline.gate.publication import publish
from governance_pipeline.gate.retrying import ask_again, ask_each_again, note_failure
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.trust.reasons import Refusal

LATER = NOON + HOUR


def state(world, now=LATER):
    history = world.history()
    return standing_of(history.requests[-1], world.verifier(now), history, now)


def fail(world, run="run-1", root_run=None, now=LATER):
    return note_failure(world.verifier(now), "r1", run, root_run or run, now)


def retry(world, name="r1", now=LATER):
    return ask_again(world.verifier(now), name, now)


def due(world, after=0, now=LATER):
    return due_launches(world.verifier(now), after, now)


def test_a_failed_run_leaves_the_request_approved_and_says_how_to_try_again(approved):
    fail(approved)
    standing = state(approved)
    assert (standing.state, standing.code) == (State.APPROVED_FAILED, None)
    assert standing.message.startswith("run run-1 failed at ")
    assert f"govern gate retry {approved.id}" in standing.message


def test_a_failure_is_noted_once_however_often_it_is_told(approved):
    assert [len(fail(approved)) for _ in range(3)] == [1, 0, 0]
    assert approved.events("RUN_FAILED") == ["RUN_FAILED"]


@pytest.mark.parametrize("verb", [Verb.REJECT, Verb.REVOKE])
def test_a_run_that_was_refused_by_a_closed_gate_is_no_failure(approved, verb):
    approved.decide(approved.id, "ben", verb)
    assert fail(approved) == []
    assert state(approved).state in (State.REJECTED, State.REVOKED)


def test_a_round_that_waits_for_a_decision_cannot_fail(asked):
    assert fail(asked) == []


def test_a_retry_is_the_next_attempt_and_launches_under_a_key_of_its_own(approved):
    first = due(approved)
    fail(approved)
    event = retry(approved)
    assert (event.type, event.body["attempt"], event.body["decision_id"]) == ("RETRY", 2, approved.decision)
    assert state(approved).state is State.APPROVED
    again = due(approved, first.seen)
    assert [launch.key for launch in (*first.launches, *again.launches)] == [
        f"publish:r1:{approved.decision}:1",
        f"publish:r1:{approved.decision}:2",
    ]
    assert due(approved, again.seen).launches == []


def test_it_can_fail_and_be_tried_any_number_of_times(approved):
    attempts = []
    for number in range(3):
        fail(approved, f"run-{number}")
        assert state(approved).state is State.APPROVED_FAILED
        attempts.append(retry(approved, approved.id[:12]).body["attempt"])
    assert attempts == [2, 3, 4]
    [launch] = due(approved).launches
    assert launch.key.endswith(":4"), "the newest word about a round counts"


def test_what_a_run_has_begun_goes_on_as_that_run_and_the_rest_as_a_new_one(approved):
    approved.guard(FEATURES, run="run-1", now=LATER)
    fail(approved)
    event = retry(approved)
    assert event.body["root_runs"] == {FEATURES: "run-1"}
    [launch] = due(approved).launches
    assert launch.assets == (REPORT, FEATURES)
    history = approved.history()
    assert [resumed_run(history, launch.key, "r1", asset) for asset in launch.assets] == [None, "run-1"]
    for asset in launch.assets:
        root = resumed_run(history, launch.key, "r1", asset) or "run-2"
        [release] = approved.guard(asset, run="run-2", root_run=root, now=LATER)
        publish(release, now=lambda: LATER)
    assert state(approved).state is State.CONSUMED
    assert approved.events("CONSUMED", "DONE") == ["CONSUMED", "CONSUMED", "DONE", "DONE"]


def test_another_run_of_what_was_begun_is_a_replay_also_after_a_retry(approved):
    approved.guard(FEATURES, run="run-1", now=LATER)
    fail(approved)
    retry(approved)
    with pytest.raises(Refusal, match=r"^REPLAYED"):
        approved.guard(FEATURES, run="run-2", now=LATER)


def test_a_tag_that_names_no_attempt_of_this_round_resumes_nothing(approved):
    approved.guard(FEATURES, run="run-1", now=LATER)
    key = f"publish:r1:{approved.decision}:2"
    assert resumed_run(approved.history(), key, "r1", FEATURES) is None
    retry(approved)
    assert resumed_run(approved.history(), key, "r1", FEATURES) == "run-1"
    assert resumed_run(approved.history(), key, "r2", FEATURES) is None


def test_everything_begun_and_nothing_done_is_listed_as_failed_and_goes_on(approved):
    for asset in (FEATURES, REPORT):
        approved.guard(asset, run="run-1", now=LATER)
    assert state(approved).state is State.CONSUMED
    fail(approved)
    assert state(approved).state is State.APPROVED_FAILED
    assert due(approved).reasons == ["round r1 is published already"]
    retry(approved)
    assert [launch.assets for launch in due(approved, approved.ledger.size() - 1).launches] == [(REPORT, FEATURES)]


def test_a_killed_run_nobody_noticed_can_be_tried_again_too(approved):
    approved.guard(FEATURES, run="run-1", now=LATER)
    assert retry(approved).body["root_runs"] == {FEATURES: "run-1"}


def test_what_is_published_is_not_tried_again(approved):
    for asset in (FEATURES, REPORT):
        [release] = approved.guard(asset, now=LATER)
        publish(release, now=lambda: LATER)
    assert fail(approved, "run-9") == []
    with pytest.raises(Refusal, match=r"^REPLAYED: .*published"):
        retry(approved)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda w: w.decide(w.id, "ben", Verb.REJECT), "REVOKED"),
        (lambda w: w.decide(w.id, "ana", Verb.REVOKE), "REVOKED"),
        (lambda w: w.make_round(surface=4.0), "DIGEST_MISMATCH"),
        (lambda w: w.ledger.append("FREEZE", "dot", {"round_id": None, "reason": "x"}, ts=NOON), "FROZEN"),
    ],
)
def test_a_closed_gate_is_not_tried_again_and_what_was_asked_before_launches_nothing(approved, change, code):
    fail(approved)
    retry(approved)
    before = approved.ledger.size()
    change(approved)
    with pytest.raises(Refusal, match=f"^{code}"):
        retry(approved)
    found = due(approved)
    assert found.launches == []
    assert code in found.reasons[0]
    assert found.seen >= before


def test_after_its_time_it_is_expired_and_not_tried_again(approved):
    fail(approved)
    late = NOON + 72 * HOUR
    assert state(approved, late).state is State.EXPIRED
    with pytest.raises(Refusal, match=r"^EXPIRED"):
        retry(approved, now=late)


def test_a_superseded_request_is_not_tried_again(approved):
    fail(approved)
    approved.make_round(surface=4.0)
    approved.request(now=LATER)
    with pytest.raises(Refusal, match=r"^SUPERSEDED"):
        retry(approved, approved.id)


def test_a_new_decision_launches_by_itself_and_is_no_failure(approved):
    fail(approved)
    approved.decide(approved.id, "ana", Verb.REVOKE)
    approved.decide(approved.id, "ana", now=LATER)
    assert state(approved).state is State.APPROVED


@pytest.mark.parametrize("name", ["", "r9", "zz"])
def test_a_name_that_stands_for_nothing_is_a_usage_error_before_anything_is_recorded(approved, name):
    with pytest.raises(UsageError, match="govern gate inbox"):
        ask_each_again(approved.verifier(LATER), ["r1", name], LATER)
    assert approved.events("RETRY") == []


def test_each_has_its_own_result(approved):
    approved.make_round("r2")
    approved.request("r2")
    done = ask_each_again(approved.verifier(LATER), ["r1", approved.id, "r2"], LATER)
    assert [(entry["round_id"], entry["recorded"], entry["attempt"], entry["code"]) for entry in done] == [
        ("r1", True, 2, None),
        ("r2", False, None, "MISSING"),
    ]


@pytest.mark.parametrize(
    "body",
    [{}, {"attempt": 1}, {"attempt": True}, {"attempt": 2, "root_runs": {"a": 1}}, {"attempt": 2, "round_id": "../x"}],
)
def test_a_junk_attempt_closes_every_gate_until_it_is_looked_at(approved, body):
    whole = {"gate": "publish", "round_id": "r1", "request_id": "q", "decision_id": "d", "attempt": 2, "root_runs": {}}
    junk = {**whole, **body} if body else {}
    approved.ledger.append("RETRY", "forger", junk, ts=NOON)
    with pytest.raises(Refusal, match=r"^LOG_INCONSISTENT"):
        retry(approved)
    with pytest.raises(Refusal, match=r"^LOG_INCONSISTENT"):
        approved.guard(FEATURES, now=LATER)
