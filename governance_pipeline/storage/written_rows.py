"""Rows of a table written as Parquet while they are still being found, so that writing overlaps with reading.

What belongs here: row groups in an unnamed file, judged as they pass by, and the finished file made of them. What does
not: where that file is kept (`lake`). What a table is stored with is in the footer alone, so it may be known last.
"""

from __future__ import annotations

import io
import tempfile
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from hashlib import sha256
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.contracts.batch_rules import BatchRules
from governance_pipeline.contracts.frames import arrow_schema
from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage import parquet
from governance_pipeline.storage.round_rows import of_round
from governance_pipeline.strict.lines import read_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from governance_pipeline.contracts.fields import TableModel


class Written(NamedTuple):
    """A finished file: its rows, whether they certainly keep the contract, and the digest of its bytes if known."""

    rows: int
    are_kept: bool
    digest: str | None


class WrittenRows:
    """Rows of one table, in the order they were appended; they are final once they have been asked for.

    Full row groups are written by a thread, one at a time; memory holds two or three. Rows come with a function that
    completes them, which that thread calls: to repeat a constant a million times is work too.

    Args:
        table: the contract they keep.
        folder: where the unnamed file is made; it may become as large as the stored table.
    """

    def __init__(self, table: str, folder: Path) -> None:
        self.table = table
        self.rows = 0
        self._model: type[TableModel] = contract_of(table)
        self._schema = arrow_schema(self._model)
        self._rules = BatchRules(self._model)
        self._rounds: set[str | None] = set()
        self._waiting: list[Callable[[], pa.RecordBatch]] = []
        self._room = SETTINGS.row_group_rows
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - lives as long as the rows
        self._sink = _Hashing(self._file)
        self._writer = pq.ParquetWriter(self._sink, self._schema, **parquet.WRITER)
        self._pool = ThreadPoolExecutor(1)
        self._pending: Future[None] | None = None
        weakref.finalize(self, _abandon, self._pool, self._writer, self._file)

    def append(self, batch: pa.RecordBatch, complete: Callable[[pa.RecordBatch], pa.RecordBatch]) -> None:
        """Append rows; `complete` gives them all columns of the contract and is called by another thread.

        Raises:
            OSError: a row group before could not be written.
        """
        self.rows += len(batch)
        while len(batch) >= self._room:
            self._waiting.append(partial(complete, batch.slice(0, self._room)))
            batch = batch.slice(self._room)
            self._pass_on()
        if len(batch):
            self._waiting.append(partial(complete, batch))
            self._room -= len(batch)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Give the rows back; nothing can be appended any more."""
        self._finish()
        # Read, not mapped: pages of a mapped file count as memory of the process for as long as it lives.
        with pq.ParquetFile(pa.PythonFile(self._file, "r")) as stored:
            for index in range(stored.num_row_groups):
                group = stored.read_row_group(index)
                yield from pa.Table.from_arrays(group.columns, schema=self._schema).to_batches()

    def write_to(self, sink: BinaryIO, round_id: str | None, metadata: Mapping[str, str]) -> Written:
        """Write the file `parquet.write_batches` makes of these rows.

        Raises:
            UsageError: as `write_batches`.
            StorageError: there are rows of another round.
        """
        schema = self._schema.with_metadata(parquet.whole_metadata(self.table, metadata))
        self._finish()
        list(of_round(self.table, round_id, [pa.record_batch({"round_id": sorted(self._rounds, key=str)})]))
        footer = parquet.footer_of(schema, pq.read_metadata(pa.PythonFile(self._file, "r")))
        digest = self._sink.digest.copy()
        self._file.seek(0)
        sink.writelines(read_blocks(cast("BinaryIO", self._file), self._sink.body))
        sink.write(footer)
        digest.update(footer)
        return Written(self.rows, self._rules.are_kept, digest.hexdigest())

    def _pass_on(self) -> None:
        """Let the thread write what waits, once it has written what it got before."""
        self._await()
        self._pending = self._pool.submit(self._write, self._waiting)
        self._waiting, self._room = [], SETTINGS.row_group_rows

    def _write(self, parts: Iterable[Callable[[], pa.RecordBatch]]) -> None:
        batches = [part() for part in parts]
        for batch in batches:
            self._rules.see(batch)
            self._rounds.update(batch.column("round_id").unique().to_pylist())
        self._writer.write_table(parquet.joined(batches, self._schema), row_group_size=SETTINGS.row_group_rows)

    def _await(self) -> None:
        if self._pending is not None:
            self._pending.result()  # kept: rows of which a group is lost are refused however often they are asked for

    def _finish(self) -> None:
        if not self._writer.is_open:
            return
        if self._waiting:
            self._pass_on()
        self._await()
        self._pool.shutdown()
        self._sink.end_body()
        self._writer.close()


def write_rows(
    table: str, round_id: str | None, rows: Iterable[pa.RecordBatch], metadata: Mapping[str, str], sink: BinaryIO
) -> Written:
    """Write rows of a round as a file, judged as they pass by: those already written, or any batches.

    Raises:
        UsageError: as `parquet.write_batches`.
        StorageError: there are rows of another round.
    """
    if isinstance(rows, WrittenRows) and rows.table == table and rows.rows:
        return rows.write_to(sink, round_id, metadata)
    rules = BatchRules(contract_of(table))
    watched = _watched(rules, of_round(table, round_id, rows))
    count = parquet.write_batches(table, watched, metadata, sink, ahead=True)
    return Written(count, rules.are_kept, None)


def _watched(rules: BatchRules, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rules.see(batch)
        yield batch


def _abandon(pool: ThreadPoolExecutor, writer: pq.ParquetWriter, file: IO[bytes]) -> None:
    """Let go of rows nobody wants any more; the file has no name, so it is gone."""
    pool.shutdown(wait=False)  # nothing is under way: that would hold the rows; it may be its thread that lets go
    with closing(file), suppress(OSError, pa.ArrowException):
        if writer.is_open:
            writer.close()


class _Hashing(io.RawIOBase):
    """A sink that hashes what it is given, until the footer begins, which is not yet the last one."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self._is_body = True
        self.digest = sha256()
        self.body = 0

    def writable(self) -> bool:
        return True

    def write(self, data: memoryview, /) -> int:  # type: ignore[override]
        if self._is_body:
            self.digest.update(data)
            self.body += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()

    def tell(self) -> int:
        return self._file.tell()

    def end_body(self) -> None:
        """What follows is the footer."""
        self._is_body = False
