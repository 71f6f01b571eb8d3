"""The lines of a store: reading them in fold order, finding one, the registry among them, and adding one.

What belongs here: single statements on the table of lines. What does not: which events are recorded (`store`), and
opening the file (`store_file`).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.event import Line, Refused
from governance_pipeline.confidence.reading import judge
from governance_pipeline.confidence.registry import Registry
from governance_pipeline.confidence.terms import EventType
from governance_pipeline.errors import RecordRefused, StorageError
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping

    from governance_pipeline.confidence.event import Event

    Order = tuple[int, str]


def lines_between(
    database: sqlite3.Connection,
    registry: Registry,
    after: Order | None = None,
    before: Order | None = None,
) -> list[Line]:
    """Return the recorded events between two orders, sorted; raises StorageError for one that is not as recorded."""
    sql, bound = "SELECT line, sha256 FROM lines WHERE ts IS NOT NULL", list[int | str]()
    for order, sign in ((after, ">"), (before, "<")):
        if order is not None:
            sql += f" AND (ts, event_id) {sign} (?, ?)"
            bound += order
    return [stored(line, sha256, registry) for line, sha256 in database.execute(f"{sql} ORDER BY ts, event_id", bound)]


def stored(line: bytes, sha256: str, registry: Registry) -> Line:
    """Judge a recorded line again; raises StorageError when it is not what was recorded."""
    judged = judge(_parsed(line, "event"), sha256, registry)
    if isinstance(judged, Refused) or hashlib.sha256(line).hexdigest() != sha256:
        what = judged.event_id if isinstance(judged, Refused) else judged.event.event_id
        raise StorageError(f"stored event {what} is not what was recorded; restore the file from before")
    return judged


def _parsed(line: bytes, what: str) -> Any:
    """Read a recorded line; raises StorageError for bytes that are none (a page that is gone reads as nothing)."""
    try:
        return parse_json(line or b"")
    except RecordRefused as refusal:
        raise StorageError(f"a stored {what} is not what was recorded ({refusal}); restore the file") from refusal


def last_order(database: sqlite3.Connection) -> Order:
    """Return the order of the last event; one before all when there is none."""
    sql = "SELECT ts, event_id FROM lines WHERE ts IS NOT NULL ORDER BY ts DESC, event_id DESC LIMIT 1"
    ts, event_id = database.execute(sql).fetchone() or (-1, "")
    return int(ts), str(event_id)


def order_from_end(database: sqlite3.Connection, number: int) -> Order:
    """Return the order of the nth event from the end; of none that exists, one before all."""
    sql = "SELECT ts, event_id FROM lines WHERE ts IS NOT NULL ORDER BY ts DESC, event_id DESC LIMIT 1 OFFSET ?"
    ts, event_id = database.execute(sql, (number - 1,)).fetchone() or (-1, "")
    return int(ts), str(event_id)


def known_line(database: sqlite3.Connection, event_id: str, registry: Registry) -> Line | None:
    """Return the recorded event of an id; None without one."""
    row = database.execute("SELECT line, sha256 FROM lines WHERE event_id = ?", (event_id,)).fetchone()
    return None if row is None else stored(row[0], row[1], registry)


def finder(database: sqlite3.Connection, registry: Registry) -> Callable[[str], Event]:
    """Return what gives a recorded event by its id."""

    def event_of(event_id: str) -> Event:
        line = known_line(database, event_id, registry)
        if line is None:
            raise StorageError(f"event {event_id} is gone from the store; restore the file from before")
        return line.event

    return event_of


def registry_of(database: sqlite3.Connection) -> Registry:
    """Merge the registry lines."""
    registry = Registry()
    for seq, line in database.execute("SELECT seq, line FROM lines WHERE ts IS NULL ORDER BY seq"):
        registry.add(_parsed(line, "registry line"), f"registry line {seq}")
    return registry


def insert(database: sqlite3.Connection, line: bytes, event: Event | None) -> None:
    """Add a line; without an event it is one of the registry."""
    columns: tuple[Any, ...] = (None, None, None, 0)
    if event is not None:
        columns = (event.event_id, event.ts, event.session_id, int(event.event_type is EventType.SEAL))
    database.execute(
        "INSERT INTO lines VALUES ((SELECT coalesce(max(seq), 0) + 1 FROM lines), ?, ?, ?, ?, ?, ?)",
        (*columns, line, hashlib.sha256(line).hexdigest()),
    )


def line_of(value: Mapping[str, Any]) -> bytes:
    """Write an event as the line that is stored."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
