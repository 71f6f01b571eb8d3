"""What a Codex session says of approvals: policies, refusals, the guardian, reviews."""

from __future__ import annotations

import pytest

LOG = "logs/rollout.jsonl"
REFUSED = "exec command rejected by user"


def line(kind, **payload):
    return {"timestamp": "2026-02-23T11:40:00.000Z", "type": kind, "payload": payload}


def call(call_id="c"):
    return line(
        "response_item", type="function_call", name="exec_command", arguments='{"cmd": "rm x"}', call_id=call_id
    )


def output(text, call_id="c"):
    return line("response_item", type="function_call_output", output=text, call_id=call_id)


@pytest.fixture
def approvals(read):
    """Give a function that reads lines and returns (kind, by, by_id, call_id, result, reason) of each approval."""

    def _approvals(*lines):
        rows = read({LOG: [line("session_meta", id="s"), *lines]}).rows("core_approvals")
        return [tuple(row[name] for name in ("kind", "by", "by_id", "call_id", "result", "reason")) for row in rows]

    return _approvals


def test_a_policy_is_told_when_it_changes(approvals):
    turns = [line("turn_context", approval_policy=policy) for policy in ("on-request", "on-request", "never")]
    settings = line("event_msg", type="thread_settings_applied", thread_settings={"approval_policy": "never"})
    reviewed = line("turn_context", approval_policy={"granular": {"rules": True}}, approvals_reviewer="guardian")
    assert [(row[0], row[2], row[4]) for row in approvals(*turns, settings, reviewed)] == [
        ("mode", None, "on-request"),
        ("mode", None, "never"),
        ("mode", "guardian", '{"granular": {"rules": true}}'),
    ]


def test_a_refusal_by_the_person_is_told_once_and_the_step_was_rejected(approvals, read):
    end = line("event_msg", type="exec_command_end", call_id="c", exit_code=-1, status="declined", stderr=REFUSED)
    lines = [call(), end, output(REFUSED)]
    assert approvals(*lines) == [("rejected", "human", None, "c", "declined", None)]
    tables = read({LOG: [line("session_meta", id="s"), *lines]})
    (step,) = tables.rows("core_steps")
    assert (step["status"], step["exit_code"]) == ("rejected", None)
    assert [run["opaque_step_count"] for run in tables.rows("core_runs")] == [0]


def test_older_logs_tell_a_refusal_by_the_output_alone(approvals):
    assert approvals(call(), output(REFUSED)) == [("rejected", "human", None, "c", REFUSED, None)]


def test_output_that_quotes_a_refusal_is_none(approvals):
    assert approvals(call(), output(f"Exit code: 0\nOutput:\n{REFUSED}")) == []


def test_a_patch_declined_by_nobody_named_has_no_person(approvals):
    end = line("event_msg", type="patch_apply_end", call_id="p", success=False, status="declined")
    assert approvals(end) == [("rejected", None, None, "p", "declined", None)]


@pytest.mark.parametrize(
    ("status", "kind"),
    [("approved", "approved"), ("denied", "rejected"), ("timed_out", "review"), ("in_progress", None)],
)
def test_the_guardian_is_a_model(approvals, status, kind):
    found = approvals(
        line(
            "event_msg",
            type="guardian_assessment",
            status=status,
            target_item_id="c",
            rationale="why",
            risk_level="low",
        )
    )
    assert found == ([] if kind is None else [(kind, "model", "guardian", "c", status, "why")])


def test_a_review_that_was_left_without_a_verdict_is_none(approvals):
    verdict = {"overall_correctness": "patch is correct", "overall_explanation": "because", "findings": []}
    done = line("event_msg", type="exited_review_mode", review_output=verdict)
    left = line("event_msg", type="exited_review_mode", review_output=None)
    assert approvals(done, left) == [("review", "model", None, None, "patch is correct", "because")]


def test_a_fork_leaves_verdicts_on_copied_calls_to_its_parent(read):
    parent = [line("session_meta", id="p"), call(), output(REFUSED)]
    child = [line("session_meta", id="c", forked_from_id="p"), *({**each, "timestamp": None} for each in parent)]
    rows = read({"logs/a.jsonl": child, "logs/b.jsonl": parent}).rows("core_approvals")
    assert [row["run_id"] for row in rows] == ["p"]
