"""Feature tables in the lake: read back only when they were made by the same formulas.

What belongs here: the lake's side of the refusal to mix, and the formulas file beside the tables. What does not: the
refusal itself (`formulas`). Source: spec/trajectory.md §1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.trajectory import graph_formulas
from governance_pipeline.trajectory.formulas import FILE_NAME, formulas_text, refuse_other_metadata

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.storage.lake import Lake


def read_features(lake: Lake, table: str, round_ids: Sequence[str]) -> pd.DataFrame:
    """Read a feature table of several rounds as one frame, in the order of `round_ids`.

    Raises:
        StorageError: a round has none, or one that was made with another epsilon or version of the formulas.
    """
    frames = []
    for round_id in round_ids:
        found, where = lake.metadata(table, round_id), f"table {table} of round {round_id}"
        if table in graph_formulas.VERSION_OF:
            graph_formulas.refuse_other_version(table, found, where)
        else:
            refuse_other_metadata(found, where)
        frames.append(lake.get(table, round_id))
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else empty_frame(table)


def write_formulas(lake: Lake) -> Path:
    """Write `features_formulas.json` and `features_graph_formulas.json` into the root of the lake; gives the first.

    Each is replaced in one step.

    Raises:
        StorageError: it cannot be written.
    """
    path = lake.root / FILE_NAME
    lake.writer.write(path, formulas_text().encode())
    lake.writer.write(lake.root / graph_formulas.FILE_NAME, graph_formulas.formulas_text().encode())
    return path
