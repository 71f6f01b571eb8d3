"""The state changes in one step, every earlier one is kept, and what came into force by another way is found."""

from __future__ import annotations

import errno
import json
import os
import shutil
from datetime import UTC, datetime

import pytest

from governance_pipeline.errors import FaultyFileError, StorageError, UsageError
from governance_pipeline.framework.folder import HISTORY, STATE
from governance_pipeline.framework.locks import Locks
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.state import LOCK, StateKeeper, read_state
from governance_pipeline.storage import atomic
from governance_pipeline.strict.canonical import sha256_hex

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def keeper(folder):
    """Give the keeper of a folder's state, at a time that stands still."""
    return StateKeeper(folder, clock=lambda: NOON)


def _phase(keeper, phase, **more):
    return keeper.change({"current_phase": phase}, by="ana", reason=f"begin {phase}", **more)


def test_a_change_puts_the_new_state_in_force_and_keeps_the_old_one_byte_for_byte(folder, keeper):
    before = folder.path(STATE).read_bytes()
    state = _phase(keeper, "load")
    assert read_state(folder) == state
    assert state.members["current_phase"] == "load"
    (entry,) = keeper.history()
    assert entry.state_text.encode() == before
    assert (entry.state_sha256, entry.next_sha256) == (sha256_hex(before), state.sha256)
    assert (entry.replaced_by, entry.reason, entry.replaced_at) == ("ana", "begin load", "2026-11-30T12:00:00.000000Z")


def test_a_history_of_many_changes_fits_together(keeper):
    for phase in ("load", "clean", "load", "publish"):
        _phase(keeper, phase)
    assert [json.loads(e.state_text)["current_phase"] for e in keeper.history()] == ["setup", "load", "clean", "load"]
    assert keeper.faults() == []


def test_what_changes_nothing_writes_nothing(keeper):
    assert _phase(keeper, "setup") == read_state(keeper._folder)
    assert keeper.history() == []


@pytest.mark.parametrize(
    "changes",
    [{"error_count": -1}, {"error_count": "0"}, {"another": 1}, {"baseline_version": "one"}, {"current_phase": ""}],
)
def test_a_state_that_would_break_its_schema_is_refused_and_nothing_changes(folder, keeper, changes):
    before = folder.path(STATE).read_bytes()
    with pytest.raises(FaultyFileError, match=r"current_state\.json is refused: .*schema"):
        keeper.change(changes, by="ana", reason="x")
    assert folder.path(STATE).read_bytes() == before
    assert keeper.history() == []


def test_a_broken_state_is_refused_with_its_place_and_not_replaced(folder, keeper):
    folder.path(STATE).write_text('{"project_status": "x"}')
    with pytest.raises(FaultyFileError, match="current_phase"):
        _phase(keeper, "load")
    assert folder.path(STATE).read_text() == '{"project_status": "x"}'


@pytest.mark.parametrize(("by", "reason"), [("", "x"), ("ana", " "), ("\u200b", "x")])
def test_a_change_without_who_and_why_is_refused(keeper, by, reason):
    with pytest.raises(UsageError, match="who and why"):
        keeper.change({"current_phase": "load"}, by=by, reason=reason)


def test_a_change_decided_on_another_state_is_refused(keeper):
    first = _phase(keeper, "load")
    second = _phase(keeper, "clean", based_on=first.sha256)
    with pytest.raises(FrameworkRefused, match=f"STATE_MOVED: the state in force is {second.sha256}"):
        _phase(keeper, "publish", based_on=first.sha256)


def test_while_somebody_holds_the_lock_nobody_else_changes_the_state(folder, keeper, monkeypatch):
    monkeypatch.setattr("governance_pipeline.framework.state.WAIT_S", 0.0)
    with Locks(folder).held(LOCK, "other"), pytest.raises(FrameworkRefused, match="LOCK_HELD"):
        _phase(keeper, "load")
    assert keeper.history() == []


def test_the_rights_of_the_file_stay(folder, keeper):
    folder.path(STATE).chmod(0o664)
    _phase(keeper, "load")
    assert folder.path(STATE).stat().st_mode & 0o777 == 0o664


def test_a_failed_fsync_poisons_the_keeper_and_the_state_is_old_or_new_whole(folder, keeper, monkeypatch):
    before, real = folder.path(STATE).read_bytes(), os.fsync
    _phase(keeper, "setup")  # the lock's own files are there
    broken = {"is": False}

    def fsync(descriptor):
        if broken["is"]:
            raise OSError(errno.EIO, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(atomic.os, "fsync", fsync)
    keep = keeper._keep

    def keep_then_break(*arguments):
        keep(*arguments)
        broken["is"] = True

    monkeypatch.setattr(keeper, "_keep", keep_then_break)
    with pytest.raises(StorageError, match="could not be synced"):
        _phase(keeper, "load")
    broken["is"] = False
    monkeypatch.setattr(keeper, "_keep", keep)
    assert folder.path(STATE).read_bytes() == before
    with pytest.raises(StorageError, match="nothing more is written"):
        _phase(keeper, "load")
    again = StateKeeper(folder, clock=lambda: NOON)
    _phase(again, "load")
    assert again.faults() == []


# ------------------------------------------------------------------ what somebody else did to the files


def _three(keeper):
    for phase in ("load", "clean", "publish"):
        _phase(keeper, phase)
    return keeper.history()


def _codes(keeper):
    return [fault.code for fault in keeper.faults()]


def test_a_state_edited_by_hand_is_found_and_kept_in_the_history_by_the_next_change(folder, keeper):
    _three(keeper)
    text = folder.path(STATE).read_text().replace('"publish"', '"deploy"')
    folder.path(STATE).write_text(text)
    assert _codes(keeper) == ["changed_outside"]
    _phase(keeper, "load")
    assert keeper.history()[-1].state_text == text
    assert _codes(keeper) == ["changed_outside"], "it stays visible"


def test_an_entry_that_was_taken_away_is_missed(keeper):
    entries = _three(keeper)
    entries[1].path.unlink()
    assert "entry_missing" in _codes(keeper)


def test_an_entry_that_was_edited_is_found(keeper):
    entries = _three(keeper)
    document = json.loads(entries[1].path.read_text())
    for member, value in (("state_text", "{}"), ("reason", "another")):
        entries[1].path.write_text(json.dumps({**document, member: value}))
        assert "entry_changed" in _codes(keeper)
    entries[1].path.write_text("?")
    assert "entry_unreadable" in _codes(keeper)


def test_files_that_are_no_entries_are_left_alone(folder, keeper):
    _three(keeper)
    (folder.path(HISTORY) / "notes.md").write_text("x")
    assert _codes(keeper) == []
    assert len(keeper.history()) == 3


@pytest.mark.parametrize("kind", ["file", "link", "fifo"])
def test_a_history_that_is_no_folder_is_a_fault_and_no_state_is_changed(folder, keeper, kind):
    before, place = folder.path(STATE).read_bytes(), folder.path(HISTORY)
    shutil.rmtree(place, ignore_errors=True)
    make = {"file": place.touch, "link": lambda: place.symlink_to(folder.root), "fifo": lambda: os.mkfifo(place)}
    make[kind]()
    assert _codes(keeper) == ["entry_unreadable"]
    with pytest.raises(StorageError, match="is no folder"):
        _phase(keeper, "load")
    assert folder.path(STATE).read_bytes() == before
