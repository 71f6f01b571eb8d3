"""Rows of a stored table belong to the round it is stored under.

What belongs here: refusing rows of another round, in a frame and in batches that pass by. What does not: any other rule
about rows (`contracts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pandas as pd
    import pyarrow as pa


def of_round(table: str, round_id: str | None, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pass batches on that hold rows of one round only (None: of any).

    Raises:
        StorageError: a batch holds rows of another round.
    """
    for batch in batches:
        others = sorted(set(batch.column("round_id").unique().to_pylist()) - {round_id}) if round_id else []
        if others:
            raise _strangers(table, round_id, others)
        yield batch


def _strangers(table: str, round_id: str | None, others: list[str]) -> StorageError:
    return StorageError(
        f"table {table} of round {round_id} holds rows of {others[:5]}; store them under their own round"
    )


def refuse_strangers(table: str, round_id: str | None, frame: pd.DataFrame) -> None:
    """Refuse a frame that holds rows of another round than the one it is stored under.

    Raises:
        StorageError: it does.
    """
    if round_id is not None and not (frame["round_id"] == round_id).all():
        raise _strangers(table, round_id, sorted(set(frame["round_id"]) - {round_id}))
