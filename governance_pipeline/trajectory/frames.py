"""Rows of a frame as plain Python values: null is None, a number is an int or float.

What belongs here: the way out of pandas, for what is small enough to be walked row by row. What does not: files of
steps, which stay in arrays (`files`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd


def rows_of(frame: pd.DataFrame, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Give the rows of a frame in order, as dicts of `columns` (default: all of them)."""
    names = [str(name) for name in (frame.columns if columns is None else columns)]
    plain = [plain_column(frame[name]) for name in names]
    for values in zip(*plain, strict=True):
        yield dict(zip(names, values, strict=True))


def plain_column(column: pd.Series) -> list[Any]:
    """Give the values of a column, null as None."""
    values = column.astype(object).tolist()
    return [None if missing else value for value, missing in zip(values, column.isna().tolist(), strict=True)]
