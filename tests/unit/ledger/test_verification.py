"""Whatever is done to the file is found, at the first event it touches."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.ledger.ledger import Ledger

if TYPE_CHECKING:
    from governance_pipeline.ledger.head import Head

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def five(ledger):
    for number in range(5):
        ledger.append("NOTE", "ana", {"number": number}, ts=NOON, unique=f"key-{number}")
    return ledger


def _first(ledger: Ledger, *remembered: Head) -> tuple[int | None, str]:
    faults = ledger.verify(remembered)
    assert faults, "nothing was found"
    return faults[0].seq, faults[0].code


def test_an_untouched_ledger_is_sound_at_every_remembered_head(five):
    heads = [five.head(size) for size in range(6)]
    assert five.verify(heads) == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("ts", "'2026-11-30T12:00:01.000000Z'"),
        ("type", "'APPROVED'"),
        ("actor", "'eve'"),
        ("body", "'{}'"),
        ("unique_key", "NULL"),
        ("unique_key", "'other'"),
    ],
)
def test_an_edited_column_is_found(five, forge, column, value):
    forge(f"UPDATE events SET {column} = {value} WHERE seq = 3")
    assert _first(five) == (3, "columns_differ")


def test_an_event_rewritten_with_all_its_columns_is_found_by_the_chain(five, forge):
    forge(
        "UPDATE events SET actor = 'eve', bytes = CAST(replace(CAST(bytes AS TEXT), 'ana', 'eve') AS BLOB) WHERE seq = 2"
    )
    assert _first(five) == (2, "chain_broken")


def test_bytes_that_are_no_event_are_found(five, forge):
    forge("UPDATE events SET bytes = x'7b7d' WHERE seq = 4")
    assert _first(five) == (4, "not_canonical")


def test_one_flipped_bit_is_found(five, forge):
    forge(
        "UPDATE events SET bytes = CAST(substr(bytes, 1, length(bytes) - 3) || x'46' || substr(bytes, -2) AS BLOB) WHERE seq = 5"
    )
    assert _first(five)[0] == 5


def test_a_deleted_event_is_found_at_its_number(five, forge):
    forge("DELETE FROM events WHERE seq = 3")
    assert _first(five) == (3, "gap")


def test_a_deleted_event_whose_followers_moved_up_is_found(five, forge):
    forge(
        "DELETE FROM events WHERE seq = 3",
        "UPDATE events SET seq = seq - 1 WHERE seq = 4",
        "UPDATE events SET seq = seq - 1 WHERE seq = 5",
    )
    assert _first(five) == (3, "out_of_order")


def test_an_inserted_event_is_found(five, forge):
    forge(
        "UPDATE events SET seq = seq + 10 WHERE seq >= 3",
        "UPDATE events SET seq = seq - 9 WHERE seq >= 13",
        "INSERT INTO events SELECT 3, ts, type, actor, body, 'new', bytes, chain FROM events WHERE seq = 2",
    )
    assert _first(five)[0] == 3


def test_events_in_another_order_are_found(five, forge):
    forge(
        "UPDATE events SET seq = 99 WHERE seq = 2",
        "UPDATE events SET seq = 2 WHERE seq = 3",
        "UPDATE events SET seq = 3 WHERE seq = 99",
    )
    assert _first(five) == (2, "out_of_order")


def test_events_cut_off_at_the_end_leave_a_trace(five, forge):
    forge("DELETE FROM events WHERE seq >= 4")
    assert _first(five) == (4, "head_differs")


def test_events_written_past_the_head_are_found(five, forge):
    forge("UPDATE head SET size = 4")
    assert _first(five) == (5, "head_differs")


def test_a_lost_head_is_found(five, forge):
    forge("DELETE FROM head")
    assert five.verify()[0].code == "head_differs"


@pytest.mark.parametrize("trigger", ["events_no_update", "events_no_delete", "events_once", "head_forward"])
def test_a_missing_trigger_is_found(five, forge, trigger):
    with closing(sqlite3.connect(five.path)) as connection:
        connection.execute(f"DROP TRIGGER {trigger}")
    assert _first(five) == (None, "schema_changed")


def test_an_extra_trigger_is_found(five, forge):
    forge("CREATE TRIGGER drop_it AFTER INSERT ON events BEGIN SELECT 1; END")
    assert _first(five) == (None, "schema_changed")


def test_a_clean_cut_is_found_only_by_a_head_kept_elsewhere(five, forge):
    kept = five.head()
    forge(
        "DELETE FROM events WHERE seq >= 4",
        "UPDATE head SET size = 3, chain = (SELECT chain FROM events WHERE seq = 3)",
    )
    assert five.verify() == []
    assert _first(five, kept) == (4, "truncated")


def test_a_history_written_anew_is_found_only_by_a_head_kept_elsewhere(five, tmp_path):
    other = Ledger.create(tmp_path / "other.sqlite")
    for number in range(6):
        other.append("NOTE", "eve", {"number": number}, ts=NOON)
    assert other.verify() == []
    assert _first(other, five.head(2), five.head()) == (None, "rewritten")
    assert [fault.code for fault in other.verify([five.head(2), five.head(0)])] == ["rewritten"]


def test_an_event_that_was_touched_is_not_handed_out(five, forge):
    forge("UPDATE events SET bytes = x'7b7d' WHERE seq = 4")
    reading = five.events()
    assert [next(reading).seq for _ in range(3)] == [1, 2, 3]
    with pytest.raises(StorageError, match="event 4"):
        next(reading)


def test_a_damaged_page_is_a_fault_or_an_error_never_silence(five):
    data = bytearray(five.path.read_bytes())
    data[4096:4200] = bytes(104)
    five.path.write_bytes(bytes(data))
    try:
        found = five.verify()
    except StorageError:
        return
    assert found


def test_a_table_of_another_make_is_a_fault_not_a_crash(five, forge):
    forge(
        "ALTER TABLE events RENAME TO old",
        "CREATE TABLE events AS SELECT seq, ts, type, actor, body, unique_key, CAST(bytes AS TEXT) AS bytes, 1 AS chain FROM old",
    )
    assert {fault.code for fault in five.verify()} >= {"schema_changed", "not_canonical"}


def _hide_from_index(path, index: str, statement: str) -> None:
    """Change a row while the schema does not know an index, which therefore stays as it was."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        row = connection.execute("SELECT * FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_schema WHERE name = ?", (index,))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", row)


def _hide_event_3(ledger: Ledger) -> None:
    """Take event 3 out of the index of types: written as another event while the index looks away."""
    with closing(sqlite3.connect(ledger.path)) as connection:
        dropped = connection.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for (name,) in names:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE events SET type = 'HIDDEN' WHERE seq = 3")
        connection.commit()
    _hide_from_index(ledger.path, "events_by_type", "UPDATE events SET type = 'NOTE' WHERE seq = 3")
    with closing(sqlite3.connect(ledger.path)) as connection:
        for (sql,) in dropped:
            connection.execute(sql)
        connection.commit()


def test_an_event_that_only_an_index_hides_is_read_and_the_index_is_a_fault(five):
    _hide_event_3(five)
    assert [event.seq for event in five.events(types={"NOTE"})] == [1, 2, 3, 4, 5]
    assert _first(five) == (None, "database")
