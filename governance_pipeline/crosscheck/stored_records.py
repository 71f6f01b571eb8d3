"""Records of one check in a Parquet file, in the order of the report: what a run of large sources works on.

What belongs here: the columns, asking for counts, samples and text, and reading a record back. What does not: making
records (`crosscheck.set_records`, `crosscheck.staged_records`) and judging them (`crosscheck.stored_violations`).
The members every record of a check shares are those of the check and are not stored.
"""

# ruff: noqa: S608 - statements are built of column names, paths and quoted literals; no text of a file is part of one

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.crosscheck.record import CrossCheckRecord, DeclaredPointer
from governance_pipeline.crosscheck.report_text import BETWEEN_ITEMS, Written, compact
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.sql_session import literal, open_session
from governance_pipeline.vocabulary import Action, RecordStatus, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import duckdb

    from governance_pipeline.crosscheck.check import Check

MEMORY: Final = "400MiB"
"""What DuckDB may hold before it spills; with the interpreter and a batch in flight a run stays far below 2 GiB."""

BATCH_ROWS: Final = 50_000
_TEXTS: Final = (
    "record_id", "subject_id", "declared", "declared_raw", "computed", "delta", "epsilon", "status", "action",
    "reason_code", "components_digest",
)  # fmt: skip
STORED: Final = pa.schema(
    [*((name, pa.string()) for name in _TEXTS), ("mismatch", pa.bool_()), ("overwritten", pa.bool_()),
     ("components_count", pa.int64()), ("line", pa.int64())]
)  # fmt: skip
"""Columns: the members of a record that differ inside a check; `line` is that of its pointer."""

_NUMBERS: Final = frozenset({"declared", "computed", "delta", "epsilon"})
_HOLE: Final = "\x00"
_ESCAPED: Final = r"[^ !#-\[\]-~]"


class StoredRecords:
    """The records of one check; iterating gives them one by one, in the order of the report."""

    def __init__(self, path: Path, check: Check, declared_file: str) -> None:
        """Take over a file of `STORED`, ordered by subject (null last) and line (null last).

        Args:
            path: the file; whoever made it removes it.
            check: gives the members that are not stored.
            declared_file: SHA-256 of the declared source.
        """
        self.path, self.check, self.declared_file = path, check, declared_file
        self._counts: dict[str, Counter[str]] = {}

    def __iter__(self) -> Iterator[CrossCheckRecord]:
        for batch in pq.ParquetFile(self.path).iter_batches(BATCH_ROWS):
            yield from map(self.record, batch.to_pylist())

    def record(self, row: dict[str, Any]) -> CrossCheckRecord:
        """Return one row as a record."""
        check, stored = self.check, {name: row[name] for name in STORED.names if name != "line"}
        reason = row["reason_code"]
        stored |= {
            "status": RecordStatus(row["status"]),
            "action": Action(row["action"]),
            "reason_code": None if reason is None else UnknownReason(reason),
        }
        return CrossCheckRecord(
            check_id=check.id, round_id=None, field=check.field, data_type=check.data_type, unit=check.unit,
            epsilon_reason=check.epsilon_reason, formula=check.formula.text, formula_digest=check.formula.digest,
            declared_pointer=DeclaredPointer(self.declared_file, row["line"], check.pointer),
            escalate_to=check.escalate_to, opened_at=None, **stored,
        )  # fmt: skip

    def statuses(self) -> Counter[str]:
        """Return how many records there are by status."""
        return self._counted("status")

    def reasons(self) -> Counter[str]:
        """Return how many records there are by reason code; those without one are left out."""
        return self._counted("reason_code")

    def smallest(self, limit: int, statuses: Iterable[str]) -> list[CrossCheckRecord]:
        """Return the records of these statuses with the smallest record_id, ordered by it."""
        sql = f"SELECT * FROM records WHERE {_among('status', statuses)} ORDER BY record_id LIMIT {limit}"
        return list(self._records(sql))

    def having(self, column: str, values: Iterable[str]) -> Iterator[CrossCheckRecord]:
        """Yield the records with one of these values in a column, in their order."""
        return self._records(f"SELECT * FROM records WHERE {_among(column, values)}")

    def texts(self) -> Iterator[Written]:
        """Yield the records as JSON text, many at once; a subject that needs an escape is written one by one."""
        sql = f"SELECT *, CASE WHEN {_is_plain('subject_id')} AND {_is_plain('declared_raw')} THEN {self._text()} END"
        with self.session() as session:
            for batch in session.sql(f"{sql} AS text FROM records").to_arrow_reader(BATCH_ROWS):
                texts = batch.column("text").to_pylist()
                for at, text in enumerate(texts):
                    if text is None:
                        (row,) = batch.slice(at, 1).to_pylist()
                        texts[at] = compact(self.record(row).to_json())
                if texts:
                    yield Written(BETWEEN_ITEMS.join(texts))

    @contextmanager
    def session(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open a session with the view `records`, in their order."""
        session = open_session(files=[str(self.path)], folders=[self.path.parent], spill=self.path.parent,
                               memory=MEMORY)  # fmt: skip
        try:
            session.execute(f"CREATE TEMP VIEW records AS SELECT * FROM read_parquet({literal(self.path)})")
            yield session
        finally:
            session.close()

    def _text(self) -> str:
        """SQL: a record as `compact` writes it, made from one that has a hole in each stored member."""
        holes = {name: Lexeme(_HOLE + name + _HOLE) for name in STORED.names}
        shown = self.record(dict.fromkeys(STORED.names) | {"status": "match", "action": "accept"}).to_json()
        members = {name: holes.get(name, value) for name, value in shown.items()}
        members["declared_pointer"] = {**shown["declared_pointer"], "line": holes["line"]}
        pieces = compact(members).split(_HOLE)
        cells = (_cell(piece) if at % 2 else literal(piece) for at, piece in enumerate(pieces))
        return f"concat({', '.join(cells)})"

    def _records(self, sql: str) -> Iterator[CrossCheckRecord]:
        with self.session() as session:
            for batch in session.sql(sql).to_arrow_reader(BATCH_ROWS):
                yield from map(self.record, batch.to_pylist())

    def _counted(self, column: str) -> Counter[str]:
        if column not in self._counts:  # the file never changes
            sql = f"SELECT {column}, count(*) FROM records WHERE {column} IS NOT NULL GROUP BY ALL"
            with self.session() as session:
                self._counts[column] = Counter(dict(session.execute(sql).fetchall()))
        return self._counts[column]


def stored_row(record: CrossCheckRecord) -> dict[str, Any]:
    """Return a record as a row of `STORED`."""
    found = {name: getattr(record, name, None) for name in STORED.names} | {"line": record.declared_pointer.line}
    return {name: str(value) if name in _TEXTS and value is not None else value for name, value in found.items()}


def stored_table(records: Iterable[CrossCheckRecord]) -> pa.Table:
    """Return records as a table of `STORED`."""
    return pa.Table.from_pylist(list(map(stored_row, records)), STORED)


def ordered_records(session: duckdb.DuckDBPyConnection, unordered: Path, target: Path) -> None:
    """Write the rows of a file of `STORED` into another one, in the order of the report, spilling as needed."""
    rows = f"SELECT * FROM read_parquet({literal(unordered)}) ORDER BY subject_id NULLS LAST, line NULLS LAST"
    session.execute(f"COPY ({rows}) TO {literal(target)} (FORMAT parquet, COMPRESSION zstd)").fetchall()


def _among(column: str, values: Iterable[str]) -> str:
    return f"{column} IN ({', '.join(literal(str(value)) for value in sorted(values))})"


def _is_plain(cell: str) -> str:
    return f"coalesce(NOT regexp_matches({cell}, {literal(_ESCAPED)}), true)"


def _cell(name: str) -> str:
    kind = STORED.field(name).type
    if name in _NUMBERS or pa.types.is_integer(kind):
        return f"coalesce({name}::VARCHAR, 'null')"
    if pa.types.is_boolean(kind):
        return f"CASE WHEN {name} THEN 'true' WHEN NOT {name} THEN 'false' ELSE 'null' END"
    return f"""coalesce('"' || {name} || '"', 'null')"""
