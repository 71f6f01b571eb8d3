"""A column that both sides of a comparison have, and how a key column is written in SQL.

What belongs here: what joining (`crosscheck.dataset_diff_join`) and screening (`crosscheck.dataset_diff_screen`) share.
What does not: when two cells are the same (`crosscheck.dataset_diff_values`).
"""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A column that both sides have: its name, and position and type on each."""

    name: str
    old_at: int
    new_at: int
    old_type: str
    new_type: str


def key_cell(cell: str, pair: Pair) -> str:
    """Return SQL of a key cell; a key column of two types is compared as its text, never normalised."""
    return cell if pair.old_type == pair.new_type else f"{cell}::VARCHAR"
