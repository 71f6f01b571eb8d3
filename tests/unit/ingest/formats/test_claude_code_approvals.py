"""What a session says of approvals: modes when they change, what a person refused and why, plans a person approved."""

from __future__ import annotations

import json

import pytest

LOG = "logs/session.jsonl"
REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def approvals(read, files):
    return [
        (row["kind"], row["by"], row["call_id"], row["result"], row["reason"])
        for row in read(files).rows("core_approvals")
    ]


def test_only_a_change_of_the_mode_is_a_row(claude, read):
    modes = ["default", "default", "plan", "default", None, 7, ""]
    lines = [claude.user(**({"permissionMode": mode} if mode is not None else {})) for mode in modes]
    rows = list(read({LOG: lines}).rows("core_approvals"))
    assert [(row["line"], row["result"], row["by"]) for row in rows] == [
        (1, "default", None),
        (3, "plan", None),
        (4, "default", None),
    ]
    assert {row["pointer"] for row in rows} == {"/permissionMode"}
    assert rows[0]["at"].isoformat() == lines[0]["timestamp"].replace(".000Z", "+00:00")


def test_a_mode_line_belongs_to_the_main_chain_of_the_session_it_names(claude, read, session):
    mode = {"type": "permission-mode", "permissionMode": "bypassPermissions", "sessionId": session}
    other = mode | {"sessionId": "another"}
    rows = list(read({LOG: [mode, claude.user(permissionMode="bypassPermissions"), other]}).rows("core_approvals"))
    assert [(row["line"], row["run_id"]) for row in rows] == [(1, session), (3, None)]


def test_modes_of_a_sub_agent_are_those_of_its_own_run(claude, read, session):
    lines = [
        claude.user(permissionMode="default"),
        claude.user(permissionMode="plan", isSidechain=True, agentId="a1"),
        claude.user(permissionMode="default"),
    ]
    rows = list(read({LOG: lines}).rows("core_approvals"))
    assert [(row["run_id"], row["result"]) for row in rows] == [(session, "default"), (f"{session}/a1", "plan")]


@pytest.mark.parametrize(
    ("refusal", "result", "reason"),
    [
        ({"content": REFUSAL}, None, None),
        ({"content": f"{REFUSAL} To tell you how to proceed, the user said:\nuse rm -i"}, None, "use rm -i"),
        ({"content": f"{REFUSAL} the user said:\n  "}, None, None),
        ({"content": [{"type": "text", "text": REFUSAL}]}, None, None),
        ({"content": "no", "result": "User rejected tool use"}, None, None),
        ({"content": "no", "toolDenialKind": "user-rejected"}, "user-rejected", None),
    ],
)
def test_a_refusal_is_a_rejection_by_a_human(claude, read, refusal, result, reason):
    lines = [claude.calls("Bash", "t1", {"command": "rm -rf x"}), claude.result("t1", is_error=True, **refusal)]
    assert approvals(read, {LOG: lines}) == [("rejected", "human", "t1", result, reason)]


def test_a_refusal_of_a_call_the_log_does_not_hold_is_kept(claude, read, session):
    line = claude.user([{"type": "tool_result", "content": REFUSAL, "is_error": True}], sourceToolUseID="t9")
    (row,) = read({LOG: [line]}).rows("core_approvals")
    assert (row["run_id"], row["call_id"], row["pointer"]) == (session, "t9", "/message/content/0")


@pytest.mark.parametrize("kind", ["timeout", "rule-denied"])
def test_what_a_rule_or_a_failure_stopped_is_no_human_rejection(claude, read, kind):
    lines = [claude.calls("Bash", "t1", {}), claude.result("t1", "denied", is_error=True, toolDenialKind=kind)]
    assert approvals(read, {LOG: lines}) == []


def test_output_that_quotes_a_refusal_is_none(claude, read):
    lines = [claude.calls("Bash", "t1", {}), claude.result("t1", REFUSAL)]
    assert approvals(read, {LOG: lines}) == []


def test_a_copied_refusal_of_a_fork_is_not_a_second_one(claude, read):
    lines = [claude.calls("Bash", "t1", {}), claude.result("t1", REFUSAL, is_error=True)]
    fork = json.loads(json.dumps(lines).replace(lines[0]["sessionId"], "fork"))
    moved = [line | {"cwd": "/else"} for line in lines]
    assert len(approvals(read, {"logs/a.jsonl": lines, "logs/b.jsonl": fork, "logs/c.jsonl": moved})) == 1


@pytest.mark.parametrize(("tool", "text", "kinds"), [
    ("ExitPlanMode", "User has approved your plan. You can now start coding.", ["approved"]),
    ("ExitPlanMode", "Plan noted.", []),
    ("Bash", "User has approved your plan.", []),
])  # fmt: skip
def test_an_approved_plan_is_an_approval_and_a_call_that_ran_is_none(claude, read, tool, text, kinds):
    lines = [claude.calls(tool, "t1", {"plan": "x"}), claude.result("t1", text)]
    assert [row[0] for row in approvals(read, {LOG: lines})] == kinds
