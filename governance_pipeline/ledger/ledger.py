"""The ledger: events appended one by one, each once, never changed, and read back as a pure sequence.

What belongs here: append, read, head. What does not: checking that nobody touched the file (`verification`) and folds.
State is never stored: it is folded from events, the current time and current digests (spec/gate.md §5).
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from governance_pipeline.errors import GovernError, StorageError
from governance_pipeline.ledger import database
from governance_pipeline.ledger.event import (
    AlreadyRecorded,
    Event,
    NewEvent,
    chained,
    columns_of,
    new_event,
    read_event,
)
from governance_pipeline.ledger.head import Head
from governance_pipeline.ledger.heads import Heads
from governance_pipeline.ledger.merkle import Tree, leaf_hash
from governance_pipeline.ledger.verification import Fault, faults

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.ledger.verified_rows import VerifiedRows


class LedgerMoved(StorageError):  # noqa: N818 - a refusal: look again and decide again
    """Something was appended since the caller looked; `size` is the size now."""

    def __init__(self, expected: int, size: int) -> None:
        self.size = size
        super().__init__(f"the ledger has {size} events, not {expected}: read what came since, then decide again")


class Ledger:
    """An append-only ledger in one SQLite file; any number of processes of one machine may use it at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._poison: str | None = None

    @classmethod
    def create(cls, path: Path) -> Ledger:
        """Make an empty ledger; never where something is already.

        Raises:
            UsageError: the file exists.
            StorageError: it cannot be made there.
        """
        database.create(path)
        return cls(path)

    def append(
        self,
        type: str,  # noqa: A002 - the member of the event has this name
        actor: str,
        body: Mapping[str, Any],
        *,
        ts: datetime,
        unique: str | None = None,
        after: int | None = None,
    ) -> Event:
        """Append one event and return it once it is on disk.

        Args:
            type: kind of event.
            actor: who caused it.
            body: JSON object; numbers that are no whole number of 53 bits go in as text.
            ts: when, by the clock of the caller.
            unique: a key that may be recorded once for ever; it becomes the member `unique` of the body.
            after: append only if this is still the size of the ledger: what was decided from events up to it holds.

        Raises:
            AlreadyRecorded: the key was recorded before; holds that event.
            LedgerMoved: something was appended since `after`.
            UsageError: the event cannot be recorded.
            StorageError: it could not be written; unless the message says otherwise nothing was recorded.
        """
        return self.append_all([NewEvent(type, actor, body, ts, unique)], after=after)[0]

    def append_all(
        self,
        entries: Sequence[NewEvent],
        *,
        after: int | None = None,
        seal: Callable[[Head], NewEvent] | None = None,
    ) -> list[Event]:
        """Append several events in one step: all of them, in order and without another in between, or none.

        Args:
            entries: the events.
            after: as `append`.
            seal: makes one more event from the head that covers them; it is appended in the same step.

        Returns:
            The events of `entries`.

        Raises:
            As `append`.
        """
        if self._poison is not None:
            raise StorageError(f"ledger {self.path}: nothing more is written because {self._poison}; open it again")
        with database.opened(self.path) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                _refuse_moved(connection, after)
                made = [_append(connection, entry) for entry in entries]
                if seal is not None:
                    _append(connection, seal(_head(connection, None)))
                self._commit(connection)
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        return made

    def events(self, after: int = 0, types: Collection[str] | None = None) -> Iterator[Event]:
        """Read events in order, all of one moment.

        Args:
            after: leave out events up to this number.
            types: only events of these types; None means all.

        Raises:
            StorageError: the ledger cannot be read, or an event is not what it must be (see `verify`).
        """
        sql = "SELECT seq, bytes FROM events WHERE seq > ?"
        wanted = sorted(types) if types is not None else []
        if types is not None:
            # The plus keeps SQLite to the rows themselves: an index could hide one, and would have to be sorted.
            sql += f" AND +type IN ({', '.join('?' * len(wanted))})"
        with database.snapshot(self.path) as connection:
            for seq, data in connection.execute(f"{sql} ORDER BY seq", (after, *wanted)):
                yield _stored(seq, data)

    def recorded(self, unique: str) -> Event | None:
        """Give the event that holds a key; None when it was not recorded."""
        with database.snapshot(self.path) as connection:
            return _holder(connection, unique)

    def size(self) -> int:
        """Give the number of events."""
        with database.snapshot(self.path) as connection:
            return _size(connection)

    def head(self, size: int | None = None) -> Head:
        """Compute size and root from the stored bytes; of the first `size` events where a size is given.

        Raises:
            StorageError: there are fewer events, or the ledger cannot be read.
        """
        with database.snapshot(self.path) as connection:
            found = _head(connection, size)
        if size is not None and found.size < size:
            raise StorageError(f"ledger {self.path} has {found.size} events, not {size}")
        return found

    def heads(self) -> Heads:
        """Read every state the ledger ever had, by one look at its bytes.

        Raises:
            StorageError: the ledger cannot be read.
        """
        with database.snapshot(self.path) as connection:
            return Heads(data for (data,) in connection.execute("SELECT bytes FROM events ORDER BY seq"))

    def grown_from(self, old: Head) -> Head | None:
        """Give the head of now when the ledger still begins as it did with another head; None when it does not.

        Raises:
            StorageError: the ledger cannot be read.
        """
        tree, is_beginning = Tree(), old == Head(0, Tree().root().hex())
        with database.snapshot(self.path) as connection:
            for (data,) in connection.execute("SELECT bytes FROM events ORDER BY seq"):
                tree.add(data)
                if tree.size == old.size:
                    is_beginning = tree.root().hex() == old.root
        return Head(tree.size, tree.root().hex()) if is_beginning else None

    def verify(self, remembered: Sequence[Head] = (), before: VerifiedRows | None = None) -> list[Fault]:
        """Check every event against its bytes, its number and the events before it.

        Edits, deletions, insertions and a new order are found at the first event they touch. Rows cut off at the end
        together with their trace, or a whole file written anew, are found only by heads that were kept elsewhere: pass
        them as `remembered` (each approval carries one).

        Args:
            remembered: heads that were kept elsewhere.
            before: what was verified before; takes note of what is verified now. None verifies every event anew.

        Returns:
            Faults, first bad event first; empty when it is sound.

        Raises:
            StorageError: the file cannot be read at all.
        """
        with database.snapshot(self.path) as connection:
            return faults(connection, remembered, before)

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_IOERR"):
                # After a failed fsync the kernel may call lost pages clean, so trying again proves nothing.
                self._poison = f"a sync to disk failed ({error})"
            raise


def _refuse_moved(connection: sqlite3.Connection, after: int | None) -> None:
    size = _size(connection)
    if after is not None and after != size:
        raise LedgerMoved(after, size)


def _append(connection: sqlite3.Connection, entry: NewEvent) -> Event:
    size, chain = connection.execute("SELECT size, chain FROM head").fetchone()
    if entry.unique is not None and (holder := _holder(connection, entry.unique)) is not None:
        raise AlreadyRecorded(holder)
    event = new_event(size + 1, entry)
    chain = chained(chain, leaf_hash(event.bytes))
    connection.execute(
        "INSERT INTO events (seq, ts, type, actor, body, unique_key, bytes, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*columns_of(event), event.bytes, chain),
    )
    connection.execute("UPDATE head SET size = size + 1, chain = ?", (chain,))
    return event


def _head(connection: sqlite3.Connection, size: int | None) -> Head:
    tree = Tree()
    for (data,) in connection.execute("SELECT bytes FROM events ORDER BY seq LIMIT ?", (-1 if size is None else size,)):
        tree.add(data)
    return Head(tree.size, tree.root().hex())


def _holder(connection: sqlite3.Connection, unique: str) -> Event | None:
    row = connection.execute("SELECT seq, bytes FROM events WHERE unique_key = ?", (unique,)).fetchone()
    return None if row is None else _stored(*row)


def _size(connection: sqlite3.Connection) -> int:
    (size,) = connection.execute("SELECT size FROM head").fetchone()
    return int(size)


def _stored(seq: int, data: bytes) -> Event:
    try:
        event = read_event(data)
    except GovernError as reason:
        raise StorageError(f"event {seq} of the ledger cannot be used: {reason}; run `govern ledger verify`") from None
    if event.seq != seq:
        raise StorageError(f"event {seq} of the ledger is event {event.seq} in truth; run `govern ledger verify`")
    return event
