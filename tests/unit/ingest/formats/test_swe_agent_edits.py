"""An edit command of SWE-agent changed a file only if the answer says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.ingest.formats import swe_agent_edits
from governance_pipeline.ingest.formats.swe_agent_edits import outcome_of

OPEN = "/r/a.py"
REFUSED = (
    "Your proposed edit has introduced new syntax error(s). Please …\n[File: /r/a.py (3 lines total)]\nFile updated."
)


def change_of(action, answer, open_file=OPEN, empty_lines=1):
    outcome = outcome_of(action, answer, open_file, empty_lines)
    return [(change.file_path, *change.counts) for change in outcome.changes], outcome.status, outcome.is_opaque


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        ("edit 1:2\nx\nend_of_edit", REFUSED),
        ("edit 1:2\nx\nend_of_edit", "No file open. Use the open command first."),
        ("edit 1:2\nx\nend_of_edit", ""),
        ("edit 'a' 'b'", "Your edit was not applied (file not modified): Text 'a' not found"),
        ("create a.py", "Error: File 'a.py' already exists."),
        ("insert 'x' 1", "No file opened. Use the `create` or `open` command first."),
        ("str_replace_editor str_replace /r/a.py --old_str a --new_str b", "No replacement was performed, old_str"),
        ("str_replace_editor create /r/a.py --file_text x", "File already exists at: /r/a.py."),
    ],
)
def test_a_refused_edit_is_an_error_and_changes_nothing(action, answer):
    assert change_of(action, answer) == ([], "error", False)


@pytest.mark.parametrize(
    ("action", "answer", "change"),
    [
        ("edit 3:4\nx\ny\nz\nend_of_edit\n", "[File: /r/a.py (9 lines total)]\n1:x\nFile updated.", (OPEN, 3, 2)),
        ("edit 3:4\nend_of_edit", "File updated. Please review", (OPEN, 0, 2)),
        ("edit 4:3\nx\nend_of_edit", "File updated.", (OPEN, None, None)),
        ("edit 2:2 a.py\nx\nend_of_edit", "File updated.", (OPEN, 1, 1)),
        ("edit 'a' 'b' False", "Text replaced. Please review", (OPEN, 1, 1)),
        ("edit 'a' 'b\nc' True", "Replaced 1 occurrences. Please", (OPEN, 2, 1)),
        ("edit 'a' 'b' True", "Replaced 3 occurrences. Please", (OPEN, None, None)),
        ("edit 'new window'", "Edit successful.", (OPEN, None, None)),
        ("create sub/a.py", "[File: sub/a.py (1 lines total)]\n1:", ("sub/a.py", 1, 0)),
        ("create a.py", "[File: a.py (1 lines total)]\n1:", (OPEN, 1, 0)),
        ("insert 'x\ny' 4", "[File: /r/a.py (9 lines total)]\n", (OPEN, 2, 0)),
        (
            "str_replace_editor create /r/b.py --file_text 'x\ny\n'",
            "File created successfully at: /r/b.py",
            ("/r/b.py", 2, 0),
        ),
        (
            "str_replace_editor str_replace /r/b.py --old_str 'x' --new_str 'y\nz'",
            "The file /r/b.py has been edited.",
            ("/r/b.py", 2, 1),
        ),
        ("str_replace_editor str_replace /r/b.py --old_str x", "The file /r/b.py has been edited.", ("/r/b.py", 0, 1)),
        (
            "str_replace_editor insert /r/b.py --new_str x --insert_line 3",
            "The file /r/b.py has been edited.",
            ("/r/b.py", 1, 0),
        ),
        ("str_replace_editor undo_edit /r/b.py", "Last edit to /r/b.py undone successfully.", ("/r/b.py", None, None)),
        ("str_replace_editor create /r/b.py --file_text 'open", "File created successfully", (OPEN, None, None)),
    ],
)
def test_an_applied_edit_changes_its_file(action, answer, change):
    assert change_of(action, answer) == ([change], "ok", False)


def test_an_edit_without_an_answer_may_or_may_not_have_happened():
    assert change_of("edit 1:1\nx\nend_of_edit", None) == ([], None, True)


@pytest.mark.parametrize(("empty_lines", "added"), [(1, 1), (0, 0), (None, None)])
def test_what_a_new_file_holds_depends_on_the_version(empty_lines, added):
    counts = change_of("create a.py", "[File: a.py (1 lines total)]", None, empty_lines)[0]
    assert counts == [("a.py", added, 0 if added is not None else None)]


def test_the_edited_file_is_the_open_one_else_the_one_shown_else_unknown():
    action, shown = "edit 1:1\nx\nend_of_edit", "[File: /shown.py (2 lines total)]\nFile updated."
    assert change_of(action, shown, "n/a")[0] == [("/shown.py", 1, 1)]
    assert change_of(action, "File updated.", None) == ([], "ok", True)


@pytest.mark.parametrize(
    ("action", "tool", "command", "is_opaque"),
    [
        ("open a.py 10\n", "open", None, False),
        ("submit", "submit", None, False),
        ("str_replace_editor view /r/a.py", "str_replace_editor", None, False),
        ("ls -F\n", "bash", "ls -F", False),
        ("rm reproduce.py", "bash", "rm reproduce.py", True),
        ("", "bash", "", False),
    ],
)
def test_what_is_no_command_of_the_interface_is_a_shell_command(action, tool, command, is_opaque):
    outcome = outcome_of(action, "ok", OPEN, 1)
    assert (outcome.tool, outcome.command, outcome.is_opaque, outcome.changes) == (tool, command, is_opaque, [])


@pytest.mark.parametrize("answer", ["\nEXECUTION TIMED OUT", "\nEXECUTION FAILED OR COMMAND MALFORMED"])
def test_a_command_that_timed_out_is_an_error(answer):
    assert outcome_of("strings", answer, OPEN, 1).status == "error"


def test_a_command_line_too_long_to_split_has_unknown_counts(monkeypatch):
    monkeypatch.setattr(swe_agent_edits, "LONGEST_SPLIT", 10)
    action = "str_replace_editor create /r/b.py --file_text 'x'"
    assert change_of(action, "File created successfully at: /r/b.py")[0] == [(OPEN, None, None)]


@given(action=st.text(max_size=60), answer=st.none() | st.text(max_size=60))
def test_no_text_breaks_the_reading_of_an_action(action, answer):
    for prefix in ("", "edit ", "edit 1:2\n", "create ", "insert ", "str_replace_editor create "):
        outcome = outcome_of(prefix + action, answer, None, None)
        assert outcome.tool
        assert not (outcome.changes and answer is None)
