"""What an editor of OpenHands reports is counted as its kind of report allows."""

from __future__ import annotations

import pytest

from governance_pipeline.ingest.formats.openhands_tools import edit_of, exit_code_of

DIFF = "--- /w/a\n+++ /w/a\n@@ -102,0 +103 @@\n+x\n"


@pytest.mark.parametrize(
    ("report", "counts"),
    [
        ({"old_content": "a\nb", "new_content": "a\nc\nd"}, (2, 1)),
        ({"old_content": None, "new_content": "a\nb\n", "prev_exist": False}, (2, 0)),
        ({"new_content": "a", "is_new_file": True}, (1, 0)),
        ({"old_content": None, "new_content": "a", "prev_exist": True}, (None, None)),
        ({"old_content": None, "new_content": "a", "prev_exist": True, "diff": DIFF}, (1, 0)),
        ({"diff": "(no changes detected)"}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_an_edit_is_counted_from_its_texts_else_its_diff_else_unknown(report, counts):
    change = edit_of("edit", report, "/w/a")
    assert (change.file_path, change.counts, change.tool) == ("/w/a", counts, "edit")


def test_the_reported_path_comes_before_the_asked_one_and_without_any_there_is_no_change():
    assert edit_of("edit", {"path": "/real"}, "/asked").file_path == "/real"
    assert edit_of("edit", {"file_path": "/real"}, None).file_path == "/real"
    assert edit_of("edit", {"path": 3}, None) is None


@pytest.mark.parametrize(
    ("report", "code"),
    [
        ({"metadata": {"exit_code": 2}, "exit_code": 0}, 2),
        ({"exit_code": 1}, 1),
        ({"metadata": {"exit_code": -1}}, None),
        ({"metadata": {}}, None),
        ({"exit_code": "0"}, None),
    ],
)
def test_an_exit_code_is_a_number_that_is_not_minus_one(report, code):
    assert exit_code_of(report) == code
