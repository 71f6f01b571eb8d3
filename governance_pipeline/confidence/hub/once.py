"""What happens once per session: a notice that is told, the one retry of an opened circuit.

What belongs here: remembering it across processes, of which a session on the command line has many. What does not:
what is told. Source: spec/confidence.md §9.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

CATCH_ALL: Final = "cli"
"""Session of commands that name none; it would never end, so it is counted by the day."""
_KEPT: Final = timedelta(days=90)


def first_time(database: sqlite3.Connection, session: str, what: str, now: datetime) -> bool:
    """Take the one time something may happen in a session; False when it is taken already."""
    key = _session(session, now)
    row = database.execute("SELECT 1 FROM once WHERE session = ? AND what = ?", (key, what)).fetchone()
    if row is not None:
        return False
    database.execute("INSERT INTO once VALUES (?, ?, ?)", (key, what, instant_text(now)))
    database.execute("DELETE FROM once WHERE at < ?", (instant_text(now - _KEPT),))
    return True


def _session(session: str, now: datetime) -> str:
    return f"{session} {now.date().isoformat()}" if session == CATCH_ALL else session
