"""Sources of a check file read row by row: the key, the wanted columns, and an account of every row.

What belongs here: what all formats share, JSON Lines, and the choice of reader. What does not: CSV and Parquet, which
have a module each, and what rows mean (`crosscheck.engine`). Files are opened read-only and never written.

Source: spec/crosscheck.md §11 (files, rows, values).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from governance_pipeline.crosscheck.rows import Value
from governance_pipeline.crosscheck.source import SourceFormat
from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular, open_size, refusal_of
from governance_pipeline.strict.lexeme import Lexeme, NonFinite
from governance_pipeline.strict.limits import LIMITS
from governance_pipeline.strict.records import Accepted, Blank, json_lines
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from governance_pipeline.crosscheck.source import Source

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)


# The types `strict.json_text` makes, and no others: a lexeme is a str by its class, and a bool an int.
_KINDS: dict[type, ValueKind] = {
    type(None): ValueKind.MISSING,
    bool: ValueKind.BOOLEAN,
    int: ValueKind.NUMBER,
    Lexeme: ValueKind.NUMBER,
    NonFinite: ValueKind.NOT_FINITE,
    str: ValueKind.TEXT,
    list: ValueKind.ARRAY,
    dict: ValueKind.OBJECT,
}
_WORDS: dict[ValueKind, Callable[[Any], str | None]] = {
    ValueKind.MISSING: lambda _value: None,
    ValueKind.BOOLEAN: lambda value: "true" if value else "false",
    ValueKind.NUMBER: str,
    ValueKind.NOT_FINITE: str,
    ValueKind.TEXT: str,
    ValueKind.ARRAY: lambda _value: "array",
    ValueKind.OBJECT: lambda _value: "object",
}


class SourceRow(NamedTuple):
    """One row: its key (None when the row is quarantined), its physical line, its wanted columns that are present."""

    key: str | None
    line: int
    values: dict[str, Value]


@dataclass(slots=True)
class SourceAccount:
    """What was read of one source; final when its rows are exhausted.

    Attributes:
        sha256: digest of the bytes that were read.
        bytes: how many.
        rows: rows, quarantined ones included, a header not.
        quarantined: rows that could not be used.
        blank: lines without a row.
    """

    sha256: str = ""
    bytes: int = 0
    rows: int = 0
    quarantined: int = 0
    blank: int = 0


class HashedStream:
    """A stream that hashes what is read from it, so that the digest is of the very bytes the rows came from."""

    def __init__(self, stream: BinaryIO, on_bytes: Callable[[int], None]) -> None:
        self.size = 0
        self._stream = stream
        self._digest = hashlib.sha256()
        self._on_bytes = on_bytes

    def read(self, size: int = -1, /) -> bytes:
        """Read and hash."""
        block = self._stream.read(size)
        self._digest.update(block)
        self.size += len(block)
        self._on_bytes(len(block))
        return block

    def as_binary(self) -> BinaryIO:
        """This stream for readers that only ever call `read`."""
        return cast("BinaryIO", self)

    @property
    def sha256(self) -> str:
        """Digest of all bytes read so far."""
        return self._digest.hexdigest()


def read_source(
    source: Source, columns: frozenset[str], account: SourceAccount, on_bytes: Callable[[int], None] = lambda _n: None
) -> Iterator[SourceRow]:
    """Yield every row of a source in file order, in bounded memory.

    Args:
        source: which file, and which column is the key.
        columns: columns whose values are wanted.
        account: filled while rows are read.
        on_bytes: told how many bytes were read just now, for progress.

    Raises:
        UnreadableError: missing, not a regular file, no header or a repeated column, not Parquet, or changed meanwhile.
    """
    path = source.file
    if path is None:
        raise UnreadableError(f"source {source.name} has no file to read")
    with open_regular(path) as stream:
        size = open_size(stream)
        try:
            for row in _rows(path, stream, size, source.key, columns, account, on_bytes):
                account.rows += 1
                account.quarantined += row.key is None
                yield row
        except OSError as error:
            raise refusal_of(error, path) from None
    if account.bytes < size:
        raise UnreadableError(f"{excerpt(str(path))} became shorter while it was read; run again when it is written")


def usable_key(value: Value) -> str | None:
    """Return the subject a key column names: a non-empty text or an integer, as its text; None when it names none."""
    if value.kind is ValueKind.TEXT:
        return value.raw or None
    if value.kind is ValueKind.NUMBER and value.raw is not None and _INTEGER.fullmatch(value.raw):
        return value.raw
    return None


def json_value(value: Any) -> Value:
    """Return a JSON value as kind and raw text."""
    kind = _KINDS[type(value)]
    return Value(kind, _WORDS[kind](value))


def _rows(
    path: Path,
    stream: BinaryIO,
    size: int,
    key: str,
    columns: frozenset[str],
    account: SourceAccount,
    on_bytes: Callable[[int], None],
) -> Iterator[SourceRow]:
    if path.suffix == SourceFormat.PARQUET:
        from governance_pipeline.crosscheck.parquet_rows import parquet_rows

        yield from parquet_rows(path, stream, key, columns, account, on_bytes)
        return
    hashed = HashedStream(stream, on_bytes)
    if path.suffix == SourceFormat.CSV:
        from governance_pipeline.crosscheck.csv_rows import csv_rows

        yield from csv_rows(path, hashed, size, key, columns, account)
    else:
        yield from _json_rows(hashed, size, key, columns, account)
    account.sha256, account.bytes = hashed.sha256, hashed.size


def _json_rows(
    stream: HashedStream, size: int, key: str, columns: frozenset[str], account: SourceAccount
) -> Iterator[SourceRow]:
    for item in json_lines(stream.as_binary(), LIMITS, size=size, nonfinite=True):
        if isinstance(item, Blank):
            account.blank += 1
            continue
        line = item.line or 0
        subject = None
        if isinstance(item, Accepted) and isinstance(item.value, dict):
            members = item.value
            subject = usable_key(json_value(members.get(key)))
        if subject is None:
            yield SourceRow(None, line, {})
        else:
            yield SourceRow(subject, line, {name: json_value(members[name]) for name in columns if name in members})
