"""Rows of a table that become Parquet while the next ones are read.

What belongs here: what a spool does (columns that are the same in every row are given once), over rows that are
written at once (`storage.written_rows`). What does not: what a row means. A spool of Arrow (`spool`) is for rows that
are sorted or completed after all of them are known.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from governance_pipeline.ingest.spool import Spool
from governance_pipeline.storage.written_rows import WrittenRows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa


class ParquetSpool(Spool):
    """Rows of one table, in the order they were appended; constants may differ from one append to the next."""

    def __init__(self, table: str, folder: Path, constants: Mapping[str, Any] | None = None) -> None:
        super().__init__(table, folder, constants)
        self._written = WrittenRows(table, folder)

    def __len__(self) -> int:
        return self._written.rows

    def append(self, columns: Mapping[str, pa.Array]) -> None:
        """Append rows, with the constants as they are now.

        Raises:
            OSError: rows appended before could not be written.
        """
        self._written.append(self._batch(columns), partial(self._whole, constants=dict(self.constants)))

    def batches(self) -> WrittenRows:
        """Give the rows with all columns of the contract; a store takes them as they are written."""
        return self._written
