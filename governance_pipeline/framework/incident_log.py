"""The incident log a person reads: one Markdown table of four columns, in English or Spanish.

What belongs here: the columns and the rows as records. What does not: which rows there must be (`incidents`, which
holds them to the ledger) and the form of a table (`markdown_table`). Source: spec/framework.md §6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.framework import markdown_table

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS: Final = {
    "en": ("Date", "Incident", "Root cause", "Resolution/Lesson"),
    "es": ("Fecha", "Incidente", "Causa raíz", "Resolución/Lección"),
}
"""Headings of the table by language; case and blanks around a cell do not matter."""


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
    """Write a row as one line of Markdown."""
    return markdown_table.row_text(row)


def shown(row: IncidentRow) -> IncidentRow:
    """Give a row as it is read back from the file it was written to."""
    return IncidentRow(*markdown_table.as_read(row))


def read_rows(text: str, path: str) -> list[LoggedRow]:
    """Read the rows of the one table of incidents; `path` is what to call the file in a fault.

    Raises:
        FaultyFileError: it holds no table with these headings, or a row of it has another number of cells.
    """
    rows = markdown_table.table_rows(text, COLUMNS.values(), path)
    return [LoggedRow(row.line, IncidentRow(*row.cells)) for row in rows]


def with_rows(text: str, rows: Sequence[IncidentRow], path: str) -> str:
    """Give the text with rows added below the last one of its table; everything else stays as it is.

    Raises:
        FaultyFileError: as `read_rows`.
    """
    return markdown_table.with_rows(text, COLUMNS.values(), rows, path)
