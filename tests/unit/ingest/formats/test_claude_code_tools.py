"""How a tool call of Claude Code ended and what it did to files."""

from __future__ import annotations

import pytest

LOG = "logs/session.jsonl"
REJECTION = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def changes(tables):
    return [(r["file_path"], r["added_count"], r["deleted_count"], r["tool"]) for r in tables.rows("core_file_changes")]


def opaque(tables):
    return [row["opaque_step_count"] for row in tables.rows("core_runs")]


@pytest.mark.parametrize(
    "refusal",
    [
        {"content": REJECTION, "is_error": True},
        {"content": "no", "is_error": True, "result": "User rejected tool use"},
        {"content": "no", "is_error": True, "toolDenialKind": "user-rejected"},
        {"content": "The user doesn't want to take this action right now. STOP", "is_error": True},
    ],
)
def test_a_human_rejection_is_told_from_an_error_and_changes_nothing(claude, read, refusal):
    call = claude.calls("Bash", "t1", {"command": "rm -rf build"})
    tables = read({LOG: [call, claude.result("t1", **refusal)]})
    assert [row["status"] for row in tables.rows("core_steps")] == ["rejected"]
    assert opaque(tables) == [0]


def test_a_permission_nobody_answered_is_an_error_not_a_rejection(claude, one):
    call = claude.calls("Write", "t1", {"file_path": "/a", "content": "x"})
    result = claude.result(
        "t1", "Claude requested permissions to write to /a, but you haven't granted it yet.", is_error=True
    )
    assert one("core_steps", {LOG: [call, result]})["status"] == "error"


def test_output_that_only_quotes_a_rejection_is_no_rejection(claude, one):
    lines = [claude.calls("Bash", "t1", {"command": "cat notes"}), claude.result("t1", REJECTION)]
    assert one("core_steps", {LOG: lines})["status"] == "ok"


def test_a_call_without_a_result_has_no_status_and_an_edit_of_it_is_unknown(claude, read):
    tables = read({LOG: [claude.calls("Edit", "t1", {"file_path": "/a", "old_string": "x", "new_string": "y"})]})
    assert [row["status"] for row in tables.rows("core_steps")] == [None]
    assert (changes(tables), opaque(tables)) == ([], [1])


def test_a_result_that_names_no_call_completes_no_step(claude, one):
    lines = [claude.calls("Bash", "t1", {"command": "ls"}), claude.user([{"type": "tool_result", "content": "ok"}])]
    assert one("core_steps", {LOG: lines})["status"] is None


def test_of_several_results_in_one_line_none_gets_the_structured_one(claude, read):
    results = [{"type": "tool_result", "tool_use_id": name, "content": "ok"} for name in ("t1", "t2")]
    lines = [
        claude.calls("Glob", "t1", {"pattern": "a"}),
        claude.calls("Glob", "t2", {"pattern": "b"}),
        claude.user(results, toolUseResult={"durationMs": 4}),
    ]
    assert [(r["status"], r["duration_s"]) for r in read({LOG: lines}).rows("core_steps")] == [("ok", None)] * 2


@pytest.mark.parametrize(
    ("content", "result", "code"),
    [
        ("Exit code 127\nnot found", None, 127),
        ("boom", "Error: Exit code 2\nboom", 2),
        ("ok", {"exitCode": 3, "stdout": ""}, 3),
        ("the words Exit code 9 inside", None, None),
        ("ok", {"stdout": "x"}, None),
    ],
)
def test_the_exit_code_is_known_only_where_the_log_has_it(claude, one, content, result, code):
    lines = [claude.calls("Bash", "t1", {"command": "make"}), claude.result("t1", content, result=result)]
    assert one("core_steps", {LOG: lines})["exit_code"] == code


def test_a_step_keeps_its_command_call_time_and_the_digest_of_its_output(claude, one):
    lines = [claude.calls("Bash", "t1", {"command": "echo é"}), claude.result("t1", [{"type": "text", "text": "é"}])]
    row = one("core_steps", {LOG: lines})
    assert (row["command"], row["call_id"], row["step_index"], row["at"].second) == ("echo é", "t1", 1, 1)
    assert (row["line"], row["pointer"]) == (1, "/message/content/0")
    assert row["output_result_sha256"] == "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"


def test_an_edit_is_counted_from_the_patch_its_result_carries(claude, read):
    call = claude.calls("Edit", "t1", {"file_path": "/a.py", "old_string": "x", "new_string": "y", "replace_all": True})
    patch = [{"lines": [" a", "-x", "+y", "+z"]}, {"lines": ["-x"]}]
    tables = read({LOG: [call, claude.result("t1", result={"filePath": "/a.py", "structuredPatch": patch})]})
    assert changes(tables) == [("/a.py", 2, 2, "Edit")]
    assert opaque(tables) == [0]


def test_an_edit_tool_with_a_new_name_is_known_by_its_result(claude, read):
    call = claude.calls("PatchFile", "t1", {"target": "/a.py"})
    result = claude.result("t1", result={"filePath": "/a.py", "structuredPatch": [{"lines": ["+y"]}]})
    assert changes(read({LOG: [call, result]})) == [("/a.py", 1, 0, "PatchFile")]


@pytest.mark.parametrize(
    ("tool", "call", "content", "counts"),
    [
        ("Write", {"content": "a\nb\n"}, "File created successfully at: /a", (2, 0)),
        ("Write", {"content": "a\nb\n"}, "The file /a has been updated.", (None, None)),
        ("Edit", {"old_string": "a\nb", "new_string": "a\nc\nd"}, "ok", (2, 1)),
        ("Edit", {"old_string": "a", "new_string": "b", "replace_all": True}, "ok", (None, None)),
        (
            "MultiEdit",
            {"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "", "new_string": "c"}]},
            "ok",
            (2, 1),
        ),
        ("MultiEdit", {"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "x"}]}, "ok", (None, None)),
        ("NotebookEdit", {"new_source": "x = 1"}, "ok", (None, None)),
    ],
)
def test_an_old_edit_without_a_structured_result_is_counted_from_its_input_or_unknown(
    claude, read, tool, call, content, counts
):
    lines = [claude.calls(tool, "t1", {"file_path": "/a", **call}), claude.result("t1", content)]
    assert changes(read({LOG: lines})) == [("/a", *counts, tool)]


def test_rewriting_a_file_with_the_same_text_adds_and_deletes_nothing(claude, read):
    result = {"type": "update", "filePath": "/a", "content": "x\n", "structuredPatch": []}
    lines = [claude.calls("Write", "t1", {"file_path": "/a", "content": "x\n"}), claude.result("t1", result=result)]
    assert changes(read({LOG: lines})) == [("/a", 0, 0, "Write")]


def test_a_failed_edit_changes_nothing(claude, read):
    call = claude.calls("Edit", "t1", {"file_path": "/a", "old_string": "x", "new_string": "y"})
    tables = read({LOG: [call, claude.result("t1", "File has not been read yet.", is_error=True)]})
    assert (changes(tables), opaque(tables)) == ([], [0])


@pytest.mark.parametrize(
    ("tool", "call", "count"),
    [
        ("Bash", {"command": "ls -la | head"}, 0),
        ("Bash", {"command": "sed -i s/a/b/ x"}, 1),
        ("Read", {"file_path": "/a"}, 0),
        ("Agent", {"prompt": "x"}, 0),
        ("mcp__fs__move", {"from": "a"}, 1),
    ],
)
def test_steps_that_may_have_changed_files_unseen_are_counted(claude, read, tool, call, count):
    assert opaque(read({LOG: [claude.calls(tool, "t1", call), claude.result("t1")]})) == [count]
