"""A block of audit log lines as columns: the entries that are written plainly, and which lines are left.

What belongs here: which kinds of value each member may have, and the columns they become. Every rule says the same as
`audit_log.entry_of`, which judges the lines that are left; where the two could differ the line is left to it. What does
not: numbering, runs, accounts (`audit_set`).

Times in an unusual form and runtimes are read by the functions of `audit_log`, once for each that differs.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from governance_pipeline.contracts.frames import arrow_schema
from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.ingest.extraction import parse_time, value_kind, value_raw
from governance_pipeline.ingest.flat_escapes import has_escapes, resolved
from governance_pipeline.ingest.flat_records import FALSE, NULL, NUMBER, TEXT, TRUE, BlockIndex, Cells
from governance_pipeline.ingest.native.audit_log import RUN_TEXTS, STEP_COLUMNS, TEXTS, split_runtime
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.flat_bytes import Flags, Places
    from governance_pipeline.ingest.flat_records import FlatLines, Shape
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

_MICROSECONDS: Final = pa.timestamp("us", "UTC")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HEX: Final = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), np.uint16)
_DIGEST_DIGITS: Final = 64
_NAMED: Final = ("platform", "model_id", "thinking")


class BlockEntries(NamedTuple):
    """What a block holds: entries in the order of their lines, the places of lines left, and the blank ones' count."""

    entries: pa.Table
    rest: Places
    blank: int


def read_block(
    block: Block, limits: Limits, shapes: Sequence[Shape], *, with_cost: bool
) -> tuple[BlockIndex, BlockEntries]:
    """Read the lines of known shapes; what `token_cost` is stays null unless it is asked for."""
    index = BlockIndex(block, limits)
    tables, doubtful = [], []
    for shape in shapes:
        lines = index.take(shape) if "run_id" in shape else None
        if lines is not None and len(lines.lines):
            table, is_sound = _entries(index, lines, with_cost=with_cost)
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


def _entries(index: BlockIndex, lines: FlatLines, *, with_cost: bool) -> tuple[pa.Table, Flags]:
    """Give the entries of lines of one shape, and which of them are beyond doubt."""
    count = len(lines.lines)
    missing = Cells(np.full(count, NULL, np.int8), np.zeros(count, np.int32))
    cells = {name: lines.cells.get(name, missing) for name in (*_ALLOWED, "output_result", "token_cost")}
    texts = {name: index.texts(cells[name]) for name in (*TEXTS, "run_id", "parent_run_id", "session_id")}
    at, is_time_known = _times(index, cells["timestamp"])
    cost = cells["token_cost"]
    unasked = pa.nulls(count, pa.string())
    columns = {
        **texts,
        **_runtimes(index.texts(cells["runtime"])),
        "at": at,
        "output_result_sha256": _digests(index.raw_texts(cells["output_result"])),
        "line": pa.array(lines.lines.astype(np.int64) + index.block.number),
        "tool": index.texts(cells["tool_called"]),
        "is_independently_verified": _flags(cells["independently_verified"]),
        "cost_kind": _kinds(cost) if with_cost else unasked,
        "cost_raw": _raw(index, lines.lines, cost) if with_cost else unasked,
    }
    has_run = pc.fill_null(pc.greater(pc.binary_length(texts["run_id"]), 0), fill_value=False)
    is_sound = is_time_known & has_run.to_numpy(zero_copy_only=False) & _have_allowed_kinds(cells)
    return pa.table({name: columns[name] for name in ENTRY.names}, schema=ENTRY), is_sound


def _times(index: BlockIndex, cells: Cells) -> tuple[pa.Array, Flags]:
    """Give the instant each time names, null where it names none; one with an escape in it is not known here."""
    found = index.instants(cells)
    values, is_null, is_known = found.microseconds, ~found.are_known, np.ones(len(cells.kinds), np.bool_)
    others = np.flatnonzero(is_null & (cells.kinds == TEXT))
    if len(others):
        encoded = index.raw_texts(cells.of(others)).dictionary_encode()
        texts, codes = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
        times = [parse_time(text) for text in texts]
        instants = np.array([0 if time is None else (time - _EPOCH) // timedelta.resolution for time in times])
        values[others] = instants[codes]
        is_null[others] = np.array([time is None for time in times])[codes]
        is_known[others] = np.array(["\\" not in text for text in texts])[codes]
    return pa.array(values, mask=is_null).view(_MICROSECONDS), is_known


def _runtimes(texts: pa.StringArray) -> dict[str, pa.Array]:
    """Split runtimes into what they name."""
    if texts.null_count == len(texts):
        return dict.fromkeys(_NAMED, pa.nulls(len(texts), pa.string()))
    encoded = texts.dictionary_encode()
    parts = zip(*map(split_runtime, encoded.dictionary.to_pylist()), strict=True)
    return {name: pa.array(part, pa.string()).take(encoded.indices) for name, part in zip(_NAMED, parts, strict=True)}


def _digests(written: pa.StringArray) -> pa.StringArray:
    """Hash what texts say, as `text_sha256` does, each that differs once; null where there is none."""
    if written.null_count == len(written):
        return written
    encoded = written.dictionary_encode()
    texts = resolved(encoded.dictionary) if has_escapes(encoded.dictionary) else encoded.dictionary
    edges = np.frombuffer(texts.buffers()[1], np.int32)[: len(texts) + 1].tolist()
    data, sha256 = texts.buffers()[2].to_pybytes(), hashlib.sha256
    digests = b"".join([sha256(data[start:end]).digest() for start, end in pairwise(edges)])
    bounds = np.arange(0, _DIGEST_DIGITS * (len(texts) + 1), _DIGEST_DIGITS, dtype=np.int32)
    digits = pa.py_buffer(_HEX[np.frombuffer(digests, np.uint8)])
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(bounds), digits).take(encoded.indices)


def _have_allowed_kinds(cells: Mapping[str, Cells]) -> Flags:
    allowed = np.ones(len(cells["run_id"].kinds), np.bool_)
    for name, kinds in _ALLOWED.items():
        allowed &= np.isin(range(NUMBER + 1), kinds)[cells[name].kinds]
    return allowed


def _flags(cells: Cells) -> pa.Array:
    return pa.array(cells.kinds == TRUE, mask=cells.kinds == NULL)


def _kinds(cells: Cells) -> pa.Array:
    names = np.array([ValueKind.MISSING.value, *(_KINDS.get(kind, ValueKind.MISSING).value for kind in _ANY)])
    return pa.DictionaryArray.from_arrays(pa.array(cells.kinds), pa.array(names.tolist())).cast(pa.string())


def _raw(index: BlockIndex, lines: Places, cells: Cells) -> pa.Array:
    written = index.written(lines, cells)
    return written if (cells.kinds == NUMBER).all() else pc.coalesce(written, index.texts(cells))
