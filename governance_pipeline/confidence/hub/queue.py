"""Events that wait to be sent: at most a hundred, each with its failures and the time of its next try.

What belongs here: the queue inside a transaction. What does not: sending (`delivery`) and what an answer means
(`settling`). It is on disk because no process of a command line lives as long as the waits between tries.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

MOST: Final = 100
"""Events that may wait; the oldest go first."""
WAITS_S: Final = (1, 5, 30, 120, 600)
"""Seconds before each of the five tries from the queue; a sixth failure drops the event."""


class Waiting(NamedTuple):
    """One event that waits: its number among the recorded lines, its body as JSON, sendings that came to nothing."""

    seq: int
    body: str
    failures: int


def add(database: sqlite3.Connection, seq: int, body: str) -> None:
    """Put an event at the end; one that waits already stays as it is."""
    database.execute("INSERT OR IGNORE INTO queue (seq, body) VALUES (?, ?)", (seq, body))


def cut(database: sqlite3.Connection) -> int:
    """Drop the oldest beyond what may wait; gives how many."""
    sql = "DELETE FROM queue WHERE seq NOT IN (SELECT seq FROM queue ORDER BY seq DESC LIMIT ?)"
    return database.execute(sql, (MOST,)).rowcount


def next_waiting(database: sqlite3.Connection, now: datetime, *, may_retry: bool) -> Waiting | None:
    """Return the oldest event that was never tried, or, where retries are allowed, whose time has come."""
    sql = "SELECT seq, body, failures FROM queue WHERE failures = 0 OR (? AND due_at <= ?) ORDER BY seq LIMIT 1"
    row = database.execute(sql, (may_retry, instant_text(now))).fetchone()
    return None if row is None else Waiting(*row)


def all_waiting(database: sqlite3.Connection) -> list[Waiting]:
    """Return all that wait, oldest first, whenever their time is."""
    return [Waiting(*row) for row in database.execute("SELECT seq, body, failures FROM queue ORDER BY seq")]


def postpone(database: sqlite3.Connection, waiting: Waiting, now: datetime) -> bool:
    """Count a failure and set the time of the next try; False when there is none left, and the event is dropped."""
    if waiting.failures >= len(WAITS_S):
        remove(database, waiting.seq)
        return False
    due = instant_text(now + timedelta(seconds=WAITS_S[waiting.failures]))
    sql = "UPDATE queue SET failures = ?, due_at = ? WHERE seq = ?"
    database.execute(sql, (waiting.failures + 1, due, waiting.seq))
    return True


def remove(database: sqlite3.Connection, seq: int) -> None:
    """Take an event out."""
    database.execute("DELETE FROM queue WHERE seq = ?", (seq,))


def pending(database: sqlite3.Connection) -> int:
    """Return how many wait."""
    return int(database.execute("SELECT count(*) FROM queue").fetchone()[0])


def next_due(database: sqlite3.Connection) -> str | None:
    """Return the earliest instant at which something that failed may be tried again; None when nothing failed."""
    (due,) = database.execute("SELECT min(due_at) FROM queue").fetchone()
    return None if due is None else str(due)
