"""The local log of the hub client: what was dropped, refused or blocked, how many events, and when.

What belongs here: adding to it and reading its end. What does not: any text from the hub or of an event; a line is a
code of ours, a count and the status the hub answered with.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

KEPT: Final = 1000
"""Newest lines that are kept; a hub that is down for months must not fill a disk."""


class HubCode(StrEnum):
    """What happened."""

    OVERFLOW = "queue_overflow"
    GIVEN_UP = "attempts_exhausted"
    REJECTED = "rejected_by_hub"
    NOT_ALLOWED = "body_not_allowed"
    HISTORY_BLOCKED = "history_blocked"
    OTHER_RUNTIME = "other_runtime"
    UNAUTHORIZED = "unauthorized"
    NO_ANSWER = "no_usable_answer"
    STOPPED = "stopped_after_errors"
    REPORT_SENT = "state_report_sent"
    REPORT_REFUSED = "state_report_refused"
    CLIENT_FAILED = "client_failed"
    RESENT = "verification_resent"


class HubLogLine(NamedTuple):
    """One line: instant, code, how many events, and the HTTP status where there was one."""

    at: str
    code: str
    events: int
    status: int | None


def log(database: sqlite3.Connection, now: datetime, code: HubCode, events: int, status: int | None = None) -> None:
    """Add a line; the oldest beyond the kept ones go."""
    row = (instant_text(now), code.value, events, status)
    database.execute("INSERT INTO journal (at, code, events, status) VALUES (?, ?, ?, ?)", row)
    database.execute("DELETE FROM journal WHERE number <= (SELECT max(number) FROM journal) - ?", (KEPT,))


def logged_since(database: sqlite3.Connection, code: HubCode, since: datetime) -> int:
    """Return how many lines of a code are younger than an instant."""
    sql = "SELECT count(*) FROM journal WHERE code = ? AND at > ?"
    return int(database.execute(sql, (code.value, instant_text(since))).fetchone()[0])


def last_lines(database: sqlite3.Connection, number: int) -> list[HubLogLine]:
    """Give the newest lines, oldest of them first."""
    sql = "SELECT at, code, events, status FROM journal ORDER BY number DESC LIMIT ?"
    return [HubLogLine(*row) for row in database.execute(sql, (number,))][::-1]
