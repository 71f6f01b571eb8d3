"""Did anybody touch the ledger: every row held to its bytes, its place and the rows before it.

What belongs here: finding the first bad event and saying what is wrong with it. What does not: repairing; nothing
here writes. Limits, said plainly: whoever can write the file can also write a whole new history that is sound in
itself. That is found only by a head that was kept elsewhere (research/security.md, bottom line 4).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.errors import GovernError
from governance_pipeline.ledger.database import schema
from governance_pipeline.ledger.event import NO_CHAIN, chained, columns_of, event_of
from governance_pipeline.ledger.merkle import Tree, leaf_hash
from governance_pipeline.ledger.verified_rows import RowDigest, VerifiedRows, is_plainly_sound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.ledger.head import Head


class Fault(NamedTuple):
    """One fault: number of the first bad event (None when it is about the whole file), stable code, what was found.

    Codes: database, schema_changed, gap, out_of_order, not_canonical, columns_differ, chain_broken, head_differs,
    truncated, rewritten; equivocation when the log signed another history; unusable for an event that is whole and
    does not hold what its package needs.
    """

    seq: int | None
    code: str
    message: str


def faults(
    connection: sqlite3.Connection, remembered: Sequence[Head] = (), before: VerifiedRows | None = None
) -> list[Fault]:
    """Check an open ledger; heads that were kept elsewhere must be those of its beginning.

    Args:
        connection: the ledger.
        remembered: heads that were kept elsewhere.
        before: rows that were verified before, whose form is not asked again where they are the same; when nothing is
            wrong it is brought up to date.

    Returns:
        Faults of the file as a whole, then of the first bad event, then of the heads; empty when it is sound.
    """
    found = [*_file_faults(connection), *_schema_faults(connection)]
    wanted = {head.size for head in remembered}
    try:
        walked = _walk(connection, wanted, VerifiedRows() if found or before is None else before)
    except sqlite3.DatabaseError as error:
        return [*found, Fault(None, "database", f"SQLite cannot read on: {error}")]
    found += [*walked.bad, *_remembered_faults(remembered, walked.rows.size, walked.roots)]
    if before is not None and not found:
        before.size, before.sha256 = walked.rows.size, walked.rows.sha256
    return found


class _Walked(NamedTuple):
    """What a walk over all rows found: the rows, faults of the first bad one, and the roots at the sizes asked for."""

    rows: VerifiedRows
    bad: list[Fault]
    roots: dict[int, str]


def _walk(connection: sqlite3.Connection, wanted: set[int], known: VerifiedRows) -> _Walked:
    """Walk over all rows; once more from the first, with nothing known, when they are not those that are known."""
    tree, chain, bad, digest = Tree(), NO_CHAIN, list[Fault](), RowDigest()
    roots = {0: tree.root().hex()}
    sql = "SELECT seq, ts, type, actor, body, unique_key, bytes, chain FROM events ORDER BY seq"
    for row in connection.execute(sql):
        *columns, data, stored_chain = row
        if not isinstance(data, bytes) or not isinstance(stored_chain, bytes):  # only in a table of another make
            data, stored_chain = b"", b""
        leaf = leaf_hash(data)
        is_chained = chained(chain, leaf) == stored_chain
        digest.add(columns, leaf, stored_chain)
        if tree.size < known.size:
            if not is_chained or not is_plainly_sound(tree.size + 1, columns, data):
                return _walk(connection, wanted, VerifiedRows())
        elif not bad:
            bad = list(_row_faults(tree.size + 1, tuple(columns), data, is_chained))
        chain = stored_chain
        tree.add_hash(leaf)
        if tree.size == known.size and digest.sha256 != known.sha256:
            return _walk(connection, wanted, VerifiedRows())
        if tree.size in wanted:
            roots[tree.size] = tree.root().hex()
    if tree.size < known.size:
        return _walk(connection, wanted, VerifiedRows())
    bad = bad or list(_head_faults(connection, tree.size, chain))
    return _Walked(VerifiedRows(tree.size, digest.sha256), bad, roots)


def _head_faults(connection: sqlite3.Connection, rows: int, chain: bytes) -> Iterator[Fault]:
    size, head_chain = connection.execute("SELECT size, chain FROM head").fetchone() or (-1, b"")
    if (size, head_chain) != (rows, chain):
        message = f"the file holds {rows} events, its head says {size}; rows were cut off or written past it"
        yield Fault(min(size, rows) + 1, "head_differs", message)


def _row_faults(expected: int, columns: tuple[object, ...], data: bytes, is_chained: bool) -> Iterator[Fault]:
    seq = columns[0]
    if seq != expected:
        yield Fault(expected, "gap", f"event {expected} is missing, the next one is {seq}")
        return
    try:
        event = event_of(data)
    except GovernError as reason:
        yield Fault(expected, "not_canonical", str(reason))
        return
    if event.seq != expected:
        yield Fault(expected, "out_of_order", f"its bytes are those of event {event.seq}")
    elif columns_of(event) != columns:
        yield Fault(expected, "columns_differ", "a column says something else than the bytes")
    if not is_chained:
        yield Fault(expected, "chain_broken", "it is not the event that was recorded after the ones before it")


def _remembered_faults(remembered: Sequence[Head], size: int, roots: dict[int, str]) -> Iterator[Fault]:
    for head in sorted(remembered):
        if head.size > size:
            yield Fault(size + 1, "truncated", f"{head.size} events were there once, now there are {size}")
        elif roots[head.size] != head.root:
            message = f"the first {head.size} events are not those that had root {head.root}"
            yield Fault(None, "rewritten", message)


def _file_faults(connection: sqlite3.Connection) -> Iterator[Fault]:
    """Ask SQLite for faults of the file; also of its indexes, which could hide a row or let a key in twice."""
    try:
        for (message,) in connection.execute("PRAGMA integrity_check(5)"):
            if message != "ok":
                yield Fault(None, "database", f"SQLite: {message}")
    except sqlite3.DatabaseError as error:
        yield Fault(None, "database", f"SQLite: {error}")


def _schema_faults(connection: sqlite3.Connection) -> Iterator[Fault]:
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(schema())
        expected = _schema_of(fresh)
    found = _schema_of(connection)
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            yield Fault(None, "schema_changed", f"{name} is not as this program made it; nothing may change it")


def _schema_of(connection: sqlite3.Connection) -> dict[str, str]:
    rows = connection.execute("SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return dict(rows.fetchall())
