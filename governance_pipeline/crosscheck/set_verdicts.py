"""The verdict on every declared number without its evidence: what the set-based path knows before any text is made.

What belongs here: the flag of each record as Arrow batches. What does not: records (`crosscheck.set_records`), which
add raw texts, the digest of the components, ids and pointers; a case needs those, a first look at a file does not.

The flags are those of the records: exact sums, and what SQL cannot decide goes through the engine here too.
"""

# ruff: noqa: S608 - statements are built of quoted literals; no text of a file is part of one

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from governance_pipeline.crosscheck.set_sql import verdict_sql
from governance_pipeline.crosscheck.stored_records import BATCH_ROWS
from governance_pipeline.strict.sql_session import literal
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from governance_pipeline.crosscheck.record import CrossCheckRecord
    from governance_pipeline.crosscheck.set_records import SetRecords

PART_ROWS: Final = 8_000_000
"""Rows of one pass: only numbers are held, a tenth of what the texts of a digest need; a pass reads the files anew."""

COLUMNS: Final = ("key", "declared", "computed", "components", "status", "reason_code")
"""Columns of a batch; key and numbers have the types of the sources, and a number nobody knows is null."""


def verdicts(records: SetRecords) -> Iterator[pa.RecordBatch]:
    """Yield one row per record of a check (columns `COLUMNS`), in no particular order."""
    match, mismatch = (literal(status.value) for status in (RecordStatus.MATCH, RecordStatus.MISMATCH))
    decided = (
        f"SELECT key, total AS declared, number AS computed, n AS components, if(mismatch, {mismatch}, {match}) AS "
        "status, NULL::VARCHAR AS reason_code FROM judged WHERE easy"
    )
    for part in records.parts(PART_ROWS):
        records.total(part)
        records.session.execute(f"CREATE OR REPLACE TEMP TABLE judged AS {verdict_sql(records.plan)}").fetchall()
        reader: Any = records.session.sql(decided).to_arrow_reader(BATCH_ROWS)
        schema = reader.schema
        yield from reader
        for _, rest in records.left(part, ""):
            yield _batch(rest, schema)


def _batch(records: list[CrossCheckRecord], schema: pa.Schema) -> pa.RecordBatch:
    """Records the engine made, in the types of those SQL decided."""
    rows: dict[str, list[Any]] = {
        "key": [record.subject_id for record in records],
        "declared": [record.declared for record in records],
        "computed": [record.computed for record in records],
        "components": [record.components_count for record in records],
        "status": [record.status.value for record in records],
        "reason_code": [record.reason_code and record.reason_code.value for record in records],
    }
    arrays = [pa.array(map(_reader(field.type), rows[field.name]), field.type) for field in schema]
    return pa.record_batch(arrays, schema=schema)


def _reader(kind: pa.DataType) -> Callable[[Any], Any]:
    """How a lexeme becomes a value of an Arrow type; exactly, since it was made of one."""
    if pa.types.is_floating(kind):
        convert: Callable[[Any], Any] = float
    elif pa.types.is_integer(kind):
        convert = int
    else:
        convert = Decimal if pa.types.is_decimal(kind) else str
    return lambda value: None if value is None else convert(value)
