"""What each way to write an edit shows of the content of a file."""

import pytest

from governance_pipeline.ingest.formats import claude_code_tools, openhands_tools, tool_calls
from governance_pipeline.ingest.formats.codex_patch import applied_files, patch_changes
from governance_pipeline.ingest.formats.edits import patch_files
from governance_pipeline.ingest.formats.swe_agent_edits import outcome_of

DIFF = """diff --git a/tests/test_a.py b/tests/test_a.py
--- a/tests/test_a.py
+++ b/tests/test_a.py
@@ -1,3 +1,2 @@ def test_a():
     x = 1
-    assert x
     y = 2
"""


def test_a_diff_shows_its_parts_and_the_line_they_stand_below():
    (file,) = patch_files(DIFF)
    (part,) = file.edit.parts
    assert (part.before, part.after) == (("    x = 1", "    assert x", "    y = 2"), ("    x = 1", "    y = 2"))
    assert part.context == "def test_a():"


def test_a_diff_of_a_new_or_deleted_file_shows_it_whole_and_one_that_breaks_off_shows_nothing():
    new = "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+x = 1\n+y = 2\n"
    (file,) = patch_files(new)
    assert (file.edit.is_created, file.edit.after) == (True, "x = 1\ny = 2\n")
    (gone,) = patch_files(new.replace("--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@", "--- a/a.py\n+++ /dev/null\n@@ -1,2 +0,0 @@").replace("\n+x", "\n-x").replace("\n+y", "\n-y"))  # fmt: skip
    assert (gone.edit.is_deleted, gone.edit.before) == (True, "x = 1\ny = 2\n")
    (cut,) = patch_files(new.replace("+1,2", "+1,9"))
    assert cut.edit is None


def test_a_patch_of_codex_shows_additions_parts_moves_and_deletions():
    patch = (
        "*** Begin Patch\n*** Add File: a.py\n+x = 1\n*** Update File: b.py\n*** Move to: c.py\n@@ def f():\n a\n-b\n+c\n"
        "*** Delete File: d.py\n*** End Patch"
    )
    added, updated, deleted = patch_changes(patch, "apply_patch")
    assert (added.edit.after, added.edit.is_created) == ("x = 1\n", True)
    assert (updated.edit.before_path, updated.edit.parts[0].context) == ("b.py", "def f():")
    assert (updated.edit.parts[0].before, updated.edit.parts[0].after) == (("a", "b"), ("a", "c"))
    assert (deleted.edit.is_deleted, deleted.edit.before) == (True, None)


def test_what_codex_reports_as_applied_shows_a_deleted_content():
    (gone,) = applied_files({"d.py": {"type": "delete", "content": "x = 1\n"}}, "apply_patch")
    assert (gone.edit.is_deleted, gone.edit.before) == (True, "x = 1\n")
    (moved,) = applied_files({"a.py": {"type": "update", "unified_diff": "", "move_path": "b.py"}}, "apply_patch")
    assert (moved.edit.before_path, moved.edit.parts) == ("a.py", ())


@pytest.mark.parametrize("name", ["originalFile", "originalFileContents"])
def test_a_result_of_claude_code_shows_the_file_before(name):
    call = {"file_path": "a.py", "old_string": "x", "new_string": "y"}
    edit = claude_code_tools._shown(call, {"filePath": "a.py", "structuredPatch": [], name: "x = 1\n"})
    assert (edit.before, edit.replaced) == ("x = 1\n", ("x", "y"))


def test_an_input_of_claude_code_shows_what_it_replaces_and_a_write_only_what_comes_after():
    given = claude_code_tools._given({"edits": [{"old_string": "a", "new_string": "b"}] * 2}, None)
    assert len(given.parts) == 2
    assert claude_code_tools._given({"content": "x"}, "The file has been updated").is_created is False
    assert claude_code_tools._given({"content": "x"}, "File created successfully at: a.py").is_created is True
    assert claude_code_tools._given({"old_string": 1}, None) is None


def test_a_plain_writer_may_have_overwritten_something_and_create_may_not():
    assert tool_calls._edit({"content": "x"}).is_created is False
    assert tool_calls._edit({"command": "create", "file_text": "x"}).is_created is True
    assert tool_calls._edit({"command": "undo_edit"}) is None


def test_a_report_of_openhands_shows_a_part_and_a_new_file_whole():
    assert openhands_tools._edit({"old_content": "a", "new_content": "b"}).parts[0].before == ("a",)
    assert openhands_tools._edit({"new_content": "b", "prev_exist": False}).is_created is True
    assert openhands_tools._edit({}) is None


def test_a_range_of_swe_agent_does_not_show_what_it_replaces():
    answer = "File updated."
    (change,) = outcome_of("edit 1:2\nx = 1\nend_of_edit", answer, "/repo/a.py", 0).changes
    assert change.edit is None
    (change,) = outcome_of("edit 'a' 'b'", "Text replaced.", "/repo/a.py", 0).changes
    assert change.edit.replaced == ("a", "b")
