"""The two Markdown tables of an allow-list, cut into cells.

What belongs here: headings in both languages, and finding the rows below them. What does not: what a cell means
(`allowlist`). Text between the tables is the project's own and is not read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import Fault
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STANDING: Final = ("agent", "action", "scope", "why")
"""Columns of the table of standing permissions."""
TEMPORARY: Final = ("agent", "action", "scope", "start", "end", "why")
"""Columns of the table of temporary extensions."""

HEADINGS: Final = {
    "en": {
        STANDING: ("Agent", "Action", "Scope", "Why"),
        TEMPORARY: ("Agent", "Action", "Scope", "Start", "End or closing condition", "Why"),
    },
    "es": {
        STANDING: ("Agente", "Acción", "Alcance", "Por qué"),
        TEMPORARY: ("Agente", "Acción", "Alcance", "Inicio", "Fin o condición de cierre", "Por qué"),
    },
}
"""Language -> columns -> headings of the table, as the scaffold writes them; case does not matter."""

_COLUMNS: Final = {
    tuple(name.casefold() for name in names): columns
    for tables in HEADINGS.values()
    for columns, names in tables.items()
}
_RULE: Final = re.compile(r":?-+:?", re.ASCII)
_CELL: Final = re.compile(r"(?:[^|\\]|\\.)*")
_FENCE: Final = "```"


class TableRow(NamedTuple):
    """One row of a table: its physical line, from 1, and its cells by column."""

    line: int
    cells: Mapping[str, str]


def read_tables(text: str, faults: list[Fault]) -> dict[tuple[str, ...], list[TableRow]]:
    """Cut the text of an allow-list into the rows of its two tables.

    Args:
        text: the whole file.
        faults: gets what is wrong: a table that is missing or there twice, a row with another number of cells.

    Returns:
        Columns -> rows, in the order of the file; both tables are there.
    """
    found: dict[tuple[str, ...], list[TableRow]] = {STANDING: [], TEMPORARY: []}
    seen: set[tuple[str, ...]] = set()
    lines = text.splitlines()
    for at, columns in _headings(lines):
        if columns in seen:
            faults.append(Fault("table_twice", at + 1, f"a second table with the columns {', '.join(columns)}"))
            continue
        seen.add(columns)
        found[columns] = list(_rows(lines, at, columns, faults))
    for columns, names in HEADINGS["en"].items():
        if columns not in seen:
            faults.append(Fault("no_table", None, f"there is no table with the headings {' | '.join(names)}"))
    return found


def _headings(lines: list[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Give index and columns of each line that heads one of the tables; what is fenced is an example."""
    is_fenced = False
    for index, line in enumerate(lines):
        if line.lstrip().startswith(_FENCE):
            is_fenced = not is_fenced
        columns = _COLUMNS.get(tuple(cell.casefold() for cell in _cells(line)))
        if columns is not None and not is_fenced:
            yield index, columns


def _rows(lines: list[str], heading: int, columns: tuple[str, ...], faults: list[Fault]) -> Iterator[TableRow]:
    rule = _cells(lines[heading + 1]) if heading + 1 < len(lines) else []
    if len(rule) != len(columns) or not all(_RULE.fullmatch(cell) for cell in rule):
        faults.append(Fault("no_rule", heading + 2, "below the headings of a table stands a line of dashes"))
        return
    for number, line in enumerate(lines[heading + 2 :], heading + 3):
        cells = _cells(line)
        if not cells:
            return
        if len(cells) == len(columns):
            yield TableRow(number, dict(zip(columns, cells, strict=True)))
        else:
            said = f"{len(cells)} cells, a row of this table has {len(columns)}: {excerpt(line, 60)}"
            faults.append(Fault("wrong_cells", number, said))


def _cells(line: str) -> list[str]:
    """Cut a line of a table into its cells; none when it is no such line."""
    line = line.strip()
    if not line.startswith("|"):
        return []
    cells, at = list[str](), 1
    while at < len(line):
        match = _CELL.match(line, at)
        end = at if match is None else match.end()
        cells.append(re.sub(r"\\([\\|])", r"\1", line[at:end].strip()))
        at = end + 1
    return cells
