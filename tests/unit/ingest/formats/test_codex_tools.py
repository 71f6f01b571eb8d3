"""Calls of Codex: commands, endings, patches, and what nobody can know of them."""

from __future__ import annotations

import json

import pytest

LOG = "logs/rollout.jsonl"
PATCH = """*** Begin Patch
*** Add File: new.py
+a
+b
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
 same
-old
+one
+two
*** Delete File: gone.py
*** End Patch"""


def line(kind, payload):
    return {"timestamp": "2026-02-23T11:40:00.000Z", "type": kind, "payload": payload}


def call(name="exec_command", arguments=None, call_id="c", **members):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return line(
        "response_item", {"type": "function_call", "name": name, "arguments": text, "call_id": call_id, **members}
    )


def custom(name, text, call_id="c"):
    return line("response_item", {"type": "custom_tool_call", "name": name, "input": text, "call_id": call_id})


def output(content, call_id="c"):
    return line("response_item", {"type": "function_call_output", "output": content, "call_id": call_id})


def event(kind, **members):
    return line("event_msg", {"type": kind, **members})


@pytest.fixture
def load(read):
    return lambda *lines: read({LOG: [line("session_meta", {"id": "s"}), *lines]})


@pytest.fixture
def step(load):
    """Give a function that reads lines and returns the only step."""

    def _step(*lines):
        (row,) = load(*lines).rows("core_steps")
        return row

    return _step


@pytest.mark.parametrize(
    ("name", "arguments", "command"),
    [
        ("exec_command", {"cmd": "ls -l"}, "ls -l"),
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test"),
        ("shell", {"command": ["git", "commit", "-m", "a b"]}, "git commit -m 'a b'"),
        ("shell", {"command": ["bash", "-lc", 5]}, None),
        ("exec_command", "[REDACTED]", None),
        ("update_plan", {"command": "ls"}, None),
    ],
)
def test_a_command_is_what_the_shell_was_given(step, name, arguments, command):
    assert step(call(name, arguments))["command"] == command


@pytest.mark.parametrize(
    ("content", "code", "status", "duration"),
    [
        ('{"output": "x", "metadata": {"exit_code": 2, "duration_seconds": 0.5}}', 2, "error", 0.5),
        ("Exit code: 0\nWall time: 1.25 seconds\nOutput:\nExit code: 1\n", 0, "ok", 1.25),
        ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nx", 1, "error", 0.1),
        ("Wall time: 9 seconds\nProcess running with session ID 3\nOutput:\n", None, None, 9.0),
        ("Output only: Exit code: 3", None, None, None),
        ({"content": "done", "success": True}, None, "ok", None),
        ({"content": "no", "success": False}, None, "error", None),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image"}], None, None, None),
        (5, None, None, None),
    ],
)
def test_an_ending_is_read_from_the_head_of_the_output_only(step, content, code, status, duration):
    row = step(call(arguments={"cmd": "ls"}), output(content))
    assert (row["exit_code"], row["status"], row["duration_s"]) == (code, status, duration)


def test_an_event_completes_a_call_whose_arguments_are_redacted(step):
    end = event(
        "exec_command_end",
        call_id="c",
        command=["bash", "-lc", "make"],
        exit_code=2,
        duration={"secs": 1, "nanos": 500_000_000},
        aggregated_output="out",
    )
    row = step(call(arguments="[REDACTED]"), end)
    assert (row["command"], row["exit_code"], row["status"], row["duration_s"]) == ("make", 2, "error", 1.5)
    assert row["output_result_sha256"] is not None


def test_a_command_of_the_person_is_a_step_of_its_own(step):
    row = step(event("exec_command_end", call_id="u", source="user_shell", command=["ls"], exit_code=0))
    assert (row["tool"], row["call_id"], row["status"]) == ("user_shell", "u", "ok")


def test_completed_items_end_calls_too(step):
    item = {"type": "CommandExecution", "id": "i", "command": ["ls"], "exit_code": 0, "status": "completed"}
    row = step(event("item_completed", item=item))
    assert (row["tool"], row["command"], row["exit_code"], row["pointer"]) == ("exec_command", "ls", 0, "/payload/item")


@pytest.mark.parametrize(
    ("result", "status"),
    [({"Ok": {"content": []}}, "ok"), ({"Ok": {"isError": True}}, "error"), ({"Err": "no"}, "error"), ({}, None)],
)
def test_a_call_of_another_server_ends_as_its_result_says(step, result, status):
    row = step(event("mcp_tool_call_end", call_id="m", invocation={"server": "x", "tool": "search"}, result=result))
    assert (row["tool"], row["status"]) == ("search", status)


def changes(tables):
    return [(r["file_path"], r["added_count"], r["deleted_count"], r["tool"]) for r in tables.rows("core_file_changes")]


APPLIED = [("new.py", 2, 0, "apply_patch"), ("src/b.py", 2, 1, "apply_patch"), ("gone.py", 0, None, "apply_patch")]


@pytest.mark.parametrize(
    "applied",
    [
        custom("apply_patch", PATCH),
        call("apply_patch", {"input": PATCH}),
        call("shell", {"command": ["apply_patch", PATCH]}),
        call("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"]}),
    ],
)
def test_a_patch_that_was_applied_is_read_wherever_it_stands(load, applied):
    tables = load(applied, output('{"output": "Success.", "metadata": {"exit_code": 0}}'))
    assert [row[:3] for row in changes(tables)] == [row[:3] for row in APPLIED]
    assert [run["opaque_step_count"] for run in tables.rows("core_runs")] == [0]


def test_a_patch_without_an_answer_or_with_a_bad_one_changed_nothing_known(load):
    unanswered = load(custom("apply_patch", PATCH))
    refused = load(custom("apply_patch", PATCH), output("apply_patch verification failed: no such line"))
    broken = load(custom("apply_patch", PATCH[:-5]), output("Success. Updated the following files:"))
    for tables, opaque in ((unanswered, 1), (refused, 0), (broken, 1)):
        assert changes(tables) == []
        assert [run["opaque_step_count"] for run in tables.rows("core_runs")] == [opaque]


def test_reported_changes_are_preferred_and_know_deleted_lines(load):
    reported = {
        "/r/new.py": {"type": "add", "content": "a\n"},
        "/r/gone.py": {"type": "delete", "content": "a\nb\n"},
        "/r/a.py": {"type": "update", "unified_diff": "@@ -1 +1,2 @@\n-a\n+b\n+c\n", "move_path": "/r/b.py"},
        "/r/moved.py": {"type": "update", "unified_diff": "", "move_path": "/r/there.py"},
        "/r/redacted.py": {"type": "update", "unified_diff": "[REDACTED]"},
    }
    end = event("patch_apply_end", call_id="c", success=True, changes=reported)
    assert changes(load(custom("apply_patch", PATCH), output("Success."), end)) == [
        ("/r/new.py", 1, 0, "apply_patch"),
        ("/r/gone.py", 0, 2, "apply_patch"),
        ("/r/b.py", 2, 1, "apply_patch"),
        ("/r/there.py", 0, 0, "apply_patch"),
        ("/r/redacted.py", None, None, "apply_patch"),
    ]


@pytest.mark.parametrize(
    ("lines", "opaque"),
    [
        ([call(arguments={"cmd": "ls"})], 0),
        ([call(arguments={"cmd": "sed -i s/a/b/ x"})], 1),
        ([call(arguments="[REDACTED]")], 1),
        ([call("write_stdin", {"chars": "y"})], 1),
        ([call("mcp__x__y", {})], 1),
        ([call("update_plan", {})], 0),
        ([event("mcp_tool_call_end", call_id="m", invocation={"tool": "y"}, read_only_hint=True)], 0),
        ([event("undo_completed", success=True)], 1),
        ([event("undo_completed", success=False)], 0),
        ([custom("apply_patch", "[REDACTED]"), output("Success. Updated")], 1),
    ],
)
def test_steps_that_may_have_changed_files_are_counted_not_guessed(load, lines, opaque):
    (run,) = load(*lines).rows("core_runs")
    assert run["opaque_step_count"] == opaque
