"""The rules of a contract as one SQL pass that gives each breaching row with the rules it breaks.

What belongs here: compiling `rules` to SQL and reading the answer. What does not: the rules themselves; they are
declared once, in the pandera model, and a test holds both ways to the same rows. Measured on 1 million rows of 12
columns: a quarter of the CPU time of pandera, and 100 MB instead of a gigabyte, when the rows are in a Parquet file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from governance_pipeline.contracts.frames import column_dtypes, pandas_dtype, to_arrow, unstorable
from governance_pipeline.contracts.rules import Rule, in_order, row_breach, rules_of
from governance_pipeline.strict.sql_session import identifier, literal, open_session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import duckdb

    from governance_pipeline.contracts.breach import Breach
    from governance_pipeline.contracts.fields import TableModel

BATCH_ROWS: Final = 20_000
"""Rows of an Arrow batch: one thread scans a batch, so one batch would be one thread (research/performance.md)."""

_ROW: Final = "_row"
_BROKEN: Final = "_broken"
_CONDITIONS: Final = {
    "not_null": "{cell} IS NULL",
    "finite": "NOT isfinite({cell})",
    "ge": "{cell} < {argument}",
    "le": "{cell} > {argument}",
    "eq": "{cell} <> {argument}",
    "matches": "NOT regexp_full_match({cell}, {argument})",
}
"""Kind of rule -> what breaks it. A null cell makes the condition null, which breaks nothing, as in pandera."""


def frame_breaches(model: type[TableModel], frame: pd.DataFrame) -> list[Breach]:
    """Find the rules that rows of a frame with the right columns break, as `rules.value_breaches` does."""
    try:
        table = to_arrow(model, frame).append_column(_ROW, pa.array(np.arange(len(frame))))
    except UnicodeEncodeError:
        return unstorable(model, frame)
    batches = pa.Table.from_batches(table.to_batches(max_chunksize=BATCH_ROWS), schema=table.schema)
    session = open_session()
    try:
        session.register("frame", batches)
        return _run(session, model, "frame", _ROW)
    finally:
        session.close()


def parquet_breaches(model: type[TableModel], path: Path) -> list[Breach]:
    """Find the rules that rows of a Parquet file of this contract break; the file is scanned, never loaded."""
    session = open_session(folders=[path.parent])
    try:
        source = f"read_parquet([{literal(str(path))}], file_row_number = true, hive_partitioning = false)"
        return _run(session, model, source, "file_row_number")
    finally:
        session.close()


def breach_query(model: type[TableModel], source: str, row: str) -> str:
    """Compile a contract to one query over `source`, whose column `row` numbers the rows from 0.

    Shape of the answer: one row per breaching row: its number, its cells, and the places in `rules_of(model)` of the
    rules it breaks. Keys are first compared by hash, so that only rows whose hash occurs twice are grouped by the key
    itself. The scan is repeated rather than kept: a kept one would be the whole table in memory.
    """
    rules = rules_of(model)
    dtypes = column_dtypes(model)
    conditions = [_condition(rule, dtypes) for rule in rules]
    flags = ", ".join(f"CASE WHEN {condition} THEN {place} END" for place, condition in enumerate(conditions))
    key = [identifier(name) for name in rules[-1].columns]
    return f"""
WITH numbered AS NOT MATERIALIZED (
    SELECT {identifier(row)} AS {_ROW}, {", ".join(map(identifier, dtypes))} FROM {source}
), suspects AS (
    SELECT hash({", ".join(key)}) AS key_hash FROM numbered GROUP BY key_hash HAVING count(*) > 1
), repeated AS (
    SELECT {", ".join(key)}, true AS is_repeated FROM numbered
    WHERE hash({", ".join(key)}) IN (SELECT key_hash FROM suspects) GROUP BY ALL HAVING count(*) > 1
)
SELECT numbered.*, list_filter([{flags}], lambda place: place IS NOT NULL) AS {_BROKEN}
FROM numbered LEFT JOIN repeated ON {" AND ".join(f"numbered.{k} IS NOT DISTINCT FROM repeated.{k}" for k in key)}
WHERE {" OR ".join(conditions)}
ORDER BY {_ROW}"""  # noqa: S608 - names and arguments come from the contract, quoted; cells are never text of the query


def _condition(rule: Rule, dtypes: Mapping[str, Any]) -> str:
    if rule.kind == "unique":
        return "repeated.is_repeated"
    cell = f"numbered.{identifier(rule.columns[0])}"
    if rule.kind == "isin":
        return f"{cell} NOT IN ({', '.join(map(literal, rule.argument))})"
    if rule.kind == "ge" and isinstance(dtypes[rule.columns[0]], pd.Float64Dtype):
        return f"(isnan({cell}) OR {cell} < {literal(rule.argument)})"  # DuckDB takes NaN for the largest number
    return _CONDITIONS[rule.kind].format(cell=cell, argument=literal(rule.argument))


def _run(session: duckdb.DuckDBPyConnection, model: type[TableModel], source: str, row: str) -> list[Breach]:
    answer = session.sql(breach_query(model, source, row)).to_arrow_table()
    rules, rows, broken = rules_of(model), answer[_ROW].to_pylist(), answer[_BROKEN].to_pylist()
    frame = answer.drop_columns([_ROW, _BROKEN]).to_pandas(types_mapper=pandas_dtype)
    cells = {name: frame[name].array for name in frame.columns}
    return in_order(
        model,
        [
            row_breach(rules[place], rows[index], [cells[name][index] for name in rules[place].columns])
            for index, places in enumerate(broken)
            for place in places
        ],
    )
