"""Whether the lake holds what the folder would give: by content, never by time."""

from __future__ import annotations

import os

import pytest

from governance_pipeline.contracts.registry import empty_frame, frame_of
from governance_pipeline.errors import StorageError, UnreadableError
from governance_pipeline.ingest.freshness import changed_file, due_reason
from governance_pipeline.storage.lake import Lake
from governance_pipeline.strict.canonical import sha256_hex

INPUTS = {"raw_log_files": (), "raw_quarantine": (), "core_runs": ("raw_log_files", "raw_quarantine")}


def _write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def _rows(**files):
    row = {"round_id": "r-1", "record_unit": "line", "bytes": 0, "lines_in": 0}
    counts = dict.fromkeys(("accepted", "quarantined", "blank", "duplicates"), 0)
    digests = {name: None if text is None else sha256_hex(text.encode()) for name, text in files.items()}
    return frame_of("raw_log_files", [{**row, **counts, "path": n, "file_sha256": d} for n, d in digests.items()])


def _fill(lake, **files):
    lake.put("raw_log_files", "r-1", _rows(**files))
    lake.put("raw_quarantine", "r-1", empty_frame("raw_quarantine"))
    made_from = {f"input.{name}": lake.digest(name, "r-1") for name in INPUTS["core_runs"]}
    lake.put("core_runs", "r-1", empty_frame("core_runs"), made_from)


@pytest.fixture
def current(tmp_path):
    """Give a folder and a lake that are in step."""
    folder, lake = tmp_path / "r-1", Lake(tmp_path / "lake")
    _write(folder, a="one", b="two")
    _fill(lake, a="one", b="two")
    return folder, lake


def test_a_round_whose_tables_are_all_current_is_not_due(current):
    assert due_reason(*current, INPUTS, "r-1") is None


def test_the_first_missing_table_is_named(current, tmp_path):
    folder, _ = current
    assert due_reason(folder, Lake(tmp_path / "empty"), INPUTS, "r-1") == "raw_log_files has not been made"


def test_a_table_made_from_an_older_input_is_stale(current):
    """Raw tables were made again after a change, and the run failed before core."""
    folder, lake = current
    _write(folder, b="three")
    lake.put("raw_log_files", "r-1", _rows(a="one", b="three"))
    assert due_reason(folder, lake, INPUTS, "r-1") == "core_runs was made from another raw_log_files"


def test_a_table_stored_without_its_inputs_is_stale(current):
    folder, lake = current
    lake.put("core_runs", "r-1", empty_frame("core_runs"))
    assert due_reason(folder, lake, INPUTS, "r-1") == "core_runs was made from another raw_log_files"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"c": "new"}, "file c is new"),
        ({"b": "TWO"}, "file b has changed"),
    ],
)
def test_a_file_that_is_new_or_has_other_bytes_makes_the_round_stale(current, change, reason):
    folder, lake = current
    _write(folder, **change)
    assert due_reason(folder, lake, INPUTS, "r-1") == reason


def test_a_file_rewritten_with_the_same_size_and_time_makes_the_round_stale(current):
    folder, lake = current
    before = (folder / "b").stat()
    (folder / "b").write_text("TWO")
    os.utime(folder / "b", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert due_reason(folder, lake, INPUTS, "r-1") == "file b has changed"


def test_a_file_touched_without_a_change_is_current(current):
    folder, lake = current
    _write(folder, a="one")
    assert due_reason(folder, lake, INPUTS, "r-1") is None


def test_a_file_that_is_gone_makes_the_round_stale(current):
    folder, lake = current
    (folder / "a").unlink()
    assert due_reason(folder, lake, INPUTS, "r-1") == "file a is gone"


def test_a_file_that_was_never_opened_is_current_while_it_cannot_be_opened(tmp_path):
    _write(tmp_path / "r-1")
    (tmp_path / "r-1" / "link").symlink_to("nowhere")
    assert changed_file(tmp_path / "r-1", _rows(link=None)) is None
    (tmp_path / "r-1" / "link").unlink()
    _write(tmp_path / "r-1", link="a file now")
    assert changed_file(tmp_path / "r-1", _rows(link=None)) == "file link has changed"


def test_a_hostile_file_name_is_escaped_in_the_reason(tmp_path):
    _write(tmp_path / "r-1", **{"\x1b[31mred": ""})
    assert "\x1b" not in changed_file(tmp_path / "r-1", _rows())


def test_a_damaged_table_is_an_error_and_not_current(current):
    folder, lake = current
    path = lake.path("core_runs", "r-1")
    path.chmod(0o600)
    path.write_bytes(b"damaged")
    with pytest.raises(StorageError):
        due_reason(folder, lake, INPUTS, "r-1")


def test_a_folder_that_is_gone_is_unknown_and_not_current(current, tmp_path):
    with pytest.raises(UnreadableError):
        due_reason(tmp_path / "gone", current[1], INPUTS, "r-1")
