"""Where confidence events are kept: appended when the fold accepts them, never changed, folded to scores on demand.

What belongs here: recording and folding what is stored. What does not: the rules of an event and of the fold. An event
is recorded only if it is accepted where it belongs in time; nothing is dropped in silence. Events the fold itself
cannot see through, such as a self-report of an agent, are kept out by whoever writes them (spec/confidence.md §1).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence import checkpoints, store_file
from governance_pipeline.confidence.event import Line, Refused
from governance_pipeline.confidence.fold import Folded, fold
from governance_pipeline.confidence.reading import judge
from governance_pipeline.confidence.registry import REGISTRY_SCHEMA, Registry
from governance_pipeline.confidence.terms import EventType, RefusalReason
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.confidence.event import Event
    from governance_pipeline.confidence.rows import Alert, EventRow, Seal

FILE = "confidence.sqlite"


class EventRefused(UsageError):  # noqa: N818 - a refusal with a reason code
    """An event the rules refuse; nothing was recorded. Holds the reason and the field it is about."""

    def __init__(self, refused: Refused) -> None:
        self.refused = refused
        where = f" ({refused.field})" if refused.field else ""
        super().__init__(f"event {refused.event_id or '?'} is refused: {refused.reason}{where}; nothing was recorded")


class Recorded(NamedTuple):
    """What one event did: its rows, alerts and seal, and the state after it. `is_new` is false for a repeated line."""

    event: Event
    rows: Sequence[EventRow]
    alerts: Sequence[Alert]
    seals: Sequence[Seal]
    is_new: bool


class Standing(NamedTuple):
    """Scores as they stand: registry, and the fold of all events (rows only of those after the checkpoint)."""

    registry: Registry
    folded: Folded


class RecordedLines(NamedTuple):
    """Events in the order they were recorded, each with its line number; the registry; the number of the last line."""

    last_seq: int
    registry: Registry
    events: list[tuple[int, Line]]


class EventStore:
    """The confidence events of one place; any number of processes of one machine may use it at once."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    @classmethod
    def create(cls, folder: Path) -> EventStore:
        """Make an empty store in a folder.

        Raises:
            UsageError: there is one already.
            StorageError: it cannot be made there.
        """
        store_file.create(folder / FILE)
        return cls(folder)

    def register(self, entry: Mapping[str, Any]) -> bool:
        """Add a registry line (`pools`, `subjects`, `teams`, `patterns`); False when it says nothing new.

        Raises:
            UsageError: it is broken, or contradicts what is registered.
            StorageError: the store cannot be used.
        """
        line = canonical_json({"schema": REGISTRY_SCHEMA, **entry})
        with store_file.opened(self.path, is_writing=True) as database:
            before, registry = _registry(database), _registry(database)
            registry.add(parse_json(line), "registry")
            registry.check()
            if registry == before:
                return False
            _insert(database, line, None)
        return True

    def append(self, value: Mapping[str, Any]) -> Recorded:
        """Record one event, if the fold accepts it at its place in time.

        The same event again changes nothing.

        Raises:
            EventRefused: a rule refuses it.
            StorageError: the store cannot be used.
        """
        return self.append_all([value])[0]

    def append_all(self, values: Sequence[Mapping[str, Any]]) -> list[Recorded]:
        """Record several events, in their order: all of them, or none when one is refused.

        Raises:
            As `append`.
        """
        lines = [_line_of(value) for value in values]
        with store_file.opened(self.path, is_writing=True) as database:
            registry = _registry(database)
            return [_append(database, data, registry) for data in lines]

    def standing(self, rows: int = 0) -> Standing:
        """Return registry and state; a history of any length costs the events since the newest checkpoint.

        Args:
            rows: events at the end whose rows the fold should hold, at least.

        Raises:
            StorageError: the store cannot be used.
        """
        with store_file.opened(self.path) as database:
            registry = _registry(database)
            start = checkpoints.newest(database, _order_from_end(database, rows) if rows else None)
            return Standing(registry, _folded(database, registry, start))

    def whole(self) -> Standing:
        """Return the same, folded from the first event on: with all rows, alerts and seals.

        Raises:
            StorageError: the store cannot be used.
        """
        with store_file.opened(self.path) as database:
            registry = _registry(database)
            return Standing(registry, fold(_lines(database, registry), registry))

    def scored_in(self, session_id: str) -> int:
        """Return how many events of a session were recorded, seals left out.

        Raises:
            StorageError: the store cannot be used.
        """
        with store_file.opened(self.path) as database:
            sql = "SELECT count(*) FROM lines WHERE session_id = ? AND is_seal = 0"
            return int(database.execute(sql, (session_id,)).fetchone()[0])

    def recorded_after(self, seq: int) -> RecordedLines:
        """Return the events recorded after a line, whatever their place in time.

        Raises:
            StorageError: the store cannot be used.
        """
        with store_file.opened(self.path) as database:
            registry = _registry(database)
            (last,) = database.execute("SELECT coalesce(max(seq), 0) FROM lines").fetchone()
            sql = "SELECT seq, line, sha256 FROM lines WHERE seq > ? AND ts IS NOT NULL ORDER BY seq"
            found = database.execute(sql, (seq,))
            return RecordedLines(
                int(last), registry, [(int(one), _stored(line, digest, registry)) for one, line, digest in found]
            )

    def lines(self) -> Iterator[bytes]:
        """Yield registry and event lines as they were recorded; `govern confidence replay` reads them.

        Raises:
            StorageError: the store cannot be used.
        """
        with store_file.opened(self.path) as database:
            for (line,) in database.execute("SELECT line FROM lines ORDER BY seq"):
                yield line


def _append(database: sqlite3.Connection, data: bytes, registry: Registry) -> Recorded:
    judged = judge(parse_json(data), hashlib.sha256(data).hexdigest(), registry)
    if isinstance(judged, Refused):
        raise EventRefused(judged)
    known = _known(database, judged.event.event_id, registry)
    if known is None:
        return _record(database, judged, data, registry)
    if known.event.canonical != judged.event.canonical:
        reason = RefusalReason.CONFLICTING_EVENT_ID
        raise EventRefused(Refused(judged.event.event_id, reason, None, judged.sha256))
    return Recorded(known.event, (), (), (), False)


def _record(database: sqlite3.Connection, judged: Line, data: bytes, registry: Registry) -> Recorded:
    event = judged.event
    folded = _folded(database, registry, checkpoints.newest(database))
    subject = folded.state.subjects.get((event.role, event.subject_id))
    if subject is not None and event.day in subject.sealed:  # whatever its instant: a sealed day is immutable
        raise EventRefused(Refused(event.event_id, RefusalReason.DAY_SEALED, None, judged.sha256))
    is_last = _last_order(database) < event.order
    if not is_last:
        folded = _folded(database, registry, checkpoints.newest(database, event.order), up_to=event.order)
    before = len(folded.events), len(folded.alerts), len(folded.seals), len(folded.refused)
    folded = fold([judged], registry, folded, _finder(database, registry))
    if len(folded.refused) > before[3]:
        raise EventRefused(folded.refused[-1])
    _insert(database, data, event)
    checkpoints.void_from(database, event.order)
    if is_last and folded.accepted >= checkpoints.SPACING:
        checkpoints.save(database, folded.state, event.order)
    return Recorded(
        event, folded.events[before[0] :], folded.alerts[before[1] :], folded.seals[before[2] :], is_new=True
    )


def _folded(
    database: sqlite3.Connection,
    registry: Registry,
    start: checkpoints.Checkpoint,
    up_to: tuple[int, str] | None = None,
) -> Folded:
    lines = _lines(database, registry, start.order, up_to)
    return fold(lines, registry, Folded(state=start.state), _finder(database, registry))


def _lines(
    database: sqlite3.Connection,
    registry: Registry,
    after: tuple[int, str] | None = None,
    before: tuple[int, str] | None = None,
) -> list[Line]:
    sql, bound = "SELECT line, sha256 FROM lines WHERE ts IS NOT NULL", list[int | str]()
    for order, sign in ((after, ">"), (before, "<")):
        if order is not None:
            sql += f" AND (ts, event_id) {sign} (?, ?)"
            bound += order
    return [_stored(line, sha256, registry) for line, sha256 in database.execute(f"{sql} ORDER BY ts, event_id", bound)]


def _stored(line: bytes, sha256: str, registry: Registry) -> Line:
    judged = judge(parse_json(line), sha256, registry)
    if isinstance(judged, Refused) or hashlib.sha256(line).hexdigest() != sha256:
        what = judged.event_id if isinstance(judged, Refused) else judged.event.event_id
        raise StorageError(f"stored event {what} is not what was recorded; restore the file from before")
    return judged


def _last_order(database: sqlite3.Connection) -> tuple[int, str]:
    sql = "SELECT ts, event_id FROM lines WHERE ts IS NOT NULL ORDER BY ts DESC, event_id DESC LIMIT 1"
    ts, event_id = database.execute(sql).fetchone() or (-1, "")
    return int(ts), str(event_id)


def _order_from_end(database: sqlite3.Connection, number: int) -> tuple[int, str]:
    """Return the order of the nth event from the end; of none that exists, one before all."""
    sql = "SELECT ts, event_id FROM lines WHERE ts IS NOT NULL ORDER BY ts DESC, event_id DESC LIMIT 1 OFFSET ?"
    ts, event_id = database.execute(sql, (number - 1,)).fetchone() or (-1, "")
    return int(ts), str(event_id)


def _known(database: sqlite3.Connection, event_id: str, registry: Registry) -> Line | None:
    row = database.execute("SELECT line, sha256 FROM lines WHERE event_id = ?", (event_id,)).fetchone()
    return None if row is None else _stored(row[0], row[1], registry)


def _finder(database: sqlite3.Connection, registry: Registry) -> Any:
    def event_of(event_id: str) -> Event:
        line = _known(database, event_id, registry)
        if line is None:
            raise StorageError(f"event {event_id} is gone from the store; restore the file from before")
        return line.event

    return event_of


def _registry(database: sqlite3.Connection) -> Registry:
    registry = Registry()
    for seq, line in database.execute("SELECT seq, line FROM lines WHERE ts IS NULL ORDER BY seq"):
        registry.add(parse_json(line), f"registry line {seq}")
    return registry


def _insert(database: sqlite3.Connection, line: bytes, event: Event | None) -> None:
    columns: tuple[Any, ...] = (None, None, None, 0)
    if event is not None:
        columns = (event.event_id, event.ts, event.session_id, int(event.event_type is EventType.SEAL))
    database.execute(
        "INSERT INTO lines VALUES ((SELECT coalesce(max(seq), 0) + 1 FROM lines), ?, ?, ?, ?, ?, ?)",
        (*columns, line, hashlib.sha256(line).hexdigest()),
    )


def _line_of(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
