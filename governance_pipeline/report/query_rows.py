"""Rows of a query as JSON values and as texts: exact, and safe to show.

What belongs here: turning the cells of any frame into values. What does not: running the query (storage.warehouse).
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.excerpt import escape_unprintable, mask_secrets
from governance_pipeline.strict.lexeme import Lexeme

if TYPE_CHECKING:
    import pandas as pd

SCHEMA: Final = "govern/warehouse-query/v1"
NULL: Final = "NULL"

_NOT_FINITE: Final = {math.inf: "Infinity", -math.inf: "-Infinity"}


def query_document(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the `govern/warehouse-query/v1` document: `{schema, columns: [name], rows: [[value]]}`.

    Rows are lists, because two columns of a query may have one name. Decimals are exact numbers; times are ISO 8601
    text, bytes hex text; a number that is not finite is the text NaN, Infinity or -Infinity.
    """
    return {
        "schema": SCHEMA,
        "columns": [str(name) for name in frame.columns],
        "rows": [[json_value(cell) for cell in row] for row in _rows(frame)],
    }


def query_page(frame: pd.DataFrame) -> str:
    """Return the rows as aligned text, one line per row below one line of names; null is NULL.

    Control and invisible characters are escaped and credentials masked; nothing is cut or rounded.
    """
    lines = [[_text(str(name)) for name in frame.columns]]
    lines += [[_shown(cell) for cell in row] for row in _rows(frame)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def json_value(cell: Any) -> Any:
    """Return one cell as a value of a JSON document (`report.json_text`)."""
    if isinstance(cell, dict):
        return {str(name): json_value(member) for name, member in cell.items()}
    if isinstance(cell, list | tuple):
        return [json_value(item) for item in cell]
    if hasattr(cell, "tolist"):  # what numpy holds
        return json_value(cell.tolist())
    return cell if cell is None or isinstance(cell, bool | int | str) else _written(cell)


def _written(cell: Any) -> Any:
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else _NOT_FINITE.get(cell, "NaN")
    if isinstance(cell, Decimal):
        return Lexeme(f"{cell:f}")
    if isinstance(cell, bytes):
        return cell.hex()
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def _shown(cell: Any) -> str:
    value = json_value(cell)
    if value is None:
        return NULL
    return _text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _text(text: str) -> str:
    return escape_unprintable(mask_secrets(text))


def _rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    columns = [_cells(frame.iloc[:, place]) for place in range(frame.shape[1])]
    return list(zip(*columns, strict=True))


def _cells(column: pd.Series) -> list[Any]:
    cells = column.astype(object)
    return [None if missing else cell for cell, missing in zip(cells.tolist(), column.isna().tolist(), strict=True)]
