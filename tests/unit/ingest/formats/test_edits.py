"""Lines added and deleted are counted exactly, or they are unknown."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.ingest.formats import edits
from governance_pipeline.ingest.formats.edits import (
    UNKNOWN,
    LineCounts,
    created,
    hunk_lines,
    lines_of,
    patch_files,
    replaced,
    total,
)

LINES = st.lists(st.sampled_from(["a", "b", "c", "", " "]), max_size=12)


def joined(lines):
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "HTB{flag}",
        "diff of nothing",
        "--- only half a header\n",
        "+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        "@@ -1 +1 @@\n-a\n+b",
    ],
)
def test_a_text_that_is_no_diff_has_no_files(patch):
    assert patch_files(patch) == []


@pytest.mark.parametrize(
    ("hunk", "counts"),
    [
        ("@@ -1,9 +1,9 @@\n-a\n+b\n", (1, 1)),  # context cut off at the very end
        ("@@ -1,9 +1,3 @@\n-a\n+b\n", UNKNOWN),  # lines are missing
        ("@@ -1,2 +1,2 @@\n-a\nrubbish\n+b\n", UNKNOWN),
        ("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", (1, 1)),
        ("@@ -1,2 +1,2 @@\n\n-a\n+b\n", (1, 1)),  # an editor stripped the blank of a context line
        ("@@ -10,0 +11 @@\n+a\n", (1, 0)),
        ("@@ -1,2 +1 @@\n--- a/x\n+++ b/x\n-c\n", (1, 2)),  # lines that look like headers
    ],
)
def test_a_hunk_is_read_by_its_declared_length(hunk, counts):
    (file,) = patch_files(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n{hunk}")
    assert (file.path, file.counts) == ("x", counts)


@pytest.mark.parametrize(
    ("header", "path", "counts"),
    [
        ("diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n", "new", (0, 0)),
        ("diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n", "x y", (0, 0)),
        ("diff --git a/p b/p\nBinary files a/p and b/p differ\n", "p", UNKNOWN),
        ("diff --git a/p b/p\nGIT binary patch\nliteral 3\nKcmZQ\n", "p", UNKNOWN),
        ("diff --git a/x b/x\n--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", "x", (0, 2)),
        ("diff --git a/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "x", (1, 0)),
        ('--- "a/\\303\\251 \\"q\\""\n+++ "b/\\303\\251 \\"q\\""\n@@ -1 +1 @@\n-a\n+b\n', 'é "q"', (1, 1)),
        ("--- a/x\t2026-01-01\n+++ b/x\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n", "x", (1, 1)),
        ("--- /w/x.py\n+++ /w/x.py\n@@ -1 +1 @@\n-a\n+b\n", "/w/x.py", (1, 1)),
    ],
)
def test_a_file_of_a_patch_has_the_path_it_has_afterwards(header, path, counts):
    assert [(file.path, file.counts) for file in patch_files(header)] == [(path, counts)]


def test_a_patch_with_windows_line_ends_and_two_files_is_read():
    patch = "\r\n".join(["", "diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"] * 2).replace(
        "x", "y", 4
    )
    assert [(file.path, file.counts) for file in patch_files(patch)] == [("y", (1, 1)), ("x", (1, 1))]


def test_two_plain_diffs_after_each_other_are_two_files():
    patch = "".join(f"--- a/{name}\n+++ b/{name}\n@@ -1 +1,2 @@\n a\n+b\n" for name in "xy")
    assert [(file.path, file.counts) for file in patch_files(patch)] == [("x", (1, 0)), ("y", (1, 0))]


@given(before=LINES, after=LINES)
def test_a_diff_written_by_the_standard_library_is_counted_like_its_lines(before, after):
    diff = list(difflib.unified_diff(joined(before).splitlines(True), joined(after).splitlines(True), "a/x", "b/x"))
    added = sum(line.startswith("+") for line in diff[2:])
    deleted = sum(line.startswith("-") for line in diff[2:])
    assert [file.counts for file in patch_files("".join(diff))] == ([(added, deleted)] if diff else [])


@given(before=LINES, after=LINES)
def test_the_smallest_diff_is_never_larger_than_another_and_turns_one_text_into_the_other(before, after):
    counts = replaced(joined(before), joined(after))
    assert counts.added - counts.deleted == len(after) - len(before)
    kept = difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    assert counts.added <= len(after) - sum(block.size for block in kept)
    assert replaced(joined(after), joined(before)) == (counts.deleted, counts.added)


@given(text=st.text())
def test_a_text_against_itself_changes_nothing(text):
    assert replaced(text, text) == (0, 0)


@given(text=st.text(max_size=200))
def test_no_text_breaks_the_reading_of_a_patch(text):
    for prefix in ("", "diff --git ", "--- a\n+++ b\n", "diff --git a/x b/x\n@@ -1,3 +1 @@\n", 'diff --git "'):
        for file in patch_files(prefix + text):
            assert file.path
            file.path.encode()


def test_texts_too_long_to_compare_have_unknown_counts(monkeypatch):
    monkeypatch.setattr(edits, "COMPARED_LINES_PRODUCT", 3)
    assert replaced("a\nb\n", "c\nd\n") == UNKNOWN
    assert replaced("a\nb\n", "a\nd\n") == (1, 1)  # what both share needs no comparison


def test_a_final_line_end_begins_no_line_and_other_separators_none_at_all():
    assert [len(lines_of(text)) for text in ("", "a", "a\n", "a\nb", "a\x0cb\u2028c", "\n")] == [0, 1, 1, 2, 1, 1]
    assert created("a\nb\n") == (2, 0)


def test_one_unknown_part_makes_the_sum_unknown_not_smaller():
    assert total([LineCounts(1, 2), UNKNOWN]) == UNKNOWN
    assert total([LineCounts(1, 2), LineCounts(3, None)]) == (4, None)
    assert total([]) == (0, 0)


def test_a_hunk_of_a_structured_patch_may_hold_what_is_no_text():
    assert hunk_lines(["+a", "-b", " c", 5, None]) == (1, 1)
