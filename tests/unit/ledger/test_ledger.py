"""Events are appended once, in order, by any number of writers, and nothing else can be done to them."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime

import pytest

from governance_pipeline.errors import StorageError, UnreadableError, UsageError
from governance_pipeline.ledger.event import AlreadyRecorded, NewEvent
from governance_pipeline.ledger.ledger import Ledger, LedgerMoved
from governance_pipeline.ledger.merkle import merkle_root

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def _note(ledger: Ledger, text: str = "", **more):
    return ledger.append("NOTE", "ana", {"text": text}, ts=NOON, **more)


def test_a_ledger_that_is_not_there_is_never_made_by_using_it(tmp_path):
    missing = Ledger(tmp_path / "none.sqlite")
    for use in (missing.head, missing.verify, missing.size, lambda: list(missing.events()), lambda: _note(missing)):
        with pytest.raises(StorageError, match="there is no ledger"):
            use()
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_is_made_once(ledger):
    with pytest.raises(UsageError, match="never overwritten"):
        Ledger.create(ledger.path)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"no database at all" * 100])
def test_a_file_that_is_no_ledger_is_refused(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(StorageError):
        _note(Ledger(path))


def test_another_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE events (seq INTEGER)")
    before = path.read_bytes()
    with pytest.raises(StorageError, match="no ledger"):
        _note(Ledger(path))
    assert path.read_bytes() == before


def test_a_link_in_place_of_the_file_is_refused(tmp_path, ledger):
    link = tmp_path / "link.sqlite"
    link.symlink_to(ledger.path)
    with pytest.raises(StorageError, match="no regular file"):
        _note(Ledger(link))


def test_a_network_file_system_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("governance_pipeline.storage.lock._mount_table", lambda: "1 0 0:1 / / rw - nfs4 host:/x rw\n")
    with pytest.raises(StorageError, match="nfs4"):
        Ledger.create(tmp_path / "l.sqlite")


def test_only_the_owner_can_read_a_new_ledger(ledger):
    assert ledger.path.stat().st_mode & 0o777 == 0o600


def test_events_come_back_in_order_with_their_exact_bytes(ledger):
    made = [_note(ledger, text) for text in ("a", "b", "c")]
    assert list(ledger.events()) == made
    assert [event.seq for event in made] == [1, 2, 3]
    assert (ledger.size(), ledger.head().size) == (3, 3)
    assert ledger.head().root == merkle_root([event.bytes for event in made]).hex()
    assert ledger.head(2).root == merkle_root([event.bytes for event in made[:2]]).hex()


def test_the_head_of_more_events_than_there_are_is_an_error(ledger):
    with pytest.raises(StorageError, match="0 events, not 1"):
        ledger.head(1)


def test_events_are_selected_by_place_and_type(ledger):
    for kind in ("A", "B", "A", "C"):
        ledger.append(kind, "ana", {}, ts=NOON)
    assert [e.seq for e in ledger.events(after=1)] == [2, 3, 4]
    assert [e.seq for e in ledger.events(types={"A", "C"})] == [1, 3, 4]
    assert list(ledger.events(types=())) == []


def test_a_key_is_recorded_once_for_ever_and_the_second_time_names_the_first(ledger):
    first = _note(ledger, "first", unique="consume:1")
    with pytest.raises(AlreadyRecorded) as refused:
        ledger.append("OTHER", "eve", {}, ts=NOON, unique="consume:1")
    assert refused.value.event == first
    assert refused.value.exit_code == 4
    assert ledger.recorded("consume:1") == first
    assert ledger.recorded("consume:2") is None
    assert ledger.size() == 1


def test_of_two_writers_with_one_key_exactly_one_wins(ledger):
    def consume(number: int) -> int:
        try:
            return _note(Ledger(ledger.path), str(number), unique="consume:1").seq
        except AlreadyRecorded as refused:
            return -refused.event.seq

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(consume, range(12)))
    assert sorted(results) == [-1] * 11 + [1]
    assert ledger.verify() == []


def test_writers_at_the_same_time_lose_nothing(ledger):
    with ThreadPoolExecutor(4) as pool:
        seqs = list(pool.map(lambda n: _note(Ledger(ledger.path), str(n)).seq, range(16)))
    assert sorted(seqs) == list(range(1, 17))
    assert ledger.verify() == []


def test_a_decision_made_on_an_old_state_is_not_recorded(ledger):
    _note(ledger)
    with pytest.raises(LedgerMoved) as refused:
        _note(ledger, after=0)
    assert refused.value.size == 1
    assert _note(ledger, after=1).seq == 2


def test_several_events_are_recorded_together_or_not_at_all(ledger):
    _note(ledger, unique="k")
    fine = NewEvent("A", "ana", {}, NOON)
    with pytest.raises(AlreadyRecorded):
        ledger.append_all([fine, NewEvent("B", "ana", {}, NOON, "k")])
    with pytest.raises(UsageError):
        ledger.append_all([fine, NewEvent("no type", "ana", {}, NOON)])
    assert ledger.size() == 1
    assert [e.seq for e in ledger.append_all([fine, fine])] == [2, 3]
    assert ledger.verify() == []


def test_a_body_that_cannot_be_recorded_leaves_no_trace(ledger):
    with pytest.raises(UnreadableError):
        ledger.append("NOTE", "ana", {"n": 2**60}, ts=NOON)
    assert ledger.size() == 0
    assert _note(ledger).seq == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET actor = 'eve'",
        "UPDATE OR REPLACE events SET seq = 9",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT seq, ts, 'X', actor, body, NULL, bytes, chain FROM events",
        "INSERT OR REPLACE INTO events SELECT 2, ts, type, actor, body, unique_key, bytes, chain FROM events",
        "INSERT INTO events SELECT 7, ts, type, actor, body, NULL, bytes, chain FROM events",
        "UPDATE head SET size = 0",
        "UPDATE head SET size = 9",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO head VALUES (1, 0, zeroblob(32))",
    ],
)
def test_the_file_itself_refuses_to_change_or_remove_an_event(ledger, statement):
    _note(ledger, unique="k")
    connecting = closing(sqlite3.connect(ledger.path, isolation_level=None))
    with connecting as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    assert ledger.verify() == []


def test_reading_does_not_stop_a_writer_and_sees_one_moment(ledger):
    _note(ledger)
    reading = ledger.events()
    assert next(reading).seq == 1
    _note(ledger)
    assert list(reading) == []
    assert ledger.size() == 2


def test_a_fork_can_append_to_the_same_ledger(ledger):
    _note(ledger)
    child = os.fork()
    if child == 0:
        try:
            _note(Ledger(ledger.path), "child")
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert [e.body["text"] for e in ledger.events()] == ["", "child"]


def test_a_failed_sync_ends_the_use_of_this_object(ledger, monkeypatch):
    failed = sqlite3.OperationalError("disk I/O error")
    failed.sqlite_errorname = "SQLITE_IOERR_FSYNC"

    class Failing:
        def execute(self, _sql):
            raise failed

    with pytest.raises(sqlite3.OperationalError):
        ledger._commit(Failing())
    with pytest.raises(StorageError, match="nothing more is written"):
        _note(ledger)
    assert _note(Ledger(ledger.path)).seq == 1


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_ledger_that_others_can_write_is_not_used(ledger, mode):
    ledger.path.chmod(mode)
    with pytest.raises(StorageError, match="written by others"):
        ledger.size()
    ledger.path.chmod(0o600)
    ledger.path.parent.chmod(0o777)
    with pytest.raises(StorageError, match="chmod 700"):
        ledger.append("T", "a", {}, ts=NOON)
    ledger.path.parent.chmod(0o700)
    assert ledger.size() == 0
