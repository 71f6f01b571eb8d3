"""Calls of any agent's tools: what their names and arguments say about files, and what they leave open."""

from __future__ import annotations

import pytest

from governance_pipeline.ingest.formats.runs import Step
from governance_pipeline.ingest.formats.tool_calls import command_of, finish


def made(tool, arguments, status=None, answer=None):
    step = Step(None, tool, command=command_of(tool, arguments), status=status)
    finish(step, arguments, answer)
    return step


PATCH = "*** Begin Patch\n*** Add File: a\n+x\n+y\n*** Update File: b\n@@\n-x\n+y\n*** End Patch"
EDIT = {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y\nz"}
NOT_REPLACED = "No replacement was performed, old_str `has been edited` did not appear verbatim in a."


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (None, None),
        (None, ""),
        (None, 7),
        (None, {"content": None}),
        (None, NOT_REPLACED),
        (None, f"ERROR:\n{NOT_REPLACED}"),
        (None, "Done."),
        (None, "I looked, but not one file has been edited."),
        (None, '{"output": "Invalid `path` parameter"'),
        ("ok", NOT_REPLACED),
        ("ok", [{"type": "text", "text": f"Error: {NOT_REPLACED}"}]),
        ("ok", {"output": "File already exists at: a. Cannot overwrite files using command `create`."}),
    ],
)
def test_an_edit_nobody_knows_to_have_worked_changes_nothing_and_is_opaque(status, answer):
    for step in (
        made("str_replace_editor", EDIT, status, answer),
        made("write_file", {"path": "a", "content": "x"}, status, answer),
        made("apply_patch", {"patch": PATCH}, status, answer),
    ):
        assert (step.changes, step.is_opaque) == ([], True)


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        ("ok", None),
        ("ok", ""),
        (None, "The file a has been edited. Here's the result of running `cat -n` on a snippet: …"),
        (None, "\nFile created successfully at: a"),
        (None, "The file a has been updated successfully."),
        (None, "Success. Updated the following files:\nM a"),
        (None, "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nM a"),
        (None, '{"output": "Success. Updated the following files:\\nM a", "metadata": {"exit_code": 0}}'),
        (None, [{"type": "text", "text": "Successfully modified file: a (1 replacements)."}]),
        (None, {"content": "The file a has been edited."}),
    ],
)
def test_an_edit_that_says_it_worked_is_counted(status, answer):
    step = made("str_replace_editor", EDIT, status, answer)
    assert ([tuple(change.counts) for change in step.changes], step.is_opaque) == ([(2, 1)], False)


def test_a_patch_that_failed_may_have_been_applied_in_part_unless_it_was_not_even_tried():
    assert made("apply_patch", {"patch": PATCH}, "error", "Failed to write b").is_opaque
    refused = made("apply_patch", {"patch": PATCH}, "error", "apply_patch verification failed: no b")
    assert (refused.changes, refused.is_opaque) == ([], False)


@pytest.mark.parametrize(
    ("tool", "arguments", "command"),
    [
        ("bash", {"cmd": "ls"}, "ls"),
        ("Terminal", {"command": "a\n\n"}, "a\n"),
        ("bash_command", {"keystrokes": "ls\n", "duration": 0.1}, "ls"),
        ("bash", {"command": 1}, None),
        ("bash", "ls", None),
        ("python", {"command": "ls"}, None),
        (None, {"command": "ls"}, None),
    ],
)
def test_only_a_shell_has_a_command(tool, arguments, command):
    assert command_of(tool, arguments) == command


@pytest.mark.parametrize(
    ("arguments", "added", "deleted"),
    [
        ({"command": "create", "path": "a", "file_text": "x\ny"}, 2, 0),
        ({"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y\nz"}, 2, 1),
        ({"command": "insert", "path": "a", "new_str": "x\n"}, 1, 0),
        ({"command": "insert", "path": "a", "insert_text": "x\n"}, 1, 0),
        ({"file_path": "a", "old_string": "x", "new_string": ""}, 0, 1),
        ({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True}, None, None),
        ({"path": "a", "content": "x\n"}, None, None),
        ({"command": "undo_edit", "path": "a"}, None, None),
    ],
)
def test_an_edit_is_counted_where_its_arguments_say_all(arguments, added, deleted):
    step = made("str_replace_editor", arguments, "ok")
    (change,) = step.changes
    assert (change.counts.added, change.counts.deleted, step.is_opaque) == (added, deleted, False)


DIFF = "--- a/c\n+++ b/c\n@@ -1 +1,2 @@\n x\n+y\n"


@pytest.mark.parametrize(
    ("patch", "files"), [(PATCH, [("a", 2, 0), ("b", 1, 1)]), (DIFF, [("c", 1, 0)]), ("*** Update File: a", [])]
)
def test_a_patch_is_counted_by_file_and_half_a_patch_is_opaque(patch, files):
    step = made("apply_patch", {"patch": patch}, "ok")
    assert [(change.file_path, *change.counts) for change in step.changes] == files
    assert step.is_opaque is not bool(files)
    assert made("apply_patch", {"input": patch}, "error").changes == []


@pytest.mark.parametrize(
    ("tool", "arguments", "status", "is_opaque"),
    [
        ("bash", {"cmd": "ls"}, None, False),
        ("bash", {"cmd": "touch a"}, None, True),
        ("bash", {"cmd": "touch a"}, "rejected", False),
        ("bash", {}, None, True),
        ("edit", {}, None, True),
        ("edit", {"path": "a"}, "error", False),
        ("file_editor", {"command": "view", "path": "a"}, None, False),
        ("submit", {}, None, False),
        ("apply_patch", {"patch": 1}, None, True),
        ("apply_patch", {}, "error", True),
        ("apply_patch", {}, "rejected", False),
        ("some_new_tool", {}, None, True),
        (None, None, None, True),
    ],
)
def test_a_step_is_opaque_unless_it_is_known_what_it_did(tool, arguments, status, is_opaque):
    step = made(tool, arguments, status)
    assert (step.is_opaque, step.changes) == (is_opaque, [])
