"""The raw and core tables of rounds that were read, typed when they are asked for.

What belongs here: giving the same rows as frames, as plain rows or as Arrow batches. What does not: reading (round)
and storing (storage).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd

from governance_pipeline.contracts.frames import plain_rows, to_arrow
from governance_pipeline.contracts.registry import contract_of, empty_frame, frame_of
from governance_pipeline.errors import UsageError
from governance_pipeline.ingest.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from governance_pipeline.ingest.extraction import Found


class RoundTables:
    """The raw and core tables of one round, typed by their contracts when they are asked for.

    Rules about values are checked by whoever stores or joins them, once for many rounds: a pandera pass costs more
    than reading a small round.
    """

    def __init__(self, round_id: str, found: Mapping[str, Found]) -> None:
        self.round_id = round_id
        self.found = found
        self._frames: dict[str, pd.DataFrame] = {}

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """Every table by name, in pipeline order; raises as `frame`."""
        return {table: self.frame(table) for table in self.found}

    def frame(self, table: str) -> pd.DataFrame:
        """Give one table.

        Raises:
            UsageError: the table is not made from round folders.
            ContractBreach: a value does not fit its column.
        """
        if table not in self.found:
            raise UsageError(f"{table} is not read from a round folder; those are {', '.join(self.found)}")
        if table not in self._frames:
            self._frames[table] = table_of(table, [self])
        return self._frames[table]

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Give the rows of one table, null as None."""
        yield from plain_rows(self.frame(table))

    def is_spooled(self, table: str) -> bool:
        """Tell whether a table has rows that were never Python objects; `batches` is then the cheap way to them."""
        return table in self.found and self.found[table].is_spooled

    def batches(self, table: str) -> Iterable[pa.RecordBatch]:
        """Give one table as Arrow batches, in the order and with the types of `frame`; spooled rows stay on disk."""
        model = contract_of(table)
        found = self.found[table]
        parts = (*found.frames, *([frame_of(table, found.rows)] if found.rows else []))
        given = [part.batches() if isinstance(part, Spool) else to_arrow(model, part).to_batches() for part in parts]
        return given[0] if len(given) == 1 else chain.from_iterable(given)  # rows already written stay as they are


def table_of(table: str, rounds: Iterable[RoundTables]) -> pd.DataFrame:
    """Give one table of many rounds, in their order; small rounds are typed together, at the cost of one.

    Raises:
        UsageError: the table is not made from round folders.
        ContractBreach: a value does not fit its column.
    """
    frames: list[pd.DataFrame] = []
    untyped: list[Mapping[str, Any]] = []
    for found in (each.found[table] for each in rounds):
        if found.frames and untyped:
            frames.append(frame_of(table, untyped))
            untyped = []
        frames += [part.frame() if isinstance(part, Spool) else part for part in found.frames]
        untyped += found.rows
    if untyped:
        frames.append(frame_of(table, untyped))
    if len(frames) == 1:
        return frames[0]
    return pd.concat(frames, ignore_index=True) if frames else empty_frame(table)
