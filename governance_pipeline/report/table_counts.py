"""The few numbers shown beside a table wherever it is listed: how many rows are in which state.

What belongs here: counting by the state columns a contract declares. What does not: any judgement of the numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.vocabulary import ContractState, Disposition, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import StrEnum

    import pandas as pd

STATES: Final[dict[str, type[StrEnum]]] = {
    "status": RecordStatus,
    "disposition": Disposition,
    "contract_state": ContractState,
}
"""State columns and their closed list of values, each of which is counted, also when no row has it."""

SUMS: Final = ("lines_in", "accepted", "quarantined", "blank", "duplicates")
"""Columns of `raw_log_files` that add up over files."""


def has_counts(columns: Iterable[str]) -> bool:
    """Tell whether a table with these columns has anything to count, so that others need not be read for it."""
    return not {*STATES, *SUMS}.isdisjoint(columns)


def table_counts(frame: pd.DataFrame) -> dict[str, int]:
    """Count the rows of a table per state, and add up its record counts.

    Returns:
        `<value>_count` for each value of a state column and `<column>_sum` for each record count; empty for a table
        that has neither. A value outside the closed list is not counted: the contract check names it.
    """
    counts = {
        f"{value}_count": int((frame[column] == value).sum())
        for column, values in STATES.items()
        if column in frame.columns
        for value in values
    }
    return counts | {f"{column}_sum": int(frame[column].sum()) for column in SUMS if column in frame.columns}
