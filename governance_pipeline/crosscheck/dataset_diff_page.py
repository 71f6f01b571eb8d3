"""What a comparison of two tables says: the document ``govern/dataset-diff/v1`` and the terminal page.

What belongs here: members, wording, the exit code. What does not: comparing (`crosscheck.dataset_diff`). Names and
values of the tables are hostile text: escaped, credentials masked, and cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from governance_pipeline.crosscheck.dataset_diff import KeyFault, Method
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from governance_pipeline.crosscheck.dataset_diff import ColumnDifference, DatasetComparison, SideFacts
    from governance_pipeline.crosscheck.dataset_diff_inputs import Column
    from governance_pipeline.crosscheck.dataset_diff_join import Cells

SCHEMA: Final = "govern/dataset-diff/v1"
_VALUE_CHARACTERS: Final = 200
_CELL_CHARACTERS: Final = 44
_COLUMNS_SHOWN: Final = 30
_WRONG_QUESTION: Final = {KeyFault.IS_POSITION, KeyFault.MISSING, KeyFault.TYPE}


def exit_code(comparison: DatasetComparison, *, fail_on_difference: bool) -> int:
    """Return the exit code (design §7): 2 no such key, 3 a key that does not identify, 1 a difference, 0 the same."""
    if comparison.reason_code is not None:
        return ExitCode.USAGE if comparison.reason_code in _WRONG_QUESTION else ExitCode.UNKNOWN
    return ExitCode.CLEAN if comparison.is_same or not fail_on_difference else ExitCode.FINDINGS


def diff_document(comparison: DatasetComparison) -> dict[str, Any]:
    """Return ``govern/dataset-diff/v1``; a pure function of the two tables, without a clock."""
    return {
        "schema": SCHEMA,
        "ok": comparison.ok,
        "reason_code": comparison.reason_code and comparison.reason_code.value,
        "message": comparison.message or None,
        "is_same": comparison.is_same if comparison.ok else None,
        "method": comparison.method.value,
        "key": [_text(name) for name in comparison.key],
        "key_types": [{"old": _text(old), "new": _text(new)} for old, new in comparison.key_types],
        "old": _side(comparison.old),
        "new": _side(comparison.new),
        "rows": {
            name: getattr(comparison, name)
            for name in ("identical", "within_tolerance", "divergent", "only_old", "only_new")
        },
        "columns": [_column(column) for column in comparison.columns],
        "added_columns": [_added(column) for column in comparison.added],
        "removed_columns": [_added(column) for column in comparison.removed],
        "examples_only_old": [_key(key) for key in comparison.examples_only_old],
        "examples_only_new": [_key(key) for key in comparison.examples_only_new],
    }


def diff_page(comparison: DatasetComparison, code: int) -> RenderableType:
    """Return the page of one comparison: what differs first, the counts last."""
    parts: list[RenderableType] = []
    if not comparison.ok:
        parts += _key_examples(comparison)
        message = f"not compared: {comparison.reason_code}: {excerpt(comparison.message, 400)}  (exit {code})"
        return Group(*parts, Text(message, style="bold red"))
    parts += _columns_part(comparison)
    for words, keys, count in (
        ("only in OLD", comparison.examples_only_old, comparison.only_old),
        ("only in NEW", comparison.examples_only_new, comparison.only_new),
    ):
        if keys:
            listed = ", ".join(_keys_text(key) for key in keys)
            parts.append(Text(f"{count} rows {words}, such as {listed}"))
    for words, columns in (("added", comparison.added), ("removed", comparison.removed)):
        parts += [Text(f"column {words}: {_cut(column.name)} ({_cut(column.sql_type)})") for column in columns]
    if comparison.method is Method.SCREENED:
        parts.append(Text("Screened: rows with equal hashes were not compared; leave --screen out for evidence."))
    within = f" ({comparison.within_tolerance} only within a tolerance)" if comparison.within_tolerance else ""
    summary = (
        f"{comparison.identical} rows identical{within}, {comparison.divergent} divergent, "
        f"{comparison.only_old} only in OLD, {comparison.only_new} only in NEW  (exit {code})"
    )
    return Group(*parts, Text(summary, style="bold green" if comparison.is_same else "bold red"))


def _columns_part(comparison: DatasetComparison) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for name, (old, new) in zip(comparison.key, comparison.key_types, strict=True):
        if old != new:
            parts.append(Text(f"type of key {_cut(name)}: {_cut(old)} -> {_cut(new)}, compared as text"))
    changed = [column for column in comparison.columns if column.old_type != column.new_type]
    parts += [Text(f"type of {_cut(c.name)}: {_cut(c.old_type)} -> {_cut(c.new_type)}") for c in changed]
    for column in comparison.columns:
        if column.epsilon is not None and (column.divergent or column.within_tolerance):
            words = f"{_cut(column.name)}: {column.within_tolerance} rows within {canonical(column.epsilon)}"
            parts.append(Text(f"{words} ({excerpt(column.epsilon_reason or '')})"))
    divergent = [column for column in comparison.columns if column.divergent]
    if divergent:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for heading in ("column", "rows", "key", "old", "new"):
            table.add_column(heading, justify="right" if heading == "rows" else "left", overflow="fold")
        for column in divergent[:_COLUMNS_SHOWN]:
            for at, cells in enumerate(column.examples):
                first = (_cut(column.name), str(column.divergent)) if at == 0 else ("", "")
                table.add_row(*map(Text, (*first, _keys_text(cells.key), _cell(cells.old), _cell(cells.new))))
        parts += [table, ""]
        if len(divergent) > _COLUMNS_SHOWN:
            parts.append(Text(f"… and {len(divergent) - _COLUMNS_SHOWN} more columns (--json)"))
    return parts


def _key_examples(comparison: DatasetComparison) -> list[RenderableType]:
    return [
        Text(f"{name}: key {_keys_text(key)} is there more than once")
        for name, side in (("OLD", comparison.old), ("NEW", comparison.new))
        if side.key is not None
        for key in side.key.examples
    ]


def _side(side: SideFacts) -> dict[str, Any]:
    facts = side.key
    return {
        "path": None if side.path is None else _text(side.path),
        "table": None if side.table is None else _text(side.table),
        "sha256": None if side.digest is None else side.digest.sha256,
        "bytes": None if side.digest is None else side.digest.size,
        "rows": None if facts is None else facts.rows,
        "null_key_rows": None if facts is None else facts.null_rows,
        "duplicate_key_rows": None if facts is None else facts.duplicate_rows,
        "duplicate_key_examples": [] if facts is None else [_key(key) for key in facts.examples],
    }


def _column(column: ColumnDifference) -> dict[str, Any]:
    return {
        "column": _text(column.name),
        "old_type": _text(column.old_type),
        "new_type": _text(column.new_type),
        "divergent": column.divergent,
        "within_tolerance": column.within_tolerance,
        "epsilon": None if column.epsilon is None else Lexeme(canonical(column.epsilon)),
        "epsilon_reason": column.epsilon_reason,
        "examples": [_example(cells) for cells in column.examples],
    }


def _example(cells: Cells) -> dict[str, Any]:
    old, new = (None if value is None else _text(value) for value in (cells.old, cells.new))
    return {"key": _key(cells.key), "old": old, "new": new}


def _added(column: Column) -> dict[str, str]:
    return {"column": _text(column.name), "type": _text(column.sql_type)}


def _key(key: Sequence[str | None]) -> list[str | None]:
    return [None if part is None else _text(part) for part in key]


def _text(value: str) -> str:
    return excerpt(value, _VALUE_CHARACTERS)


def _cut(value: str) -> str:
    return excerpt(value, _CELL_CHARACTERS)


def _cell(value: str | None) -> str:
    return "null" if value is None else _cut(value) or "(empty text)"


def _keys_text(key: Sequence[str | None]) -> str:
    return " / ".join(_cell(part) for part in key)
