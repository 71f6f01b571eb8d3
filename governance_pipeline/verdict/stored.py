"""Verdict inputs in the lake: the tables of rounds and of the rounds they continue.

What belongs here: which stored tables a verdict needs. What does not: making any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.verdict.baseline import ancestors
from governance_pipeline.verdict.dismissals import PARTY_TABLES
from governance_pipeline.verdict.findings import TABLE
from governance_pipeline.verdict.round_view import INPUTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.storage.lake import Lake


def stored_tables(lake: Lake, round_ids: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Read every input table of rounds and of their stored ancestors, and who produced them.

    Raises:
        StorageError: a table of a round was never made, or its bytes changed.
    """
    wanted = [*round_ids, *stored_ancestors(lake, round_ids)]
    tables = dict.fromkeys((*INPUTS, *PARTY_TABLES))
    return {table: _joined(table, [lake.get(table, round_id) for round_id in wanted]) for table in tables}


def stored_ancestors(lake: Lake, round_ids: Sequence[str]) -> list[str]:
    """List the stored rounds that `round_ids` continue, from parent to parent, without `round_ids` themselves.

    Raises:
        StorageError: a `core_rounds` table is damaged.
    """

    def stored_parent(round_id: str) -> str | None:
        named = lake.get("core_rounds", round_id)["parent_round_id"].dropna()
        parent = str(named.iloc[0]) if len(named) else None
        return parent if parent is not None and lake.has("core_rounds", parent) else None

    return ancestors(round_ids, stored_parent)


def stored_findings(lake: Lake, round_ids: Sequence[str]) -> pd.DataFrame:
    """Read the stored findings of rounds; a round that was never judged has none.

    Raises:
        StorageError: a stored table is damaged.
    """
    return _joined(TABLE, [lake.get(TABLE, round_id) for round_id in round_ids if lake.has(TABLE, round_id)])


def rounds_with_finding(lake: Lake, finding: str) -> list[str]:
    """List the rounds whose stored findings have an id that begins with `finding`; all rounds when none are stored.

    Raises:
        StorageError: a stored table is damaged.
    """
    judged = lake.rounds(TABLE)
    found = [round_id for round_id in judged if lake.get(TABLE, round_id)["finding_id"].str.startswith(finding).any()]
    if found:
        return found
    return [round_id for round_id in lake.rounds("core_rounds") if round_id not in judged]


def _joined(table: str, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else empty_frame(table)
