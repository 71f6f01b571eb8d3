"""One table's frame as Parquet bytes and back: the same frame gives the same bytes, hence the same digest.

What belongs here: the writer's settings and the metadata that says which contract the bytes keep. What does not:
where the bytes are kept. Nothing in the bytes depends on time, machine or process; the version of the Arrow writer
is in them, so a digest is comparable under one lock file of dependencies.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.contracts.breach import breach_frame, contract_breach
from governance_pipeline.contracts.frames import arrow_schema, from_arrow, to_arrow
from governance_pipeline.contracts.registry import contract_of, version_of
from governance_pipeline.contracts.rules import structure_breaches
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import pandas as pd

CONTRACT_KEY: Final = "govern.contract"
VERSION_KEY: Final = "govern.contract_version"
OWN_PREFIX: Final = "govern."
MAGIC: Final = b"PAR1"
_ARROW_SCHEMA: Final = b"ARROW:schema"
WRITER: Final[Mapping[str, Any]] = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": SETTINGS.parquet_compression,
    "compression_level": SETTINGS.parquet_compression_level,
    "use_dictionary": True,
    "write_statistics": True,
}


def to_bytes(table: str, frame: pd.DataFrame, metadata: Mapping[str, str]) -> bytes:
    """Write a sound frame of `table` as Parquet; `metadata` goes into the file and so into its digest.

    Raises:
        UsageError: a metadata key starts with the prefix this module keeps for itself.
        ContractBreach: the columns are not those of the contract, dtypes included: nothing is cast on the way.
    """
    model = contract_of(table)
    unfit = structure_breaches(model, frame)
    if unfit:
        raise contract_breach(table, breach_frame(unfit))
    sink = pa.BufferOutputStream()
    write_batches(table, to_arrow(model, frame).to_batches(), metadata, sink)
    return bytes(sink.getvalue())


def write_batches(
    table: str,
    batches: Iterable[pa.RecordBatch],
    metadata: Mapping[str, str],
    sink: pa.NativeFile | BinaryIO,
    *,
    ahead: bool = False,
) -> int:
    """Write Arrow batches of `table`, one row group at a time in memory; return the number of rows.

    The bytes depend on the rows alone, not on how they were cut into batches: those of `to_bytes` for the same rows.
    With `ahead` a second thread takes the next row group out of `batches` while one is written.

    Raises:
        UsageError: as `to_bytes`.
    """
    schema = arrow_schema(contract_of(table)).with_metadata(whole_metadata(table, metadata))
    rows = 0
    with pq.ParquetWriter(sink, schema, **WRITER) as writer:
        groups = _row_groups(batches, schema)
        for group in _one_ahead(groups) if ahead else groups:
            writer.write_table(group, row_group_size=SETTINGS.row_group_rows)
            rows += len(group)
        if not rows:
            writer.write_table(schema.empty_table())
    return rows


def whole_metadata(table: str, metadata: Mapping[str, str]) -> dict[str, str]:
    """Give what a file of `table` carries: `metadata` and which contract it keeps; raises as `to_bytes`."""
    taken = [key for key in metadata if key.startswith(OWN_PREFIX)]
    if taken:
        raise UsageError(f"metadata keys {taken} of {table} start with {OWN_PREFIX!r}, which storage keeps for itself")
    return {**dict(sorted(metadata.items())), **own_metadata(table)}


def footer_of(schema: pa.Schema, rows: pq.FileMetaData) -> bytes:
    """Give the end of the file that holds row groups already written, as if it had had this schema from the start."""
    empty, written = pa.BufferOutputStream(), pa.BufferOutputStream()
    pq.ParquetWriter(empty, schema, **WRITER).close()
    footer = pq.read_metadata(pa.BufferReader(empty.getvalue()))
    footer.append_row_groups(rows)
    footer.write_metadata_file(written)
    return bytes(written.getvalue())[len(MAGIC) :]


def _row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Cut rows anew, so that each piece is one row group and each column of it one array."""
    waiting: list[pa.RecordBatch] = []
    room = SETTINGS.row_group_rows
    for batch in batches:
        rest = batch
        while len(rest) >= room:
            yield joined([*waiting, rest.slice(0, room)], schema)
            rest, waiting, room = rest.slice(room), [], SETTINGS.row_group_rows
        if len(rest):
            waiting.append(rest)
            room -= len(rest)
    if waiting:
        yield joined(waiting, schema)


def _one_ahead(groups: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Give what `groups` gives, the next one being made meanwhile; it is never used by two threads at once."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, groups, None)
        while (group := following.result()) is not None:
            following = pool.submit(next, groups, None)
            yield group


def joined(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Join batches of one row group, so that each column of it is one array."""
    return pa.Table.from_batches(batches).replace_schema_metadata(schema.metadata).combine_chunks()


def from_bytes(table: str, data: bytes, path: Path) -> pd.DataFrame:
    """Read Parquet bytes of `table`, which came from `path`, into a frame with the contract's dtypes.

    Raises:
        StorageError: the bytes are no Parquet, or keep another contract or another version of it.
    """
    return from_arrow(contract_of(table), arrow_of(table, data, path))


def arrow_of(table: str, data: bytes, path: Path) -> pa.Table:
    """Read Parquet bytes of `table` as Arrow, metadata included; raises as `from_bytes`."""
    with _readable(table, path):
        arrow = pq.ParquetFile(pa.BufferReader(data)).read()
    _refuse_other(table, metadata_of(arrow.schema.metadata), path)
    if not arrow.schema.equals(arrow_schema(contract_of(table)), check_metadata=False):
        raise StorageError(f"{path} has other columns than contract {table} which it names; make the table again")
    return arrow


def own_metadata(table: str) -> dict[str, str]:
    """Give the metadata that says which contract a file of `table` keeps."""
    return {CONTRACT_KEY: table, VERSION_KEY: str(version_of(table))}


def rows_of(path: Path, table: str) -> int:
    """Count the rows of a stored Parquet file of `table` from its footer, the only part that is read.

    Raises:
        StorageError: it is no Parquet, or keeps another contract or another version of it.
    """
    return int(_footer(path, table).num_rows)


def metadata_at(path: Path, table: str) -> dict[str, str]:
    """Read the text metadata of a stored Parquet file of `table` from its footer; raises as `rows_of`."""
    return metadata_of(_footer(path, table).metadata)


def _footer(path: Path, table: str) -> pq.FileMetaData:
    with _readable(table, path):
        footer = pq.read_metadata(path)
    _refuse_other(table, metadata_of(footer.metadata), path)
    return footer


@contextmanager
def _readable(table: str, path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise StorageError(f"{path} is no readable Parquet file: {error}; make {table} again") from error


def _refuse_other(table: str, metadata: Mapping[str, str], path: Path) -> None:
    found = (metadata.get(CONTRACT_KEY), metadata.get(VERSION_KEY))
    expected = (table, str(version_of(table)))
    if found != expected:
        raise StorageError(
            f"{path} keeps contract {found[0]} version {found[1]}, this program reads {expected[0]} version "
            f"{expected[1]}; make the table again"
        )


def metadata_of(raw: Mapping[bytes, bytes] | None) -> dict[str, str]:
    """Give the metadata of a file as text."""
    return {key.decode(): value.decode() for key, value in (raw or {}).items() if key != _ARROW_SCHEMA}
