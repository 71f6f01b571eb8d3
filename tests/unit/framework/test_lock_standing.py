"""Dead is only who is proven dead; a live owner and one nobody can tell about keep their lock."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

import pytest

from governance_pipeline.errors import FaultyFileError, UsageError
from governance_pipeline.framework.json_file import file_text
from governance_pipeline.framework.lock_owner import Mode, Owner, checked_name, owner_document, read_owner
from governance_pipeline.framework.lock_standing import (
    Reason,
    Standing,
    names_in,
    place_in,
    place_of,
    standing_of,
)
from governance_pipeline.framework.processes import Look
from governance_pipeline.storage.lock import descriptor_held

LOOK = Look()
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
GONE = 2**31 - 1


@pytest.fixture
def lock(tmp_path):
    """Give a function that records an owner of lock `db`, and gives the place of the lock."""
    place = place_in(tmp_path, "db")
    place.kernel.touch()

    def record(mode=Mode.CLAIM, inode=None, **changes):
        this = LOOK.this()
        machine = this.machine._replace(**{k: v for k, v in changes.items() if k in this.machine._fields})
        process = this._replace(machine=machine, **{k: v for k, v in changes.items() if k in ("pid", "start_ticks")})
        number = place.kernel.stat().st_ino if inode is None else inode
        owner = Owner("db", mode, process, "ana", "load.py", None, NOON, NOON, number)
        place.record.write_bytes(file_text(owner_document(owner)))
        return place

    return record


def _judged(place):
    judged = standing_of(place, LOOK)
    return judged.standing, judged.reason


def test_a_lock_nobody_recorded_is_free(tmp_path):
    assert _judged(place_in(tmp_path, "db")) == (Standing.FREE, Reason.NO_OWNER)


def test_a_claim_of_a_living_process_is_live(lock):
    assert _judged(lock()) == (Standing.LIVE, Reason.PROCESS_ALIVE)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pid": GONE}, Reason.PROCESS_GONE),
        ({"start_ticks": 1}, Reason.PID_REUSED),
        ({"boot_id": "an earlier one"}, Reason.MACHINE_RESTARTED),
    ],
)
def test_whoever_is_proven_dead_leaves_an_orphan(lock, mode, changes, reason):
    assert _judged(lock(mode, **changes)) == (Standing.ORPHANED, reason)


@pytest.mark.parametrize("changes", [{"pid": GONE}, {"start_ticks": 1}, {"pid_namespace": 7}])
def test_while_the_kernel_lock_is_held_the_lock_is_live_whatever_is_recorded(lock, changes):
    place = lock(Mode.PROCESS, **changes)
    with descriptor_held(place.kernel):
        assert _judged(place) == (Standing.LIVE, Reason.KERNEL_LOCK_HELD)


def test_who_held_it_in_another_container_is_proven_dead_by_the_kernel_lock(lock):
    assert _judged(lock(Mode.PROCESS, pid_namespace=7)) == (Standing.ORPHANED, Reason.KERNEL_LOCK_FREE)


def test_a_claim_from_another_container_cannot_be_told_and_counts_as_held(lock):
    assert _judged(lock(Mode.CLAIM, pid_namespace=7)) == (Standing.UNKNOWN, Reason.OTHER_MACHINE)


def test_another_file_in_the_place_of_the_lock_file_proves_nothing_of_a_container(lock):
    assert _judged(lock(Mode.PROCESS, inode=1, pid_namespace=7)) == (Standing.UNKNOWN, Reason.OTHER_MACHINE)


def test_another_file_in_the_place_of_the_lock_file_does_not_break_a_living_owner(lock):
    parent = LOOK.process(os.getppid())
    place = lock(Mode.PROCESS, pid=parent.pid, start_ticks=parent.start_ticks)
    place.kernel.unlink()
    place.kernel.touch()
    assert _judged(place) == (Standing.LIVE, Reason.PROCESS_ALIVE)


def test_what_this_process_left_behind_itself_is_an_orphan(lock):
    assert _judged(lock(Mode.PROCESS)) == (Standing.ORPHANED, Reason.KERNEL_LOCK_FREE)


@pytest.mark.parametrize(
    "text", ["", "{", '{"pid": "7"}', '{"pid": 0}', '{"pid": true}', "[]", '{"schema": "govern/lock-owner/v1"}']
)
def test_a_record_that_names_no_process_is_unknown_with_what_is_wrong_with_it(tmp_path, text):
    place = place_in(tmp_path, "db")
    place.record.write_text(text)
    judged = standing_of(place, LOOK)
    assert (judged.standing, judged.reason) == (Standing.UNKNOWN, Reason.UNREADABLE)
    assert str(place.record) in judged.detail


@pytest.mark.parametrize("text", ['{"pid": %d, "command": "x", "heartbeat": "2020"}', "%d", "%d\n"])
@pytest.mark.parametrize(
    ("pid", "answer"),
    [
        (GONE, (Standing.ORPHANED, Reason.PROCESS_GONE)),
        (os.getppid(), (Standing.UNKNOWN, Reason.IDENTITY_NOT_RECORDED)),
    ],
    ids=["dead", "alive"],
)
def test_the_lock_file_of_another_program_is_judged_by_its_process(tmp_path, text, pid, answer):
    path = tmp_path / "job.lock"
    path.write_text(text % pid)
    assert _judged(place_of(path)) == answer


@pytest.mark.parametrize("name", ["db.json", "db.lock"])
def test_either_file_of_a_lock_names_it(lock, tmp_path, name):
    lock(pid=GONE)
    assert place_of(tmp_path / name) == place_in(tmp_path, "db")


@pytest.mark.parametrize("name", ["", "../x", "a/b", "A", ".hidden", "_records", "x.json", "x.lock", "a\n", "x" * 81])
def test_what_could_leave_the_folder_or_meet_our_own_files_is_no_name(name):
    with pytest.raises(UsageError, match="no name of a lock"):
        checked_name(name)


def test_an_owner_is_read_back_as_it_was_written(lock):
    place = lock(Mode.PROCESS)
    owner = read_owner(place.record, "db")
    assert (owner.process, owner.command, owner.started) == (LOOK.this(), "load.py", NOON)
    assert json.loads(place.record.read_text()) == owner_document(owner)


def test_a_huge_file_in_the_place_of_a_record_is_refused_without_reading_it_whole(tmp_path):
    path = tmp_path / "db.json"
    with path.open("wb") as stream:
        stream.truncate(2**30)
    with pytest.raises(FaultyFileError, match="too_large"):
        read_owner(path, "db")


def test_a_fifo_or_a_link_in_the_place_of_a_record_is_unknown_and_does_not_hang(tmp_path):
    place = place_in(tmp_path, "db")
    os.mkfifo(place.record)
    assert _judged(place) == (Standing.UNKNOWN, Reason.UNREADABLE)
    place.record.unlink()
    place.record.symlink_to("/dev/zero")
    assert _judged(place) == (Standing.UNKNOWN, Reason.UNREADABLE)


def test_only_locks_of_people_are_listed(lock, tmp_path):
    lock()
    for name in ("_records.lock", ".tmp-1-0", "takeovers.jsonl", "batch.lock"):
        (tmp_path / name).touch()
    assert names_in(tmp_path) == ["batch", "db"]
    assert names_in(tmp_path / "none") == []
