"""Tables in Markdown that people and the library both keep: reading their rows, adding rows at their end.

What belongs here: finding a table by its headings, cells in and out. What does not: what a table means. Everything else
in the file is the project's own text and stays byte for byte as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import Fault, FaultyFileError
from governance_pipeline.strict.excerpt import escape_unprintable, excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_RULE: Final = re.compile(r":?-+:?", re.ASCII)
_CELL: Final = re.compile(r"(?:[^|\\]|\\.)*")


class TableRow(NamedTuple):
    """A row as it stands in the file: its physical line, from 1, and its cells."""

    line: int
    cells: tuple[str, ...]


def table_rows(text: str, headings: Iterable[Sequence[str]], path: str) -> list[TableRow]:
    """Read the rows of the first table with one of these headings.

    Args:
        text: the whole file.
        headings: what its heading may be, one per language; case and blanks around a cell do not matter.
        path: what to call the file in a fault.

    Raises:
        FaultyFileError: there is no such table, or a row has another number of cells.
    """
    lines = text.splitlines()
    first, width = _first_row(lines, list(headings), path)
    rows, faults = list[TableRow](), list[Fault]()
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip().startswith("|"):
            break
        cells = _cells(line)
        if len(cells) == width:
            rows.append(TableRow(number, tuple(cells)))
        else:
            what = f"{len(cells)} cells, a row has {width}: {excerpt(line, 60)}"
            faults.append(Fault("wrong_cells", number, what))
    if faults:
        raise FaultyFileError(path, faults)
    return rows


def with_rows(text: str, headings: Iterable[Sequence[str]], rows: Iterable[Sequence[str]], path: str) -> str:
    """Give the text with rows added below the last one of a table; everything else stays as it is.

    Raises:
        FaultyFileError: as `table_rows`.
    """
    known = list(headings)
    table_rows(text, known, path)
    lines = text.splitlines(keepends=True)
    at, _ = _first_row([line.rstrip("\r\n") for line in lines], known, path)
    while at < len(lines) and lines[at].strip().startswith("|"):
        at += 1
    if not lines[at - 1].endswith("\n"):
        lines[at - 1] += "\n"
    return "".join([*lines[:at], *(f"{row_text(row)}\n" for row in rows), *lines[at:]])


def row_text(cells: Sequence[str]) -> str:
    """Write a row as one line; what would end a cell or a line, or print as nothing, is escaped."""
    return f"| {' | '.join(map(_escaped, cells))} |"


def as_read(cells: Sequence[str]) -> tuple[str, ...]:
    """Give cells as they are read back from the row they were written to."""
    return tuple(_unescaped(_escaped(cell)) for cell in cells)


def _first_row(lines: list[str], headings: list[Sequence[str]], path: str) -> tuple[int, int]:
    """Give the index of the line after heading and rule, and the number of cells of a row."""
    known = {tuple(name.casefold() for name in names) for names in headings}
    for index, line in enumerate(lines):
        if tuple(cell.casefold() for cell in _cells(line)) in known:
            width = len(_cells(line))
            rule = _cells(lines[index + 1]) if index + 1 < len(lines) else []
            if len(rule) == width and all(_RULE.fullmatch(cell) for cell in rule):
                return index + 2, width
    said = " or ".join(" | ".join(names) for names in headings)
    raise FaultyFileError(path, [Fault("no_table", None, f"there is no table with the headings {said}")])


def _cells(line: str) -> list[str]:
    """Cut a line of a table into its cells; none when it is no such line."""
    line = line.strip()
    if not line.startswith("|"):
        return []
    cells, at = list[str](), 1
    while at < len(line):
        match = _CELL.match(line, at)
        end = at if match is None else match.end()
        cells.append(_unescaped(line[at:end].strip()))
        at = end + 1
    return cells


def _escaped(cell: str) -> str:
    flat = " ".join(cell.split())  # a line feed would end the row
    return escape_unprintable(flat.replace("\\", "\\\\").replace("|", "\\|"))


def _unescaped(cell: str) -> str:
    return re.sub(r"\\([\\|])", r"\1", cell)
