"""CSV sources (RFC 4180 with a header), row by row.

What belongs here: rows out of physical lines, and the kinds a cell can have. What does not: what all formats share
(`crosscheck.sources`). The `csv` module of the standard library cuts cells; it is fed one physical line at a time,
so that every row knows where it starts and no row outgrows the limit of a line.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, BinaryIO

from governance_pipeline.crosscheck.rows import MISSING, Value
from governance_pipeline.crosscheck.sources import HashedStream, SourceAccount, SourceRow
from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.json_text import BOM
from governance_pipeline.strict.limits import LIMITS
from governance_pipeline.strict.lines import split_lines
from governance_pipeline.strict.numbers import is_number
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from governance_pipeline.strict.lines import Line

_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_BOOLEANS = {"true", "false"}


def csv_rows(
    path: Path, stream: HashedStream, size: int, key: str, columns: frozenset[str], account: SourceAccount
) -> Iterator[SourceRow]:
    """Yield the rows of a CSV file after its header; a row that cannot be used has key None.

    Raises:
        UnreadableError: there is no usable header, or it repeats a column.
    """
    rows = _Rows(split_lines(stream.as_binary(), LIMITS.line_bytes, size=size)).read()
    header = _header(path, rows)
    at_key = header.index(key) if key in header else None
    wanted = [(name, header.index(name)) for name in columns if name in header]
    for line, cells in rows:
        if cells == []:
            account.blank += 1
        elif cells is None or at_key is None or len(cells) != len(header) or not cells[at_key]:
            yield SourceRow(None, line, {})
        else:
            yield SourceRow(cells[at_key], line, {name: cell_value(cells[index]) for name, index in wanted})


def csv_table(path: Path, stream: BinaryIO) -> tuple[list[str], Iterator[list[str | None]]]:
    """Return the header of a CSV file and its rows as texts, an empty cell as None; empty lines are passed over.

    Raises:
        UnreadableError: there is no usable header or it repeats a column; while rows are read, a row that is not
            RFC 4180, not UTF-8, or has another number of cells: whoever wants every row gets all or an error.
    """
    rows = _Rows(split_lines(stream, LIMITS.line_bytes)).read()
    header = _header(path, rows)

    def cells_of_rows() -> Iterator[list[str | None]]:
        for line, cells in rows:
            if cells is None or (cells and len(cells) != len(header)):
                found = "is not RFC 4180 in UTF-8" if cells is None else f"has {len(cells)} cells"
                raise UnreadableError(f"{excerpt(str(path))} line {line} {found}; the header has {len(header)} columns")
            if cells:
                yield [cell or None for cell in cells]

    return header, cells_of_rows()


def cell_value(cell: str) -> Value:
    """Return a cell as kind and raw text: only what JSON writes is a number or a boolean, an empty cell is missing."""
    if not cell:
        return MISSING
    if is_number(cell):
        return Value(ValueKind.NUMBER, cell)
    if cell in _BOOLEANS:
        return Value(ValueKind.BOOLEAN, cell)
    if _NOT_FINITE.fullmatch(cell):
        return Value(ValueKind.NOT_FINITE, cell)
    return Value(ValueKind.TEXT, cell)


def _header(path: Path, rows: Iterator[tuple[int, list[str] | None]]) -> list[str]:
    name = excerpt(str(path))
    _, header = next(rows, (1, None))
    if not header:
        raise UnreadableError(f"{name} has no CSV header that can be read; its first line must name the columns")
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        raise UnreadableError(f"{name} repeats column {excerpt(repeated[0], 60)} in its header; rename one")
    return header


class _RowTooLong(Exception):  # noqa: N818 - a signal from the lines to the rows
    """A row is longer than a line may be: most likely a quote that is never closed."""


class _Rows:
    """Rows as (line where the row starts, cells); cells are None when the row is not RFC 4180 or not UTF-8."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._number = 0
        self._row_bytes = 0
        self._is_utf8 = True

    def read(self) -> Iterator[tuple[int, list[str] | None]]:
        """Yield every row, an empty list for an empty line."""
        # The default of the module, 131,072 characters, would break a longer cell in two. No cell reaches this
        # limit, because the row it stands in is bounded by the same number of bytes, line ends included.
        before = csv.field_size_limit(LIMITS.line_bytes)
        try:
            yield from self._cut()
        finally:
            csv.field_size_limit(before)

    def _cut(self) -> Iterator[tuple[int, list[str] | None]]:
        reader = csv.reader(self._texts(), strict=True)
        while True:
            self._row_bytes, self._is_utf8 = 0, True
            start = self._number + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield start, None
            except _RowTooLong:
                for _ in self._lines:  # still hashed: nobody can tell where the next row would start
                    pass
                yield start, None
                return
            else:
                yield start, cells if self._is_utf8 else None

    def _texts(self) -> Iterator[str]:
        for line in self._lines:
            self._number = line.number
            self._row_bytes += len(line.data) + line.ended
            if line.too_long or self._row_bytes > LIMITS.line_bytes:
                raise _RowTooLong
            data = line.data.removeprefix(BOM) if line.number == 1 else line.data
            yield self._decoded(data) + ("\n" if line.ended else "")

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            self._is_utf8 = False
            return data.decode("utf-8", "replace")
