"""Records of one check over large Parquet sources, in bounded memory: SQL decides most subjects, the engine the rest.

What belongs here: the passes over the files and the table that comes out. What does not: which checks can go this way
(`crosscheck.set_plan`), the statements (`crosscheck.set_sql`), and any rule of a record: whatever SQL does not decide
goes row by row through `crosscheck.engine`, and a test holds both ways to the same records.

Subjects are cut into parts by a hash of their key, one pass per part, so that memory does not grow with the files.
"""

# ruff: noqa: S608 - statements are built of positions and descriptors; no text of a file is part of one

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck.digest_text import canonical_array
from governance_pipeline.crosscheck.engine import CheckRun
from governance_pipeline.crosscheck.formula import Column
from governance_pipeline.crosscheck.mutation import Flipped, flipped
from governance_pipeline.crosscheck.parquet_rows import parquet_values
from governance_pipeline.crosscheck.record_sets import VERIFIABLE
from governance_pipeline.crosscheck.rows import ComponentRow, DeclaredRow
from governance_pipeline.crosscheck.set_digests import digest_table
from governance_pipeline.crosscheck.set_sql import decimals_of, judged_sql, lines_sql, totals_sql
from governance_pipeline.crosscheck.sources import usable_key
from governance_pipeline.crosscheck.stored_records import BATCH_ROWS, STORED, stored_table
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.strict.sql_session import literal
from governance_pipeline.vocabulary import Action, DataType, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import duckdb
    import pyarrow.parquet as pq

    from governance_pipeline.crosscheck.policy import EpsilonPolicy
    from governance_pipeline.crosscheck.record import CrossCheckRecord
    from governance_pipeline.crosscheck.set_sql import SetPlan

PART_ROWS: Final = 1_000_000
"""Rows of one pass: the texts of their digests are ordered in memory."""

SLICE_ROWS: Final = 200_000
"""Rows of the subjects left to the row-wise engine that are held at once: an object each, some 2 KB with its record."""


class SetRecords:
    """One check over views `d` (key, line, total) and `c` (key, line, cell) of a session."""

    def __init__(self, session: duckdb.DuckDBPyConnection, plan: SetPlan, policy: EpsilonPolicy) -> None:
        self.plan, self.session = plan, session
        self._check, self._policy = plan.check, policy
        self._most_rows = max(self._one(f"SELECT count(*) FROM {view}")[0] for view in "dc")

    def parts(self, rows: int) -> list[str]:
        """Return one SQL condition per part of the subjects, so many that each has about this many rows at most."""
        count = self._most_rows // rows + 1
        return [f"hash(key) % {count} = {at}" if count > 1 else "true" for at in range(count)]

    def write(
        self,
        writer: pq.ParquetWriter,
        declared_file: str,
        *,
        is_proved: bool = False,
        on_part: Callable[[float], None] = lambda _share: None,
    ) -> Flipped:
        """Write all records in no particular order (columns `STORED`).

        Args:
            writer: where they go.
            declared_file: SHA-256 of the declared source.
            is_proved: whether every verifiable declared value is shifted too.
            on_part: told what share of the subjects was done just now, for progress.

        Returns:
            What shifting them gave; nothing tried when that was not asked for.
        """
        tried = noticed = 0
        parts = self.parts(PART_ROWS)
        for part in parts:
            self._judge(part)
            for batch in self._batches(self._records_sql(declared_file)):
                writer.write_batch(batch.cast(STORED))
            if is_proved:
                found = self._flipped(part, declared_file)
                tried, noticed = tried + found.tried, noticed + found.noticed
            for run, records in self.left(part, declared_file):
                writer.write_table(stored_table(records))
                if is_proved:
                    found = flipped(run, [record for record in records if record.status in VERIFIABLE])
                    tried, noticed = tried + found.tried, noticed + found.noticed
            on_part(1 / len(parts))
        return Flipped(tried, noticed)

    def run_of(self, subjects: Sequence[str]) -> CheckRun:
        """Return the check fed with the components of these subjects."""
        return self._fed("key::VARCHAR IN (SELECT unnest($1))", [list(subjects)])

    def total(self, part: str) -> None:
        """Make tables `totals` and `declared`: one row per subject of the part."""
        self.session.execute(f"CREATE OR REPLACE TEMP TABLE totals AS {totals_sql(self.plan, 'c', part)}")
        self.session.execute(
            "CREATE OR REPLACE TEMP TABLE declared AS SELECT key, min(line) AS line, min(total) AS total, "
            f"count(*) AS m FROM d WHERE {part} GROUP BY key"
        )

    def _judge(self, part: str) -> None:
        """Make table `judged`: one row per subject of the part, with its digest."""
        self.total(part)
        digests = digest_table(self._batches(lines_sql(self.plan, "c", part)))
        judged = f"SELECT *, NULL AS digest FROM ({judged_sql(self.plan)})"
        if digests is not None:
            self.session.register("digests", digests)
            judged = f"SELECT * FROM ({judged_sql(self.plan)}) LEFT JOIN digests USING (key)"
        self.session.execute(f"CREATE OR REPLACE TEMP TABLE judged AS {judged}")
        self.session.unregister("digests")

    def _records_sql(self, declared_file: str) -> str:
        check = self._check
        head = canonical_array([check.id, check.formula.digest]).decode()[:-1] + ',"'
        middle, tail = f'","{declared_file}",', "," + canonical_array([check.pointer]).decode()[1:]
        match, mismatch = (literal(status.value) for status in (RecordStatus.MATCH, RecordStatus.MISMATCH))
        cells = {name: name for name in ("declared", "declared_raw", "computed", "delta", "mismatch", "line")}
        cells |= {
            "record_id": f"sha256(concat({literal(head)}, subject, {literal(middle)}, line, {literal(tail)}))",
            "subject_id": "subject",
            "epsilon": literal(canonical(self.plan.epsilon)),
            "status": f"if(mismatch, {mismatch}, {match})",
            "action": f"if(mismatch, {literal(Action.ESCALATE.value)}, {literal(Action.ACCEPT.value)})",
            "reason_code": "NULL",
            "components_digest": "digest",
            "overwritten": "false",
            "components_count": "n",
        }
        return f"SELECT {', '.join(f'{cells[name]} AS {name}' for name in STORED.names)} FROM judged WHERE easy"

    def left(
        self, part: str, declared_file: str, which: str = "NOT easy"
    ) -> Iterator[tuple[CheckRun, list[CrossCheckRecord]]]:
        """Yield the records of subjects SQL did not decide, made by the engine of all their rows, slice by slice."""
        subjects, rows = self._one(f"SELECT count(*), coalesce(sum(coalesce(n, 1)), 0) FROM judged WHERE {which}")
        slices = int(rows) // SLICE_ROWS + 1 if subjects else 0
        for at in range(slices):
            keys = f"SELECT key FROM judged WHERE ({which}) AND hash(key, 1) % {slices} = {at}"
            undecided = f"{part} AND key IN ({keys})"
            run = self._fed(undecided)
            declared = [
                DeclaredRow(key, value, declared_file, line, self._check.pointer)
                for key, line, value in self._rows(f"SELECT key, line, total FROM d WHERE {undecided}")
            ]
            yield run, run.records(declared, declared_file=declared_file)

    def _fed(self, condition: str, parameters: list[Any] | None = None) -> CheckRun:
        run = CheckRun(self._check, self._policy)
        source, column = self.plan.aggregate.source, self.plan.aggregate.argument
        sql = f"SELECT key, line, cell FROM c WHERE {condition} ORDER BY line"
        for key, line, value in self._rows(sql, parameters):
            run.add(ComponentRow(key, source, line, {column.name: value} if isinstance(column, Column) else {}))
        return run

    def _flipped(self, part: str, declared_file: str) -> Flipped:
        """Shift every declared value SQL decided and judge it again; what SQL cannot decide then, the engine does."""
        plan = self._shifted_plan()
        self.session.execute(f"CREATE OR REPLACE TEMP TABLE shifted AS {self._shifted_sql()}")
        again = judged_sql(plan, "shifted")
        self.session.execute(
            f"CREATE OR REPLACE TEMP TABLE flipped AS SELECT a.key, a.easy, a.mismatch AND a.computed = b.computed "
            f"AS noticed FROM ({again}) a JOIN judged b USING (key) WHERE b.easy"
        )
        tried, noticed = self._one(
            "SELECT count(*) FILTER (easy), count(*) FILTER (easy AND coalesce(noticed, false)) FROM flipped"
        )
        again_left = "easy AND key IN (SELECT key FROM flipped WHERE NOT easy)"
        for run, records in self.left(part, declared_file, again_left):
            found = flipped(run, records)
            tried, noticed = tried + found.tried, noticed + found.noticed
        return Flipped(tried, noticed)

    def _shifted_plan(self) -> SetPlan:
        """The plan for shifted values, with the widest tolerance their decimals can give: none is noticed too soon."""
        lexemes = ["1", *(f"1.{'0' * places}" for places in range(1, self._policy.decimals + 1))]
        widest = max(self._policy.epsilon(self._check, Decimal(1), lexeme) for lexeme in lexemes)
        kind = "DOUBLE" if self.plan.is_float else f"DECIMAL(38,{self._shifted_places()})"
        return replace(self.plan, declared_type=kind, epsilon=widest)

    def _shifted_places(self) -> int:
        own = decimals_of(self.plan.declared_type) or 0
        exponent = (2 * self.plan.epsilon).normalize().as_tuple().exponent
        return max(own, -int(exponent), 0)

    def _shifted_sql(self) -> str:
        """SELECT like `declared`: by 2·epsilon and one unit, away from the computed number (spec/crosscheck.md §4)."""
        plan = self.plan
        kind = f"DECIMAL(38, {20 if plan.is_float else self._shifted_places()})"
        total, unit = f"declared::{kind}", "1"
        if self._check.data_type is DataType.FLOAT:
            unit = f"greatest(1, abs(declared::DOUBLE) / 1000)::{kind}"
        step = f"({literal(canonical(2 * plan.epsilon))}::{kind} + {unit})"
        value = f"({total} + CASE WHEN difference >= 0 THEN {step} ELSE -{step} END)"
        value = f"{value}::VARCHAR::DOUBLE" if plan.is_float else f"{value}::{kind}"
        return f"SELECT key, line, {value} AS total, m FROM judged WHERE easy"

    def _rows(self, sql: str, parameters: list[Any] | None = None) -> Iterator[tuple[str, int, Any]]:
        for batch in self._batches(sql, parameters):
            keys, values = parquet_values(batch.column(0)), parquet_values(batch.column(2))
            for key, line, value in zip(keys, batch.column(1).to_pylist(), values, strict=True):
                subject = usable_key(key)
                assert subject is not None  # `set_plan` looked at every key
                yield subject, line, value

    def _batches(self, sql: str, parameters: list[Any] | None = None) -> Iterator[Any]:
        reader: Any = self.session.sql(sql, params=parameters).to_arrow_reader(BATCH_ROWS)
        yield from reader

    def _one(self, sql: str) -> tuple[Any, ...]:
        (row,) = self.session.execute(sql).fetchall()
        return tuple(row)
