"""Saved states of the fold, so that a long history is not folded again for one question.

What belongs here: saving, finding and voiding them inside a store's transaction. What does not: the fold. A checkpoint
is believed only if its digest fits its text and the events before it are still as many; one that an earlier event
voids is removed, and the fold starts from an older one. Source: spec/confidence.md §10.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.confidence.state import State
from governance_pipeline.confidence.state_text import read_state, state_text

if TYPE_CHECKING:
    import sqlite3

SPACING: Final = 1000
"""Events between two checkpoints: folding so many takes some 20 ms, saving a state about as long."""

KEPT: Final = 8
"""Newest checkpoints that are kept. Of older ones the newest of each doubled distance stays, so that a late event makes
at most about twice the events after it be folded again."""


class Checkpoint(NamedTuple):
    """A state, the order of the last event in it (None: of no event), and how many events there are up to it."""

    state: State
    order: tuple[int, str] | None
    events: int


def newest(database: sqlite3.Connection, before: tuple[int, str] | None = None) -> Checkpoint:
    """Return the newest sound checkpoint before an order (the newest of all by default); an empty state without one."""
    sql = "SELECT ts, event_id, events, state, sha256 FROM checkpoints"
    bound: tuple[int | str, ...] = ()
    if before is not None:
        sql, bound = f"{sql} WHERE (ts, event_id) < (?, ?)", before
    for ts, event_id, events, text, sha256 in database.execute(f"{sql} ORDER BY ts DESC, event_id DESC", bound):
        if not isinstance(text, str) or _digest(text) != sha256:
            continue  # a page that is gone reads as nothing
        if _events_up_to(database, (ts, event_id)) != events:
            continue
        try:
            return Checkpoint(read_state(text), (ts, event_id), events)
        except (ValueError, LookupError, TypeError):
            continue
    return beginning()


def beginning() -> Checkpoint:
    """Return the state of no event."""
    return Checkpoint(State(), None, 0)


def events_of(database: sqlite3.Connection) -> int:
    """Return the number of events of a store."""
    (number,) = database.execute("SELECT count(*) FROM lines WHERE ts IS NOT NULL").fetchone()
    return int(number)


def distances(events: int) -> list[int]:
    """Return how many events before the end of a history of so many states are worth saving, farthest first."""
    found, distance = [], SPACING
    while distance < events:
        found.append(distance)
        distance *= 2
    return found[::-1]


def save(database: sqlite3.Connection, state: State, order: tuple[int, str]) -> None:
    """Save the state after the event of this order, and drop those that no longer stand where one is worth keeping."""
    text = state_text(state)
    events = _events_up_to(database, order)
    database.execute("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?)", (*order, events, text, _digest(text)))
    sql = "SELECT ts, event_id, events FROM checkpoints ORDER BY ts DESC, event_id DESC"
    seen: set[int] = set()
    for place, (ts, event_id, number) in enumerate(database.execute(sql).fetchall()):
        if not isinstance(number, int):
            continue  # a page that is gone reads as nothing
        doubled = ((events - number) // SPACING).bit_length()
        if place >= KEPT and doubled in seen:
            database.execute("DELETE FROM checkpoints WHERE (ts, event_id) = (?, ?)", (ts, event_id))
        seen.add(doubled)


def void_from(database: sqlite3.Connection, order: tuple[int, str]) -> None:
    """Remove the checkpoints an event of this order would have changed."""
    database.execute("DELETE FROM checkpoints WHERE (ts, event_id) >= (?, ?)", order)


def _events_up_to(database: sqlite3.Connection, order: tuple[int, str]) -> int:
    sql = "SELECT count(*) FROM lines WHERE ts IS NOT NULL AND (ts, event_id) <= (?, ?)"
    (number,) = database.execute(sql, order).fetchone()
    return int(number)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
