"""Records of one check over large sources of any format, in bounded memory: the engine, part by part.

What belongs here: staging rows in a file where they can be asked for by subject, and feeding the engine with them.
What does not: reading sources (`crosscheck.sources`) and any rule of a record (`crosscheck.engine`).

Rows are staged as the reader gives them, kind and raw text of each value, so nothing is lost and nothing guessed.
"""

# ruff: noqa: S608 - statements are built of positions and paths; no text of a file is part of one

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.crosscheck.engine import CheckRun
from governance_pipeline.crosscheck.mutation import Flipped, flipped
from governance_pipeline.crosscheck.record_sets import VERIFIABLE
from governance_pipeline.crosscheck.rows import MISSING, ComponentRow, DeclaredRow, Value
from governance_pipeline.crosscheck.stored_records import BATCH_ROWS, stored_table
from governance_pipeline.strict.sql_session import literal
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import duckdb

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.policy import EpsilonPolicy
    from governance_pipeline.crosscheck.sources import SourceRow

PART_ROWS: Final = 200_000
"""Rows of one part: totals and records of its subjects are objects, some 2 KB for each."""


@dataclass(frozen=True, slots=True)
class Staged:
    """One source in a file: columns key (null when the row could not be used), line, and k0, r0, k1, r1 … of values.

    Attributes:
        path: the file.
        columns: names of the columns whose kind and raw text are k0 and r0, k1 and r1 …
        rows: how many there are.
    """

    path: Path
    columns: tuple[str, ...]
    rows: int

    def select(self, names: Sequence[str], condition: str) -> str:
        """SQL: rows that hold a condition, in the order of the source; a column nobody staged is missing in each."""
        at = [self.columns.index(name) for name in names]
        listed = ", ".join(["key", "line", *(f"k{i}, r{i}" for i in at)])
        return f"SELECT {listed} FROM read_parquet({literal(self.path)}) WHERE {condition} ORDER BY line"


def staged(rows: Iterable[SourceRow], columns: Iterable[str], path: Path) -> Staged:
    """Write all rows of a source into a file; errors are those of the reader."""
    names = tuple(sorted(columns))
    cells = [pa.field(f"{kind}{at}", pa.string()) for at in range(len(names)) for kind in "kr"]
    schema = pa.schema([("key", pa.string()), ("line", pa.int64()), *cells])
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1) as writer:
        for block in _blocks(rows):
            count += len(block)
            arrays = [[row.key for row in block], [row.line for row in block]]
            for name in names:
                values = [row.values.get(name, MISSING) for row in block]
                arrays += [[value.kind.value for value in values], [value.raw for value in values]]
            writer.write_table(pa.table([pa.array(a, f.type) for a, f in zip(arrays, schema, strict=True)], schema))
    return Staged(path, names, count)


class StagedRecords:
    """One check over staged sources."""

    def __init__(
        self,
        session: duckdb.DuckDBPyConnection,
        check: Check,
        policy: EpsilonPolicy,
        sources: Mapping[str, Staged],
        incomplete: frozenset[str],
    ) -> None:
        """Take what is needed; arguments as `CheckRun`, `incomplete` as `CheckRun.records`."""
        self._session, self._check, self._policy, self._incomplete = session, check, policy, incomplete
        self._declared = sources[check.declared_source]
        self._components = {name: sources[name] for name in sorted(check.formula.sources)}

    def write(
        self,
        writer: pq.ParquetWriter,
        declared_file: str,
        *,
        is_proved: bool = False,
        on_part: Callable[[float], None] = lambda _share: None,
    ) -> Flipped:
        """Write all records in no particular order; as `SetRecords.write`."""
        tried = noticed = 0
        parts = self._parts()
        for part in parts:
            run = self._fed(part)
            # What belongs to nobody has to be somewhere: with the subjects of the first part, which may be none.
            records = run.records(
                self._declared_rows(part, declared_file), incomplete=self._incomplete, declared_file=declared_file
            )
            writer.write_table(stored_table(records))
            if is_proved:
                found = flipped(run, [record for record in records if record.status in VERIFIABLE])
                tried, noticed = tried + found.tried, noticed + found.noticed
            on_part(1 / len(parts))
        return Flipped(tried, noticed)

    def run_of(self, subjects: Sequence[str]) -> CheckRun:
        """Return the check fed with the components of these subjects."""
        return self._fed("key IN (SELECT unnest($1))", [list(subjects)])

    def _parts(self) -> list[str]:
        rows = self._declared.rows + sum(source.rows for source in self._components.values())
        count = rows // PART_ROWS + 1
        return [f"coalesce(hash(key) % {count}, 0) = {at}" if count > 1 else "true" for at in range(count)]

    def _fed(self, condition: str, parameters: list[Any] | None = None) -> CheckRun:
        run = CheckRun(self._check, self._policy)
        for name, source in self._components.items():
            columns = [c.name for c in self._check.formula.columns if c.source == name and c.name in source.columns]
            for key, line, values in self._rows(source, columns, condition, parameters):
                if key is not None:
                    run.add(ComponentRow(key, name, line, dict(zip(columns, values, strict=True))))
        return run

    def _declared_rows(self, condition: str, file: str) -> Iterator[DeclaredRow]:
        column, pointer = self._check.declared_column, self._check.pointer
        for key, line, (value,) in self._rows(self._declared, [column], condition, None):
            yield DeclaredRow(key, value, file, line, pointer, is_quarantined=key is None)

    def _rows(
        self, source: Staged, columns: Sequence[str], condition: str, parameters: list[Any] | None
    ) -> Iterator[tuple[str | None, int, list[Value]]]:
        reader: Any = self._session.sql(source.select(columns, condition), params=parameters)
        for batch in reader.to_arrow_reader(BATCH_ROWS):
            keys, lines, *cells = (column.to_pylist() for column in batch.columns)
            values = [list(map(_value, cells[at], cells[at + 1])) for at in range(0, len(cells), 2)]
            for index, (key, line) in enumerate(zip(keys, lines, strict=True)):
                yield key, line, [column[index] for column in values]


_KINDS: Final = {kind.value: kind for kind in ValueKind}


def _value(kind: str, raw: str | None) -> Value:
    return Value(_KINDS[kind], raw)


def _blocks(rows: Iterable[SourceRow]) -> Iterator[list[SourceRow]]:
    block: list[SourceRow] = []
    for row in rows:
        block.append(row)
        if len(block) == BATCH_ROWS:
            yield block
            block = []
    if block:
        yield block
