"""The numbers of a round that a list of rounds draws, and its steps as one line of blocks.

What belongs here: picking known numbers out of the rows of one round; all of it is ours, none of it text of a log. What
does not: figures (trajectory_figures) and where they are shown (assets_defs). An unknown number is left out, so whoever
draws these over rounds has a gap there; in a line of blocks it is a dot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.report.trajectory_series import SIGNALS, step_series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

BLOCKS: Final = "▁▂▃▄▅▆▇█"
GAP: Final = "·"
MOST_BLOCKS: Final = 80
"""Blocks of a line at most; of more steps the first are shown, and the line says so."""

ROUND_NUMBERS: Final = ("aus_round", "largest_s", "largest_h", "unproven_growth", "rewrite_share", "evidence_share")


def round_numbers(table: str, frame: pd.DataFrame) -> dict[str, float | int | str]:
    """Give what is drawn of one round from its rows of `table`; empty for a table of which nothing is."""
    return NUMBERS[table](plain_rows(frame)) if table in NUMBERS else {}


def blocks(values: Sequence[float | None]) -> str:
    """Draw values from 0 to the largest as blocks, unknown ones as dots, with the largest behind them."""
    known = [value for value in values if value is not None]
    if not known:
        return f"unknown in all {len(values)} steps" if values else "no steps"
    highest = max(known)
    scale = (len(BLOCKS) - 1) / highest if highest > 0 else 0.0
    drawn = "".join(GAP if value is None else BLOCKS[round(value * scale)] for value in values[:MOST_BLOCKS])
    return f"{drawn} (0 to {highest:.4g}{', first steps' if len(values) > MOST_BLOCKS else ''})"


def _of_steps(rows: list[dict[str, Any]]) -> dict[str, float | int | str]:
    series = step_series(rows)
    return {"surface_by_step": blocks(series.surface), "evidence_by_step": blocks(series.evidence)}


def _of_round(rows: list[dict[str, Any]]) -> dict[str, float | int | str]:
    return {name: float(row[name]) for row in rows for name in ROUND_NUMBERS if row[name] is not None}


def _of_amplification(rows: list[dict[str, Any]]) -> dict[str, float | int | str]:
    known = {name: [row[name] for row in rows if row[name] is not None] for name in SIGNALS}
    return {f"{name.removeprefix('is_')}_count": sum(values) for name, values in known.items() if values}


NUMBERS: Final[dict[str, Callable[[list[dict[str, Any]]], dict[str, float | int | str]]]] = {
    "features_step_surface": _of_steps,
    "features_round": _of_round,
    "features_amplification": _of_amplification,
}
"""Table -> what is picked out of its rows."""
