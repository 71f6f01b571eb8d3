"""The incident log a person reads: one Markdown table of four columns, in English or Spanish.

What belongs here: reading the rows of the table and adding rows at its end. What does not: which rows there must be
(`incidents`, which holds them to the ledger). Everything else in the file is the project's own text and stays byte for
byte as it is. Source: spec/framework.md §6.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from governance_pipeline.errors import Fault, FaultyFileError
from governance_pipeline.strict.excerpt import escape_unprintable, excerpt

COLUMNS: Final = {
    "en": ("Date", "Incident", "Root cause", "Resolution/Lesson"),
    "es": ("Fecha", "Incidente", "Causa raíz", "Resolución/Lección"),
}
"""Headings of the table by language; case and blanks around a cell do not matter."""

_HEADINGS: Final = frozenset(tuple(name.casefold() for name in names) for names in COLUMNS.values())
_RULE: Final = re.compile(r":?-+:?", re.ASCII)
_CELL: Final = re.compile(r"(?:[^|\\]|\\.)*")


class IncidentRow(NamedTuple):
    """One row of the log: day (`2026-11-30`), what happened, why, and what was done or learned."""

    date: str
    incident: str
    root_cause: str
    resolution: str


class LoggedRow(NamedTuple):
    """A row as it stands in the file, and its physical line, from 1."""

    line: int
    row: IncidentRow


def heading(lang: str) -> str:
    """Give heading and rule of an empty table in a language of `COLUMNS`, two lines."""
    names = COLUMNS[lang]
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}\n"


def row_text(row: IncidentRow) -> str:
    """Write a row as one line of Markdown; what would end a cell or a line, or print as nothing, is escaped."""
    return f"| {' | '.join(map(_escaped, row))} |"


def shown(row: IncidentRow) -> IncidentRow:
    """Give a row as it is read back from the file it was written to."""
    return IncidentRow(*(_unescaped(_escaped(cell)) for cell in row))


def read_rows(text: str, path: str) -> list[LoggedRow]:
    """Read the rows of the one table of incidents.

    Args:
        text: the whole file.
        path: what to call it in a fault.

    Raises:
        FaultyFileError: it holds no table with these headings, or a row of it has another number of cells.
    """
    lines = text.splitlines()
    first = _first_row(lines, path)
    rows, faults = list[LoggedRow](), list[Fault]()
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip().startswith("|"):
            break
        cells = _cells(line)
        if len(cells) == len(IncidentRow._fields):
            rows.append(LoggedRow(number, IncidentRow(*cells)))
        else:
            faults.append(Fault("wrong_cells", number, f"{len(cells)} cells, a row has 4: {excerpt(line, 60)}"))
    if faults:
        raise FaultyFileError(path, faults)
    return rows


def with_rows(text: str, rows: list[IncidentRow], path: str) -> str:
    """Give the text with rows added below the last one of its table; everything else stays as it is.

    Raises:
        FaultyFileError: as `read_rows`.
    """
    read_rows(text, path)
    lines = text.splitlines(keepends=True)
    at = _first_row([line.rstrip("\r\n") for line in lines], path)
    while at < len(lines) and lines[at].strip().startswith("|"):
        at += 1
    if not lines[at - 1].endswith("\n"):
        lines[at - 1] += "\n"
    return "".join([*lines[:at], *(f"{row_text(row)}\n" for row in rows), *lines[at:]])


def _first_row(lines: list[str], path: str) -> int:
    """Give the index of the line after heading and rule."""
    for index, line in enumerate(lines):
        if tuple(cell.casefold() for cell in _cells(line)) in _HEADINGS:
            rule = _cells(lines[index + 1]) if index + 1 < len(lines) else []
            if len(rule) == len(IncidentRow._fields) and all(_RULE.fullmatch(cell) for cell in rule):
                return index + 2
    known = " or ".join(" | ".join(names) for names in COLUMNS.values())
    raise FaultyFileError(path, [Fault("no_table", None, f"there is no table with the headings {known}")])


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
