"""A block of audit log lines as columns: the entries that are written plainly, and which lines are left.

What belongs here: which kinds of value each member may have, and the columns they become. Every rule says the same as
`audit_log.entry_of`, which judges the lines that are left; where the two could differ the line is left to it. What does
not: numbering, runs, accounts (`audit_set`).

DuckDB is given Arrow columns and never a file: it hashes outputs, reads times and splits runtimes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from governance_pipeline.contracts.frames import arrow_schema
from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.ingest.extraction import value_kind, value_raw
from governance_pipeline.ingest.flat_records import FALSE, NULL, NUMBER, TEXT, TRUE, BlockIndex, Cells
from governance_pipeline.ingest.native.audit_log import RUN_TEXTS, RUNTIME_PARTS, STEP_COLUMNS, TEXTS
from governance_pipeline.strict.sql_session import literal
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from governance_pipeline.ingest.flat_records import Flags, FlatLines, Places, Shape
    from governance_pipeline.strict.limits import Limits
    from governance_pipeline.strict.lines import Block

_STEPS: Final = arrow_schema(contract_of("core_steps"))
ENTRY: Final = pa.schema(
    [
        ("line", pa.int64()),
        *((name, _STEPS.field(name).type) for name in STEP_COLUMNS),
        *((name, pa.string()) for name in RUN_TEXTS if name not in STEP_COLUMNS),
        ("cost_kind", pa.string()),
        ("cost_raw", pa.string()),
    ]
)
"""Columns of entries: the line, what `entry_of` gives, the kind and the text of `token_cost`."""

_ALLOWED: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys((*TEXTS, "tool_called", "parent_run_id", "session_id", "runtime"), (TEXT, NULL)),
    "run_id": (TEXT,),
    "independently_verified": (TRUE, FALSE, NULL),
    "timestamp": (TEXT, TRUE, FALSE, NULL),  # a number is an epoch, which is left to `parse_time`
}
_ANY: Final = (TEXT, NULL, TRUE, FALSE, NUMBER)
_KINDS: Final = {TEXT: ValueKind.TEXT, TRUE: ValueKind.BOOLEAN, FALSE: ValueKind.BOOLEAN, NUMBER: ValueKind.NUMBER}

# Times `parse_time` and a cast read alike; years, offsets and fractions beyond these are left to the former.
_LOCAL: Final = "[1-8][0-9]{3}-[0-9]{2}-[0-9]{2}[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.][0-9]{1,6})?"
_ZONE: Final = "(?:Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9])"
_QUERY: Final = f"""
SELECT
    CASE WHEN known AND (time[-1] = 'Z' OR time[-6] IN ('+', '-')) THEN try_cast(time AS TIMESTAMPTZ) END AS at,
    known OR time IS NULL AS is_time_known,
    sha256(CASE WHEN contains(output, chr(92)) THEN json_extract_string('"' || output || '"', '$') ELSE output END)
        AS output_result_sha256
FROM (SELECT *, regexp_full_match(time, {literal(f"{_LOCAL}{_ZONE}?")}) AS known FROM lines)"""  # noqa: S608 - constant
_RUNTIMES: Final = f"""
SELECT
    CASE WHEN len(parts) < {RUNTIME_PARTS} THEN runtime ELSE parts[1] END AS platform,
    CASE WHEN len(parts) >= {RUNTIME_PARTS} THEN array_to_string(parts[2:-2], '/') END AS model_id,
    CASE WHEN len(parts) >= {RUNTIME_PARTS} THEN parts[-1] END AS thinking
FROM (SELECT runtime, string_split(runtime, '/') AS parts FROM lines)"""  # noqa: S608 - the same


class BlockEntries(NamedTuple):
    """What a block holds: entries in the order of their lines, the places of lines left, and the blank ones' count."""

    entries: pa.Table
    rest: Places
    blank: int


def read_block(
    block: Block, limits: Limits, shapes: Sequence[Shape], session: duckdb.DuckDBPyConnection
) -> tuple[BlockIndex, BlockEntries]:
    """Read the lines of known shapes; `session` is used by this call alone."""
    index = BlockIndex(block, limits)
    tables, doubtful = [], []
    for shape in shapes:
        lines = index.take(shape) if "run_id" in shape else None
        if lines is not None and len(lines.lines):
            table, is_sound = _entries(index, lines, session)
            doubtful.append(lines.lines[~is_sound])
            tables.append(table if is_sound.all() else table.filter(pa.array(is_sound)))
    rest = np.sort(np.concatenate([index.rest(), *doubtful]))
    entries = in_order(tables)
    return index, BlockEntries(entries, rest, int(index.blank.sum()))


def in_order(tables: Sequence[pa.Table]) -> pa.Table:
    """Join entries of one file in the order of their lines."""
    filled = [table for table in tables if len(table)]
    if len(filled) == 1:
        return filled[0]
    return pa.concat_tables([ENTRY.empty_table(), *filled]).sort_by("line")


def entry_row(line: int, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Give what `entry_of` says as a row of `ENTRY`."""
    cost = entry["token_cost"]
    return {**entry, "line": line, "cost_kind": value_kind(cost).value, "cost_raw": value_raw(cost)}


def _entries(index: BlockIndex, lines: FlatLines, session: duckdb.DuckDBPyConnection) -> tuple[pa.Table, Flags]:
    """Give the entries of lines of one shape, and which of them are beyond doubt."""
    count = len(lines.lines)
    missing = Cells(np.full(count, NULL, np.int8), np.zeros(count, np.int32))
    cells = {name: lines.cells.get(name, missing) for name in (*_ALLOWED, "output_result", "token_cost")}
    texts = {name: index.texts(cells[name]) for name in (*TEXTS, "run_id", "parent_run_id", "session_id", "runtime")}
    asked = {
        "time": index.raw_texts(cells["timestamp"]),
        "output": index.raw_texts(cells["output_result"]),
        "runtime": texts.pop("runtime"),
    }
    session.register("lines", pa.table(asked))
    answer = session.sql(_QUERY).to_arrow_table()
    runtimes = dict.fromkeys(("platform", "model_id", "thinking"), pa.nulls(count, pa.string()))
    if asked["runtime"].null_count < count:
        named = session.sql(_RUNTIMES).to_arrow_table()
        runtimes = {name: named[name] for name in runtimes}
    session.unregister("lines")
    has_run = pc.greater(pc.binary_length(texts["run_id"]), 0)
    is_sound = pc.fill_null(pc.and_(answer["is_time_known"], has_run), fill_value=False).to_numpy()
    columns = {
        **texts,
        **runtimes,
        "at": answer["at"],
        "output_result_sha256": answer["output_result_sha256"],
        "line": pa.array(lines.lines.astype(np.int64) + index.block.number),
        "tool": index.texts(cells["tool_called"]),
        "is_independently_verified": _flags(cells["independently_verified"]),
        "cost_kind": _kinds(cells["token_cost"]),
        "cost_raw": _raw(index, cells["token_cost"]),
    }
    return pa.table({name: columns[name] for name in ENTRY.names}, schema=ENTRY), is_sound & _have_allowed_kinds(cells)


def _have_allowed_kinds(cells: Mapping[str, Cells]) -> Flags:
    allowed = np.ones(len(cells["run_id"].kinds), np.bool_)
    for name, kinds in _ALLOWED.items():
        allowed &= np.isin(cells[name].kinds, kinds)
    return allowed


def _flags(cells: Cells) -> pa.Array:
    return pa.array(cells.kinds == TRUE, mask=cells.kinds == NULL)


def _kinds(cells: Cells) -> pa.Array:
    names = np.array([ValueKind.MISSING.value, *(_KINDS.get(kind, ValueKind.MISSING).value for kind in _ANY)])
    return pa.DictionaryArray.from_arrays(pa.array(cells.kinds), pa.array(names.tolist())).cast(pa.string())


def _raw(index: BlockIndex, cells: Cells) -> pa.Array:
    if (cells.kinds == NUMBER).all():
        return index.written(cells)
    return pc.coalesce(index.written(cells), index.texts(cells))
