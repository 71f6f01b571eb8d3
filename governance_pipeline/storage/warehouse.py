"""SQL over the lake: `<root>/governance.duckdb` with one view per table, and queries in memory.

What belongs here: views over the files in force, and running one SELECT over them. What does not: any table of its
own; the file holds no rows, can be deleted at any time, and is rebuilt aside and renamed, so a reader that has it
open keeps the old one and blocks nobody.

A text column that holds exact numbers gets two numeric twins in its view: `<column>_decimal` where DECIMAL(38, 18)
holds exactly what was written, and `<column>_double`, the nearest binary64; null where there is none.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa

from governance_pipeline.contracts.frames import arrow_schema, pandas_dtype
from governance_pipeline.contracts.registry import (
    REGISTRY,
    contract_of,
    descriptions_of,
    explanation_of,
    lexeme_columns,
)
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.storage.compaction import compact, sources_of
from governance_pipeline.strict.sql_session import identifier, literal, open_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from governance_pipeline.storage.lake import Lake

DATABASE: Final = "governance.duckdb"
BUILDING: Final = "building"
SPILL: Final = "spill"
BATCH_ROWS: Final = 20_000
"""Rows of an Arrow batch: DuckDB scans a batch with one thread (research/performance.md, pitfalls)."""

_PLAIN_NUMBER: Final = r"-?[0-9]{1,20}(\.[0-9]{1,18})?"
_ANY_NUMBER: Final = r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_SQL_TYPES: Final = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.bool_(): "BOOLEAN",
    pa.float64(): "DOUBLE",
    pa.timestamp("us", "UTC"): "TIMESTAMP WITH TIME ZONE",
}


def rebuild(lake: Lake) -> Path:
    """Make `governance.duckdb` anew: a view per table over the files in force now, described by its contract.

    Tables with more than `SETTINGS.compaction_files` loose files are compacted first. Rebuilds at the same time wait
    for each other.

    Returns:
        The path of the file, which names files by absolute path: after moving the lake, rebuild.

    Raises:
        StorageError: a file is damaged or keeps another version of its contract; the old database stays.
    """
    database = lake.root / DATABASE
    building = lake.root / BUILDING
    with lake.writer.locked("warehouse"):
        with lake.writer.folder(building):
            _empty(building)
        for table in REGISTRY:
            compact(lake, table, building)
        session = open_session(building / DATABASE, folders=[lake.root])
        try:
            for statement in _statements(lake):
                session.execute(statement)
        finally:
            session.close()
        lake.writer.take(building / DATABASE, database)
        database.with_name(f"{DATABASE}.wal").unlink(missing_ok=True)  # of a writer of the replaced file
    return database


def query(
    lake: Lake,
    sql: str,
    parameters: Sequence[Any] | Mapping[str, Any] = (),
    *,
    frames: Mapping[str, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Run one SELECT in memory over the views of the tables it names; nothing is written anywhere.

    Args:
        lake: where the tables are.
        sql: one SELECT; names of tables, views as `rebuild` makes them, are resolved to the files in force now.
        parameters: values for `?` or `$name` in it.
        frames: further frames by name; a frame named as a table stands in for it.

    Returns:
        The rows, in nullable dtypes: DECIMAL and HUGEINT stay exact decimals, times are UTC microseconds.

    Raises:
        UsageError: it is not exactly one SELECT, or SQL refuses it.
        StorageError: a file is damaged or keeps another version of its contract.
    """
    given = dict(frames or {})
    tables = [table for table in REGISTRY if table not in given and re.search(rf"\b{table}\b", sql, re.IGNORECASE)]
    session = open_session(folders=[lake.root / table for table in tables], spill=lake.root / SPILL)
    try:
        for table in tables:
            session.execute(_view(lake, table))
        for name, frame in given.items():
            session.register(name, _batches(frame))
        return _selected(session, sql, parameters)
    except duckdb.IOException as error:
        raise StorageError(f"a file of the lake cannot be read: {error}; make its table again") from error
    except duckdb.Error as error:
        raise UsageError(f"DuckDB refuses the query: {error}") from error
    finally:
        session.close()


def view_query(lake: Lake, table: str) -> str:
    """Give the SELECT of a table's view: the contract's columns in order, each lexeme followed by its twins."""
    sources = sources_of(lake, table)
    parts = [_scan(sources.files)] if sources.files else []
    if sources.compacted is not None:
        replaced = ", ".join(map(literal, sources.replaced)) or "''"
        parts.append(f"{_scan([sources.compacted])} WHERE round_id NOT IN ({replaced})")
    rows = " UNION ALL ".join(parts or [_no_rows(table)])
    return f"SELECT {', '.join(_columns(table))} FROM ({rows})"  # noqa: S608 - names come from contracts, quoted


def twins_of(table: str) -> dict[str, str]:
    """Give the numeric twins of a table's lexeme columns: name of the twin -> its description."""
    twins: dict[str, str] = {}
    for name in lexeme_columns(table):
        twins[f"{name}_decimal"] = f"{name} as DECIMAL(38, 18); null where that is not exact."
        twins[f"{name}_double"] = f"{name} as the nearest binary64; null where there is none."
    return twins


def _view(lake: Lake, table: str) -> str:
    return f"CREATE VIEW {identifier(table)} AS {view_query(lake, table)}"


def _statements(lake: Lake) -> Iterator[str]:
    yield "BEGIN"
    for table in REGISTRY:
        yield _view(lake, table)
        yield f"COMMENT ON VIEW {identifier(table)} IS {literal(explanation_of(table))}"
        for column, text in {**descriptions_of(table), **twins_of(table)}.items():
            yield f"COMMENT ON COLUMN {identifier(table)}.{identifier(column)} IS {literal(text)}"
    yield "COMMIT"


def _columns(table: str) -> Iterator[str]:
    lexemes = lexeme_columns(table)
    for name in descriptions_of(table):
        cell = identifier(name)
        yield cell
        if name in lexemes:
            yield _twin(cell, f"{name}_decimal", "DECIMAL(38, 18)", _PLAIN_NUMBER)
            yield _twin(cell, f"{name}_double", "DOUBLE", _ANY_NUMBER)


def _twin(cell: str, name: str, sql_type: str, pattern: str) -> str:
    cast = f"TRY_CAST({cell} AS {sql_type})"
    finite = "" if sql_type != "DOUBLE" else f" AND isfinite({cast})"
    return f"CASE WHEN regexp_full_match({cell}, {literal(pattern)}){finite} THEN {cast} END AS {identifier(name)}"


def _scan(paths: Sequence[Path]) -> str:
    listed = ", ".join(literal(str(path.absolute())) for path in paths)
    return f"SELECT * FROM read_parquet([{listed}], hive_partitioning = false)"  # noqa: S608 - paths of the lake, quoted


def _no_rows(table: str) -> str:
    columns = ", ".join(
        f"NULL::{_SQL_TYPES.get(field.type, 'DECIMAL(38, 18)')} AS {identifier(field.name)}"
        for field in arrow_schema(contract_of(table))
    )
    return f"SELECT {columns} WHERE false"


def _batches(frame: pd.DataFrame) -> pa.Table:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return pa.Table.from_batches(table.to_batches(max_chunksize=BATCH_ROWS), schema=table.schema)


def _selected(
    session: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> pd.DataFrame:
    statements = session.extract_statements(sql)
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise UsageError("a query over the lake is exactly one SELECT; the lake is read only")
    answer: pd.DataFrame = (
        session.sql(sql, params=parameters or None).to_arrow_table().to_pandas(types_mapper=pandas_dtype)
    )
    return answer


def _empty(building: Path) -> None:
    for entry in building.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
