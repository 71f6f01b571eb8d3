"""Who approved, refused or judged what in OpenHands logs; what merely looks like an approval is none."""

from __future__ import annotations

import json

import pytest

LOG = "logs/output.jsonl"


def action(event_id, state=None, command="rm x", **args):
    if state is not None:
        args["confirmation_state"] = state
    return {
        "id": event_id,
        "timestamp": "2025-04-30T16:45:43.6",
        "source": "agent",
        "action": "run",
        "args": {"command": command, **args},
        "tool_call_metadata": {"function_name": "execute_bash", "tool_call_id": "t1"},
    }


def observation(cause, kind="run", content="out"):
    return {"id": 90 + cause, "source": "agent", "observation": kind, "cause": cause, "content": content, "extras": {}}


def record(*history, **members):
    return [{"instance_id": "i-1", "history": list(history), "metrics": {}, "error": None, **members}]


def approvals(rows, files):
    return [
        (row["kind"], row["by"], row["call_id"], row["result"], row["reason"]) for row in rows("core_approvals", files)
    ]


def test_confirmed_is_the_default_of_an_action_and_nobodys_approval(rows):
    assert approvals(rows, {LOG: record(action(1, "confirmed"), observation(1))}) == []
    assert approvals(rows, {LOG: record(action(1, is_confirmed="confirmed"), observation(1))}) == []


def test_an_action_that_waited_and_ran_was_approved_and_is_one_step(read):
    tables = read({LOG: record(action(1, "awaiting_confirmation"), action(2, "confirmed"), observation(2))})
    found = [(row["kind"], row["by"], row["result"], row["pointer"]) for row in tables.rows("core_approvals")]
    assert found == [
        ("mode", None, "awaiting_confirmation", "/history/0"),
        ("approved", "human", "confirmed", "/history/1"),
    ]
    assert [row["status"] for row in tables.rows("core_steps")] == [None]  # no exit code, but one step


def test_an_action_that_waited_and_was_refused_is_a_rejection_with_the_words_of_the_user(read):
    history = [action(1, "awaiting_confirmation"), action(2, "rejected"), observation(2, "user_rejected", "not that")]
    tables = read({LOG: record(*history)})
    (_, refusal) = tables.rows("core_approvals")
    assert (refusal["kind"], refusal["by"], refusal["call_id"], refusal["reason"]) == (
        "rejected",
        "human",
        "t1",
        "not that",
    )
    assert [row["status"] for row in tables.rows("core_steps")] == ["rejected"]


def test_a_rejection_is_found_by_its_observation_alone_and_without_any_request(rows):
    assert approvals(rows, {LOG: record(action(1), observation(1, "user_rejected", ""))}) == [
        ("rejected", "human", "t1", "user_rejected", None)
    ]
    assert approvals(rows, {LOG: record(action(1, is_confirmed="rejected"))}) == [
        ("rejected", "human", "t1", "rejected", None)
    ]


def test_an_action_that_still_waits_when_the_log_ends_has_not_run(read):
    tables = read({LOG: record(action(1), observation(1), action(2, "awaiting_confirmation"))})
    assert len(list(tables.rows("core_steps"))) == 1
    assert [row["kind"] for row in tables.rows("core_approvals")] == ["mode"]


def test_the_verdict_of_the_resolver_is_a_review_by_a_model(rows):
    found = approvals(rows, {LOG: record(success=True, result_explanation="License added.")})
    assert found == [("review", "model", None, "success: true", "License added.")]


def test_each_review_comment_has_its_verdict(rows):
    members = {"success": False, "comment_success": [True, False, "x"], "result_explanation": ["done", "not yet"]}
    assert approvals(rows, {LOG: record(**members)}) == [
        ("review", "model", None, "success: false", None),
        ("review", "model", None, "comment_success: true", "done"),
        ("review", "model", None, "comment_success: false", "not yet"),
    ]


@pytest.mark.parametrize(
    ("members", "results"),
    [
        ({"correct": True}, ["correct: true"]),
        ({"test_result": {"git_patch": "", "report": {"resolved": False}}}, ["resolved: false"]),
        ({"test_result": {"resolved": "yes"}, "report": {"resolved": None}, "correct": 1}, []),
        ({"success": None, "comment_success": None}, []),
    ],
)
def test_the_verdict_of_a_benchmark_is_a_review_by_a_rule_and_no_verdict_is_none(rows, members, results):
    assert [result for _, _, _, result, _ in approvals(rows, {LOG: record(**members)})] == results


def event(kind, event_id, **members):
    return {"kind": kind, "id": event_id, "source": "agent", "timestamp": "2026-06-16T05:39:48.7", **members}


def call(event_id, call_id, **members):
    return event(
        "ActionEvent", event_id, tool_name="terminal", tool_call_id=call_id, action={"command": "rm x"}, **members
    )


def answer(event_id, action_id, **members):
    return event("ObservationEvent", event_id, action_id=action_id, observation={"content": "ok"}, **members)


def status(event_id, value):
    return event("ConversationStateUpdateEvent", event_id, key="execution_status", value=value)


def test_the_policy_of_a_conversation_is_its_approval_mode(rows):
    state = {
        "id": "c",
        "agent": {"llm": {}},
        "execution_status": "idle",
        "confirmation_policy": {"kind": "AlwaysConfirm"},
    }
    assert approvals(rows, {"logs/base_state.json": json.dumps(state)}) == [("mode", None, None, "AlwaysConfirm", None)]
    changed = event("ConversationStateUpdateEvent", "1", key="confirmation_policy", value={"kind": "NeverConfirm"})
    assert approvals(rows, {"logs/e.jsonl": [changed]}) == [("mode", None, None, "NeverConfirm", None)]


def test_a_call_that_waited_for_the_user_and_ran_was_approved_and_others_were_not(rows):
    events = [
        call("1", "a"),
        answer("2", "1"),
        call("3", "b"),
        status("4", "waiting_for_confirmation"),
        status("5", "running"),
        answer("6", "3"),
        call("7", "c"),
        answer("8", "7"),
    ]
    assert approvals(rows, {"logs/e.jsonl": events}) == [("approved", "human", "b", "waiting_for_confirmation", None)]


@pytest.mark.parametrize(("source", "by"), [({}, "human"), ({"rejection_source": "hook"}, "rule")])
def test_a_refused_call_names_who_refused_it_and_why(rows, source, by):
    refusal = event("UserRejectObservation", "2", action_id="1", rejection_reason="too risky", **source)
    assert approvals(rows, {"logs/e.jsonl": [call("1", "a"), refusal]}) == [("rejected", by, "a", None, "too risky")]


def test_the_score_of_a_critic_is_a_review_by_a_model(rows):
    events = [call("1", "a", critic_result={"score": 0.85, "message": "fine"}), call("2", "b", critic_result=None)]
    assert approvals(rows, {"logs/e.jsonl": events}) == [("review", "model", "a", "score: 0.85", "fine")]
