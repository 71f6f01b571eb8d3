"""One failure of a table against its contract, and the frame that lists them.

What belongs here: the shape of a failure and how a cell is shown in it. What does not: how failures are found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import pandas as pd

from governance_pipeline.errors import ContractBreach
from governance_pipeline.strict.excerpt import excerpt

NAMED_FAILURES: Final = 5
"""Failures an error message names; all of them are in its rows."""


class Breach(NamedTuple):
    """One failure: column (the key's columns joined by a comma for `unique`), rule, row from 0, value shown.

    row is None where the whole table is meant (a missing column, a wrong dtype), value where the cell is null.
    """

    column: str
    rule: str
    row: int | None
    value: str | None


def breach_frame(breaches: Iterable[Breach]) -> pd.DataFrame:
    """List failures as a frame; shape: one row per failure, columns column, rule, row, value."""
    rows = list(breaches)
    return pd.DataFrame(
        {
            "column": pd.array([b.column for b in rows], dtype="string"),
            "rule": pd.array([b.rule for b in rows], dtype="string"),
            "row": pd.array([b.row for b in rows], dtype="Int64"),
            "value": pd.array([b.value for b in rows], dtype="string"),
        }
    )


def contract_breach(table: str, rows: pd.DataFrame) -> ContractBreach:
    """Make the error for failures listed by `breach_frame`; its message names the first of them."""
    error = ContractBreach(table, rows)
    named = "; ".join(_sentence(row) for row in rows.head(NAMED_FAILURES).itertuples(index=False))
    more = f"; and {len(rows) - NAMED_FAILURES} more" if len(rows) > NAMED_FAILURES else ""
    error.args = (f"table {table} breaks its contract: {named}{more}. Correct what makes the rows; nothing was stored",)
    return error


def _sentence(row: Any) -> str:
    where = "" if row.row is pd.NA else f", row {row.row}"
    value = "null" if row.value is pd.NA else f"'{row.value}'"
    return f"column {row.column}{where}: {row.rule}, found {value}"


def shown(value: Any) -> str | None:
    """Show a cell as text: escaped, credentials masked, cut (`strict.excerpt`). Null gives None."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    return excerpt(str(value))
