"""Two tables to compare, opened for reading only: Parquet, CSV and DuckDB files, or frames in memory.

What belongs here: what a side is made of and how the engine reads it. What does not: comparing
(`crosscheck.dataset_diff_join`). Column names are values: within SQL every column has a name of ours, by position, so
no name of a file is ever an identifier. CSV goes through the strict reader of check files; every value of it is text.

Source: spec/framework.md §2 (files or frames), spec/crosscheck.md §11 (files, CSV).
"""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, TypeAlias

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.crosscheck.csv_rows import csv_table
from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import FileDigest, FileRefused, digest_file, open_regular
from governance_pipeline.strict.sql_session import identifier, literal, open_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

MEMORY: Final = "1280MiB"
"""What the engine may hold before it spills; with Python, Arrow and the buffers of the readers under 2 GiB."""

DATABASE_SUFFIXES: Final = (".duckdb", ".db")
_BATCH_ROWS: Final = 20_000  # an Arrow batch is scanned by one thread (research/performance.md, pitfalls)
_NAME_CHARACTERS: Final = 60


class DatabaseTable(NamedTuple):
    """A table of a DuckDB file; without a name it must be the only one."""

    path: Path
    table: str | None = None


Dataset: TypeAlias = Path | DatabaseTable | pd.DataFrame | pa.Table
"""What can be compared. In a pandas float column NaN is a null; an Arrow table or a file tells the two apart."""


class Column(NamedTuple):
    """A column: its name, which is a value, and its SQL type."""

    name: str
    sql_type: str


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        name: old or new.
        columns: in the order of the file.
        scan: SQL that gives its rows, columns in that order.
        path: file as given; None for a frame.
        table: table of a DuckDB file.
    """

    name: str
    columns: tuple[Column, ...]
    scan: str
    path: Path | None = None
    table: str | None = None

    def relation(self, alias: str) -> str:
        """Return the FROM item of this side: column `i` of the file is ``<alias>.c<i>``."""
        return f"{self.scan} AS {alias}({', '.join(f'c{at}' for at in range(len(self.columns)))})"

    def position(self, name: str) -> int | None:
        """Return the position of a column; None when there is none. Names compare exactly."""
        return next((at for at, column in enumerate(self.columns) if column.name == name), None)


class OpenSides:
    """Both sides inside one locked session, and the digests of their files, taken meanwhile."""

    def __init__(self, session: duckdb.DuckDBPyConnection, stack: ExitStack) -> None:
        self.session = session
        self._stack = stack
        self._files: dict[str, tuple[Path, BinaryIO, tuple[int, ...], Future[FileDigest]]] = {}
        self._hashers = stack.enter_context(ThreadPoolExecutor(1))

    def opened(self, name: str, dataset: Dataset) -> Side:
        """Open one side.

        Raises:
            UsageError: no format we read, or a table that is not there.
            UnreadableError: not a regular file, damaged, or a column name is repeated.
        """
        if isinstance(dataset, pd.DataFrame | pa.Table):
            return self._frame(name, dataset)
        path, table = dataset if isinstance(dataset, DatabaseTable) else (dataset, None)
        readers: dict[str, Callable[[str, Path, BinaryIO, str | None], Side]] = {
            ".parquet": self._parquet,
            ".csv": self._csv,
            **dict.fromkeys(DATABASE_SUFFIXES, self._database),
        }
        reader = readers.get(path.suffix)
        if reader is None or (table is not None and path.suffix not in DATABASE_SUFFIXES):
            raise UsageError(
                f"{_shown(path)}: a table to compare is a .parquet or .csv file, or a table of a "
                f"{' or '.join(DATABASE_SUFFIXES)} file; rename or convert it"
            )
        stream = self._stack.enter_context(open_regular(path))
        self._files[name] = (path, stream, _identity(stream), self._hashers.submit(digest_file, path))
        try:
            return reader(name, path, stream, table)
        except (duckdb.Error, pa.ArrowException, OSError, ValueError) as error:
            raise UnreadableError(f"{_shown(path)} cannot be read: {excerpt(str(error))}; write it again") from None

    def digest(self, side: Side) -> FileDigest | None:
        """Return digest and size of a side's file; None for a frame.

        Raises:
            FileRefused: the file changed since it was opened.
        """
        if side.name not in self._files:
            return None
        path, stream, before, hashing = self._files[side.name]
        digest = hashing.result()
        try:
            status = path.stat(follow_symlinks=False)
        except OSError:
            raise FileRefused("changed_while_read", path) from None
        if not before == _identity(stream) == _facts(status) or digest.size != status.st_size:
            raise FileRefused("changed_while_read", path)
        return digest

    def _parquet(self, name: str, path: Path, stream: BinaryIO, _table: str | None) -> Side:
        schema = pq.ParquetFile(stream).schema_arrow
        names = schema.names
        _refuse_inexact(schema, path, pa.types.is_decimal256)  # more than 38 digits: the engine reads a DOUBLE
        # By descriptor: the file that was checked is the one that is read, and a name is never a pattern.
        return self._side(name, names, f"read_parquet({literal(_descriptor(stream))})", path)

    def _csv(self, name: str, path: Path, stream: BinaryIO, _table: str | None) -> Side:
        header, rows = csv_table(path, stream)
        columns = ", ".join(f"c{at} VARCHAR" for at in range(len(header)))
        self.session.execute(f"CREATE TEMP TABLE csv_{name} ({columns})")
        while batch := list(itertools.islice(rows, _BATCH_ROWS)):
            cells = [pa.array(column, pa.string()) for column in zip(*batch, strict=True)]
            self.session.register("csv_rows", pa.table(cells, [f"c{at}" for at in range(len(header))]))
            self.session.execute(f"INSERT INTO csv_{name} FROM csv_rows")
            self.session.unregister("csv_rows")
        return self._side(name, header, f"csv_{name}", path)

    def _database(self, name: str, path: Path, _stream: BinaryIO, table: str | None) -> Side:
        log = path.with_name(path.name + ".wal")
        if os.path.lexists(log):
            raise UnreadableError(f"{_shown(path)} has a write-ahead log beside it; close its writer or CHECKPOINT it")
        self.session.execute(f"ATTACH {literal(str(path.absolute()))} AS side_{name} (TYPE duckdb, READ_ONLY)")
        # Views and macros are not offered: they would run statements of whoever wrote the file.
        tables = self.session.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? AND NOT internal ORDER BY ALL",
            [f"side_{name}"],
        ).fetchall()
        found = [(schema, held) for schema, held in tables if table in (None, held, f"{schema}.{held}")]
        if len(found) != 1:
            listed = ", ".join(excerpt(f"{s}.{t}", _NAME_CHARACTERS) for s, t in tables[:10]) or "none"
            raise UsageError(f"{_shown(path)}: name one table (--old-table, --new-table); it has: {listed}")
        schema, held = found[0]
        columns = self.session.execute(
            "SELECT column_name FROM duckdb_columns() WHERE database_name = ? AND schema_name = ? AND table_name = ? "
            "ORDER BY column_index",
            [f"side_{name}", schema, held],
        ).fetchall()
        side = self._side(
            name, [column for (column,) in columns], f"side_{name}.{identifier(schema)}.{identifier(held)}", path, held
        )
        # A column may carry a collation of whoever wrote the file, under which 'a' is not distinct from 'A'.
        cells = (f'b.c{at} COLLATE "binary"' if column.sql_type == "VARCHAR" else f"b.c{at}"
                 for at, column in enumerate(side.columns))  # fmt: skip
        return replace(side, scan=f"(SELECT {', '.join(cells)} FROM {side.relation('b')})")  # noqa: S608 - positions

    def _frame(self, name: str, frame: pd.DataFrame | pa.Table) -> Side:
        names = [str(column) for column in (frame.columns if isinstance(frame, pd.DataFrame) else frame.column_names)]
        if isinstance(frame, pd.DataFrame):
            frame = pa.Table.from_pandas(frame.set_axis(range(len(names)), axis=1), preserve_index=False)
        _refuse_inexact(frame.schema, name, lambda kind: pa.types.is_duration(kind) and kind.unit == "ns")
        table = frame.rename_columns([f"c{at}" for at in range(len(names))])
        table = pa.Table.from_batches(table.to_batches(max_chunksize=_BATCH_ROWS), schema=table.schema)
        self.session.register(f"frame_{name}", table)
        return self._side(name, names, f"frame_{name}", None)

    def _side(self, name: str, names: list[str], scan: str, path: Path | None, table: str | None = None) -> Side:
        repeated = (
            sorted({column for column in names if names.count(column) > 1}) if len(set(names)) < len(names) else ()
        )
        if repeated:
            where = name if path is None else _shown(path)
            raise UnreadableError(f"{where} repeats column {excerpt(repeated[0], _NAME_CHARACTERS)}; rename one")
        types = [row[1] for row in self.session.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()]  # noqa: S608
        return Side(name, tuple(map(Column, names, types)), scan, path, table)


@contextmanager
def open_sides(old: Dataset, new: Dataset, memory: str = MEMORY) -> Iterator[tuple[OpenSides, Side, Side]]:
    """Open both sides in one locked session that reaches nothing but their files and its own spill folder.

    Raises:
        UsageError: a side is in no format we read, or a table is not there.
        UnreadableError: a side cannot be read, before or during the comparison.
    """
    with ExitStack() as stack:
        spill = Path(stack.enter_context(TemporaryDirectory(prefix="govern-diff-")))
        session = open_session(files=[*_reachable(old), *_reachable(new)], spill=spill, memory=memory)
        stack.callback(session.close)
        sides = OpenSides(session, stack)
        try:
            yield sides, sides.opened("old", old), sides.opened("new", new)
        except duckdb.Error as error:
            raise UnreadableError(f"the tables cannot be compared: {excerpt(str(error), 300)}") from None


def _reachable(dataset: Dataset) -> list[str]:
    if isinstance(dataset, pd.DataFrame | pa.Table):
        return []
    path = dataset.path if isinstance(dataset, DatabaseTable) else dataset
    real = os.path.realpath(path)
    return [real, f"{real}.wal"] if path.suffix in DATABASE_SUFFIXES else [real]


def _refuse_inexact(schema: Any, where: Path | str, is_inexact: Callable[[Any], bool]) -> None:
    """Refuse columns whose values the engine would round before it compares them."""
    for field in schema:
        kinds = [field.type]
        while kinds:
            kind = kinds.pop()
            if is_inexact(kind):
                name = excerpt(str(field.name), _NAME_CHARACTERS)
                raise UnreadableError(
                    f"{_shown(where)}: column {name} is {kind}, which would be rounded; write it as text"
                )
            kinds += [kind.field(at).type for at in range(kind.num_fields)]


def _descriptor(stream: BinaryIO) -> str:
    return f"/dev/fd/{stream.fileno()}"


def _identity(stream: BinaryIO) -> tuple[int, ...]:
    return _facts(os.fstat(stream.fileno()))


def _facts(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _shown(path: Any) -> str:
    return excerpt(str(path))
