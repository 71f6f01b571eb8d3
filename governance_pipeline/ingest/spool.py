"""Rows of a table as Arrow, kept in an unnamed file until somebody asks: memory does not grow with them.

What belongs here: writing batches, reading them back, and the columns that are the same in every row, which are kept
once. What does not: what a row means. The file has no name, so it is gone with the process or the last reader.
"""

from __future__ import annotations

import tempfile
import weakref
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from governance_pipeline.contracts.frames import arrow_schema, from_arrow
from governance_pipeline.contracts.registry import contract_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pandas as pd


class Spool:
    """Rows of one table, in the order they were appended; they are final once they have been asked for.

    Args:
        table: the contract they keep.
        folder: where the unnamed file is made; it may become as large as the rows.
        constants: column -> its value in every row; a column that is neither here nor appended is null.
    """

    def __init__(self, table: str, folder: Path, constants: Mapping[str, Any] | None = None) -> None:
        self.constants: dict[str, Any] = dict(constants or {})
        self._model = contract_of(table)
        self._schema = arrow_schema(self._model)
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._writer: pa.ipc.RecordBatchFileWriter | None = None
        self._is_final = False
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, columns: Mapping[str, pa.Array]) -> None:
        """Append rows: the same columns each time, with the types of the contract; raises nothing of its own."""
        batch = self._batch(columns)
        if self._writer is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - lives as long as the spool
            weakref.finalize(self, self._file.close)
            self._writer = pa.ipc.new_file(pa.PythonFile(self._file, "w"), batch.schema)
        self._writer.write_batch(batch)
        self._rows += batch.num_rows

    def batches(self) -> Iterable[pa.RecordBatch]:
        """Give the rows with all columns of the contract; nothing can be appended any more."""
        if self._writer is None or self._file is None:
            return
        if not self._is_final:
            self._writer.close()
            self._is_final = True
        # Read, not mapped: pages of a mapped file count as memory of the process for as long as it lives.
        reader = pa.ipc.open_file(pa.PythonFile(self._file, "r"))
        for index in range(reader.num_record_batches):
            yield self._whole(reader.get_batch(index), self.constants)

    def frame(self) -> pd.DataFrame:
        """Give the rows as a frame typed by the contract."""
        return from_arrow(self._model, pa.Table.from_batches(self.batches(), schema=self._schema))

    def _batch(self, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
        schema = pa.schema([self._schema.field(name) for name in columns])
        return pa.record_batch(list(columns.values()), schema=schema)

    def _whole(self, batch: pa.RecordBatch, constants: Mapping[str, Any]) -> pa.RecordBatch:
        rows = batch.num_rows
        columns = [
            batch.column(field.name)
            if field.name in batch.schema.names
            else pa.repeat(pa.scalar(constants.get(field.name), type=field.type), rows)
            for field in self._schema
        ]
        return pa.record_batch(columns, schema=self._schema)
