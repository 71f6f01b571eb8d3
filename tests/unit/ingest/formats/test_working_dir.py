"""A file below the folder a log says its agent works in has its path from there; any other keeps the path it has."""

from __future__ import annotations

import pytest

LOG = "logs/session.jsonl"
AGENT = "logs/s/subagents/agent-a1.jsonl"


def edit(claude, call_id, path, **members):
    call = claude.calls("Edit", call_id, {"file_path": path, "old_string": "x", "new_string": "y"}, **members)
    return [call, claude.result(call_id, result={"filePath": path, "structuredPatch": [{"lines": ["+y"]}]}, **members)]


def paths(tables):
    return [row["file_path"] for row in tables.rows("core_file_changes")]


@pytest.mark.parametrize(
    "path",
    ["/repository/a.py", "/repo/../etc/passwd", "/other/a.py", "src/a.py", "C:\\repo\\a.py", "/repo"],
)
def test_a_file_that_is_not_below_it_keeps_its_path(claude, read, path):
    assert paths(read({LOG: edit(claude, "t1", path, cwd="/repo")})) == [path]


@pytest.mark.parametrize("cwd", [None, "/", "C:\\", "repo", "[trimmed for fixture]", "", 7])
def test_a_log_that_states_no_folder_of_a_project_keeps_every_path(claude, read, cwd):
    assert paths(read({LOG: edit(claude, "t1", "/repo/src/a.py", cwd=cwd)})) == ["/repo/src/a.py"]


@pytest.mark.parametrize(
    ("cwd", "path"),
    [
        ("/repo", "/repo/src/a.py"),
        ("/repo/", "/repo/./src//a.py"),
        ("/repo", "/repo/lib/../src/a.py"),
        ("C:\\repo", "C:\\repo\\src\\a.py"),
        ("C:/repo", "C:\\repo\\src\\a.py"),
        ("\\\\host\\repo", "\\\\host\\repo\\src\\a.py"),
    ],
)
def test_a_file_below_it_has_its_path_from_there(claude, read, cwd, path):
    tables = read({LOG: edit(claude, "t1", path, cwd=cwd)})
    assert paths(tables) == ["src/a.py"]
    assert {row["file_path"] for row in tables.rows("core_change_facts")} == {"src/a.py"}


def test_the_folder_a_session_moves_into_is_not_the_project(claude, read):
    lines = [claude.user(cwd="/repo"), *edit(claude, "t1", "/repo/src/a.py", cwd="/repo/src")]
    assert paths(read({LOG: lines})) == ["src/a.py"]


@pytest.mark.parametrize(
    ("cwd", "path", "wanted"),
    [
        ("/repo/src", "/repo/src/a.py", "src/a.py"),  # its session moved there before
        ("/repo", "/repo/src/a.py", "src/a.py"),
        ("/copy", "/copy/src/a.py", "src/a.py"),  # it works in a copy of its own
        (None, "/repo/src/a.py", "src/a.py"),
    ],
)
def test_a_sub_agent_tells_paths_from_the_folder_of_its_session(claude, read, cwd, path, wanted):
    agent = edit(claude, "t2", path, cwd=cwd, isSidechain=True, agentId="a1")
    assert paths(read({LOG: [claude.user(cwd="/repo")], AGENT: agent})) == [wanted]


def test_a_patch_of_codex_tells_paths_from_the_folder_of_its_session(read):
    patch = {"/repo/src/b.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": None}}
    lines = [
        ("session_meta", {"id": "s-1", "cwd": "/repo"}),
        ("event_msg", {"type": "patch_apply_end", "call_id": "c-1", "success": True, "changes": patch}),
    ]
    at = "2026-02-23T11:40:00.000Z"
    tables = read({LOG: [{"timestamp": at, "type": kind, "payload": payload} for kind, payload in lines]})
    assert paths(tables) == ["src/b.py"]


def test_a_file_moved_inside_it_is_known_by_both_its_paths(read):
    """What the file holds is remembered under the path it has from there, so that its test is not called deleted."""
    text = "def test_a():\n    assert f() == 1\n"
    moved = {"type": "update", "unified_diff": "", "move_path": "/repo/tests/test_b.py"}
    events = [
        {"/repo/tests/test_a.py": {"type": "add", "content": text}},
        {"/repo/tests/test_a.py": moved},
    ]
    payloads = [
        {"type": "patch_apply_end", "call_id": f"c-{index}", "success": True, "changes": changes}
        for index, changes in enumerate(events)
    ]
    at = "2026-02-23T11:40:00.000Z"
    lines = [{"timestamp": at, "type": "session_meta", "payload": {"id": "s-1", "cwd": "/repo"}}]
    lines += [{"timestamp": at, "type": "event_msg", "payload": payload} for payload in payloads]
    tables = read({LOG: lines})
    assert paths(tables) == ["tests/test_a.py", "tests/test_b.py"]
    assert not [row for row in tables.rows("core_change_facts") if row["kind"] == "test_removed"]


def test_a_stream_states_its_folder_when_it_begins(read):
    path = "/repo/src/a.py"
    call = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": path}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    patch = {"filePath": path, "structuredPatch": [{"lines": ["+y"]}]}
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s-1", "cwd": "/repo", "model": "m", "tools": []},
        {"type": "assistant", "session_id": "s-1", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "session_id": "s-1", "message": {"role": "user", "content": [answer]},
         "tool_use_result": patch},
        {"type": "result", "subtype": "success", "session_id": "s-1", "num_turns": 1, "total_cost_usd": 0.1,
         "duration_ms": 3, "is_error": False},
    ]  # fmt: skip
    assert paths(read({LOG: lines})) == ["src/a.py"]
