"""Records of one check over large Parquet sources, in bounded memory: SQL decides most subjects, the engine the rest.

What belongs here: which checks can go this way, the passes over the files, the table that comes out. What does not:
the statements (`crosscheck.set_sql`) and any rule of a record: whatever SQL does not decide goes row by row through
`crosscheck.engine`, and a test holds both ways to the same records.

Subjects are cut into parts by a hash of their key, one pass per part, so that memory does not grow with the files.
"""

# ruff: noqa: S608 - statements are built of positions and descriptors; no text of a file is part of one

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.crosscheck.check import NoComponents
from governance_pipeline.crosscheck.digest_text import canonical_array
from governance_pipeline.crosscheck.engine import CheckRun
from governance_pipeline.crosscheck.formula import Column, Function
from governance_pipeline.crosscheck.parquet_rows import parquet_values
from governance_pipeline.crosscheck.rows import ComponentRow, DeclaredRow
from governance_pipeline.crosscheck.set_sql import (
    INTEGERS,
    SetPlan,
    aggregate_of,
    decimals_of,
    fixed_point_scale,
    is_summable,
    judged_sql,
    plain_extremes_sql,
    totals_sql,
)
from governance_pipeline.crosscheck.sources import usable_key
from governance_pipeline.strict.files import digest_file, open_regular
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.strict.sql_session import literal, open_session
from governance_pipeline.vocabulary import Action, DataType, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.policy import EpsilonPolicy
    from governance_pipeline.crosscheck.record import CrossCheckRecord
    from governance_pipeline.crosscheck.source import Source

MEMORY: Final = "400MiB"
PART_ROWS: Final = 1_000_000
"""Component rows of one pass: their digests are made of texts that are ordered in memory."""

_BATCH_ROWS: Final = 50_000
_TEXTS: Final = (
    "record_id", "check_id", "subject_id", "field", "data_type", "unit", "declared", "declared_raw", "computed",
    "delta", "epsilon", "epsilon_reason", "status", "action", "reason_code", "formula", "formula_digest",
    "components_digest", "declared_file", "declared_pointer", "escalate_to",
)  # fmt: skip
RECORDS: Final = pa.schema(
    [*((name, pa.string()) for name in _TEXTS), ("mismatch", pa.bool_()), ("overwritten", pa.bool_()),
     ("components_count", pa.int64()), ("declared_line", pa.int64())]
)  # fmt: skip
"""Columns of the table: the members of a record outside a round, its pointer as file, line and pointer."""


@dataclass(frozen=True, slots=True)
class SetRun:
    """What one check gave: records by status, and how many subjects SQL left to the row-wise engine."""

    statuses: Counter[str]
    left_to_rows: int


def set_records(
    check: Check, declared: Source, components: Source, policy: EpsilonPolicy, target: Path
) -> SetRun | None:
    """Write the records of one check as a Parquet table (`RECORDS`), in no particular order.

    Args:
        check: what is compared.
        declared: source of the declared column.
        components: the one source its formula reads.
        policy: epsilon policy in force.
        target: file to write.

    Returns:
        Counts; None, and nothing written, when SQL cannot be exact about this check or its sources: then the row-wise
        engine is the way.

    Raises:
        UnreadableError: a source is no regular file, or not Parquet.
    """
    files = [declared.file, components.file]
    if any(file is None or file.suffix != ".parquet" for file in files) or aggregate_of(check) is None:
        return None
    with ExitStack() as stack:
        streams = [stack.enter_context(open_regular(file)) for file in files if file is not None]
        spill = Path(stack.enter_context(TemporaryDirectory(prefix="govern-check-")))
        session = open_session(
            files=[str(file.resolve()) for file in files if file is not None], spill=spill, memory=MEMORY
        )
        stack.callback(session.close)
        paths = [f"/dev/fd/{stream.fileno()}" for stream in streams]
        work = _Work(session, check, policy, digest_file(files[0]).sha256 if files[0] else "")
        if not work.prepared(declared, components, paths, [pq.ParquetFile(s).schema_arrow for s in streams]):
            return None
        with pq.ParquetWriter(target, RECORDS, compression="zstd") as writer:
            return work.run(writer)


class _Work:
    """One check inside one session."""

    def __init__(self, session: duckdb.DuckDBPyConnection, check: Check, policy: EpsilonPolicy, digest: str) -> None:
        self._session, self._check, self._policy, self._digest = session, check, policy, digest
        self._parts = 1

    def prepared(self, declared: Source, components: Source, paths: list[str], schemas: list[Any]) -> bool:
        """Make views `d` (key, line, total) and `c` (key, line, cell), and the plan; false when SQL cannot be exact."""
        aggregate = aggregate_of(self._check)
        assert aggregate is not None
        argument = aggregate.argument
        column = argument.name if isinstance(argument, Column) else None
        places = [
            self._view("d", paths[0], schemas[0].names, declared.key, self._check.declared_column, "total"),
            self._view("c", paths[1], schemas[1].names, components.key, column, "cell"),
        ]
        if not all(places):
            return False
        types = {row[0]: row[1] for view in "dc" for row in self._session.execute(f"DESCRIBE {view}").fetchall()}
        keys = {self._session.execute(f"DESCRIBE {view}").fetchall()[0][1] for view in "dc"}
        if len(keys) > 1 or not keys <= INTEGERS | {"VARCHAR"} or not self._is_sound():
            return False
        epsilon = self._epsilon(types["total"])
        kind = types["cell"] if column is not None else None
        if epsilon is None or not self._is_exact(types["total"], kind):
            return False
        scale = 0
        if kind == "DOUBLE" and aggregate.function is Function.SUM:
            least, most = self._one(plain_extremes_sql("c"))
            found = fixed_point_scale(least, most)
            if found is None:
                return False
            scale = found
        self._plan = SetPlan(self._check, aggregate, types["total"], kind, epsilon, scale)
        (rows,) = self._one("SELECT count(*) FROM c")
        self._parts = rows // PART_ROWS + 1
        return True

    def run(self, writer: pq.ParquetWriter) -> SetRun:
        """Write the records part by part."""
        statuses: Counter[str] = Counter()
        left = 0
        for number in range(self._parts):
            part = f"hash(key) % {self._parts} = {number}" if self._parts > 1 else "true"
            self._session.execute(f"CREATE OR REPLACE TEMP TABLE totals AS {totals_sql(self._plan, 'c', part)}")
            self._session.execute(
                f"CREATE OR REPLACE TEMP TABLE declared AS SELECT key, min(line) AS line, min(total) AS total, "
                f"count(*) AS m FROM d WHERE {part} GROUP BY key"
            )
            self._session.execute(f"CREATE OR REPLACE TEMP TABLE judged AS {judged_sql(self._plan)}")
            for batch in self._batches(self._records_sql()):
                writer.write_batch(batch.cast(RECORDS))
            counts = "SELECT mismatch, count(*) FROM judged WHERE easy GROUP BY ALL"
            for mismatch, count in self._session.execute(counts).fetchall():
                statuses[(RecordStatus.MISMATCH if mismatch else RecordStatus.MATCH).value] += count
            rest = self._left(part)
            (subjects,) = self._one("SELECT count(*) FROM judged WHERE NOT easy")
            left += subjects
            statuses.update(record.status.value for record in rest)
            if rest:
                writer.write_table(pa.Table.from_pylist([_row(record) for record in rest], RECORDS))
        return SetRun(statuses, left)

    def _view(self, name: str, path: str, names: list[str], key: str, column: str | None, alias: str) -> bool:
        if names.count(key) != 1 or (column is not None and names.count(column) != 1):
            return False
        cells = [f"c{names.index(key)} AS key", f"c{len(names)} + 1 AS line"]
        cells += [f"c{names.index(column)} AS {alias}"] if column is not None else [f"1 AS {alias}"]
        listed = ", ".join(f"c{at}" for at in range(len(names) + 1))
        scan = f"read_parquet({literal(path)}, file_row_number = true) AS t({listed})"
        self._session.execute(f"CREATE TEMP VIEW {name} AS SELECT {', '.join(cells)} FROM {scan}")
        return True

    def _is_sound(self) -> bool:
        """Whether every row has a usable key: a quarantined one would concern every subject."""
        found = self._session.execute(
            "SELECT count(*) FILTER (key IS NULL OR key::VARCHAR = '') FROM d UNION ALL "
            "SELECT count(*) FILTER (key IS NULL OR key::VARCHAR = '') FROM c"
        ).fetchall()
        return all(count == 0 for (count,) in found)

    def _is_exact(self, total: str, kind: str | None) -> bool:
        if self._check.data_type is DataType.FLOAT:
            return total == "DOUBLE" == kind and self._check.formula.root.function not in (  # type: ignore[union-attr]
                Function.COUNT, Function.COUNT_ROWS
            )  # fmt: skip
        if self._check.data_type is DataType.INTEGER and total not in INTEGERS:
            return False
        return decimals_of(total) is not None and is_summable(total) and (kind is None or is_summable(kind))

    def _epsilon(self, total: str) -> Decimal | None:
        """The tolerance every declared value of this column has: it depends on nothing but its decimals."""
        places = 0 if total == "DOUBLE" else decimals_of(total)
        if places is None or (total == "DOUBLE" and self._check.data_type is not DataType.FLOAT):
            return None
        return self._policy.epsilon(self._check, Decimal(1), "1." + "0" * places if places else "1")

    def _records_sql(self) -> str:
        check = self._check
        head = canonical_array([check.id, check.formula.digest]).decode()[:-1] + ',"'
        middle, tail = f'","{self._digest}",', "," + canonical_array([check.pointer]).decode()[1:]
        constants = {
            "check_id": check.id, "field": check.field, "data_type": check.data_type.value,
            "epsilon": canonical(self._plan.epsilon), "epsilon_reason": check.epsilon_reason,
            "formula": check.formula.text, "formula_digest": check.formula.digest, "declared_file": self._digest,
            "declared_pointer": check.pointer, "escalate_to": check.escalate_to,
        }  # fmt: skip
        cells = {name: literal(text) for name, text in constants.items()}
        cells |= {name: name for name in ("declared", "declared_raw", "computed", "delta", "mismatch")}
        cells |= {
            "record_id": f"sha256({literal(head)} || subject || {literal(middle)} || line || {literal(tail)})",
            "subject_id": "subject",
            "unit": "NULL" if check.unit is None else literal(check.unit),
            "status": f"if(mismatch, {literal(RecordStatus.MISMATCH)}, {literal(RecordStatus.MATCH)})",
            "action": f"if(mismatch, {literal(Action.ESCALATE)}, {literal(Action.ACCEPT)})",
            "reason_code": "NULL",
            "components_digest": "digest",
            "overwritten": "false",
            "components_count": "n",
            "declared_line": "line",
        }
        listed = ", ".join(f"{cells[name]} AS {name}" for name in RECORDS.names)
        return f"SELECT {listed} FROM judged WHERE easy"

    def _left(self, part: str) -> list[CrossCheckRecord]:
        """Records of the subjects SQL did not decide, made by the engine of all their rows."""
        assert self._check.no_components in NoComponents
        run = CheckRun(self._check, self._policy)
        undecided = f"WHERE {part} AND key IN (SELECT key FROM judged WHERE NOT easy)"
        source = self._plan.aggregate.source
        column = self._plan.aggregate.argument
        for key, line, value in self._rows(f"SELECT key, line, cell FROM c {undecided} ORDER BY line"):
            run.add(ComponentRow(key, source, line, {column.name: value} if isinstance(column, Column) else {}))
        pointer = self._check.pointer
        declared = [
            DeclaredRow(key, value, self._digest, line, pointer)
            for key, line, value in self._rows(f"SELECT key, line, total FROM d {undecided}")
        ]
        return run.records(declared, declared_file=self._digest)

    def _rows(self, sql: str) -> Iterator[tuple[str, int, Any]]:
        for batch in self._batches(sql):
            keys, values = parquet_values(batch.column(0)), parquet_values(batch.column(2))
            for key, line, value in zip(keys, batch.column(1).to_pylist(), values, strict=True):
                subject = usable_key(key)
                assert subject is not None  # `_is_sound` looked at every key
                yield subject, line, value

    def _batches(self, sql: str) -> Iterator[Any]:
        reader: Any = self._session.sql(sql).to_arrow_reader(_BATCH_ROWS)
        yield from reader

    def _one(self, sql: str) -> tuple[Any, ...]:
        row = self._session.execute(sql).fetchone()
        assert row is not None
        return tuple(row)


def _row(record: CrossCheckRecord) -> dict[str, Any]:
    found = {name: getattr(record, name, None) for name in RECORDS.names}
    file, line, pointer = record.declared_pointer
    found |= {"declared_file": file, "declared_line": line, "declared_pointer": pointer}
    return {name: str(value) if name in _TEXTS and value is not None else value for name, value in found.items()}
