"""Where confidence events are kept: appended when the fold accepts them, never changed, folded to scores on demand.

What belongs here: recording and folding what is stored. What does not: the rules of an event and of the fold. An event
is recorded only if it is accepted where it belongs in time; nothing is dropped in silence. Events the fold itself
cannot see through, such as a self-report of an agent, are kept out by whoever writes them (spec/confidence.md §1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence import checkpoints, store_file
from governance_pipeline.confidence.recording import (
    EventRefused,
    append_in_order,
    append_one,
    folded_from,
)
from governance_pipeline.confidence.registry import REGISTRY_SCHEMA, Registry
from governance_pipeline.confidence.stored_lines import insert, line_of, order_from_end, registry_of, stored
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.confidence.event import Line, Refused
    from governance_pipeline.confidence.fold import Folded
    from governance_pipeline.confidence.recording import Recorded


FILE = "confidence.sqlite"


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
            before, registry = registry_of(database), registry_of(database)
            registry.add(parse_json(line), "registry")
            registry.check()
            if registry == before:
                return False
            insert(database, line, None)
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
        lines = [line_of(value) for value in values]
        with store_file.opened(self.path, is_writing=True) as database:
            registry = registry_of(database)
            return [append_one(database, data, registry) for data in lines]

    def take(self, values: Sequence[Mapping[str, Any]]) -> list[Recorded | Refused]:
        """Record what the rules accept of several events, in their order; many that follow all others cost one fold.

        Raises:
            StorageError: the store cannot be used; then nothing was recorded.
        """
        lines = [line_of(value) for value in values]
        with store_file.opened(self.path, is_writing=True) as database:
            registry = registry_of(database)
            done = append_in_order(database, lines, registry)
            return [_outcome(database, line, registry) for line in lines] if done is None else done

    def standing(self, rows: int = 0) -> Standing:
        """Return registry and state; a history of any length costs the events since the newest checkpoint.

        Args:
            rows: events at the end whose rows the fold should hold, at least.

        Raises:
            StorageError: the store cannot be used.
        """
        with store_file.opened(self.path) as database:
            registry = registry_of(database)
            start = checkpoints.newest(database, order_from_end(database, rows) if rows else None)
            return Standing(registry, folded_from(database, registry, start, has_rows=rows > 0))

    def whole(self) -> Standing:
        """Return the same, folded from the first event on: with all rows, alerts and seals.

        Raises:
            StorageError: the store cannot be used.
        """
        with store_file.opened(self.path) as database:
            registry = registry_of(database)
            return Standing(registry, folded_from(database, registry, checkpoints.beginning()))

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
            registry = registry_of(database)
            (last,) = database.execute("SELECT coalesce(max(seq), 0) FROM lines").fetchone()
            sql = "SELECT seq, line, sha256 FROM lines WHERE seq > ? AND ts IS NOT NULL ORDER BY seq"
            found = database.execute(sql, (seq,))
            return RecordedLines(
                int(last), registry, [(int(one), stored(line, digest, registry)) for one, line, digest in found]
            )

    def lines(self) -> Iterator[bytes]:
        """Yield registry and event lines as they were recorded; `govern confidence replay` reads them.

        Raises:
            StorageError: the store cannot be used.
        """
        with store_file.opened(self.path) as database:
            for (line,) in database.execute("SELECT line FROM lines ORDER BY seq"):
                yield line


def _outcome(database: sqlite3.Connection, line: bytes, registry: Registry) -> Recorded | Refused:
    try:
        return append_one(database, line, registry)
    except EventRefused as refusal:
        return refusal.refused
