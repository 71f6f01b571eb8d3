"""Rows for a check that has none: a few subjects whose components and declared values are made up, always the same.

What belongs here: the rows of the mutation proof where a batch holds no verifiable record of a check. What does not:
the proof (`crosscheck.mutation`). Nothing made here is ever a record of a report.

Source: spec/crosscheck.md §4.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from governance_pipeline.crosscheck.engine import CheckRun
from governance_pipeline.crosscheck.formula import ALL_ROWS
from governance_pipeline.crosscheck.rows import ComponentRow, DeclaredRow, Value
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.numbers import EXACT, canonical
from governance_pipeline.vocabulary import DataType, RecordStatus, ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.policy import EpsilonPolicy
    from governance_pipeline.crosscheck.record import CrossCheckRecord

SUBJECTS: Final = 8
ROWS: Final = 3
"""Subjects, and component rows of each per source: enough that an average, a quotient and an extreme differ."""

_LARGEST: Final = 97
FILE: Final = sha256_hex(b"")
"""Digest of the file that generated values pretend to stand in: the empty one."""


def generated_run(check: Check, policy: EpsilonPolicy) -> tuple[CheckRun, list[CrossCheckRecord]]:
    """Return a check fed with generated rows, and its verifiable records (none when its formula has no value)."""
    run = CheckRun(check, policy).fed(_components(check))
    computed = [record for record in run.records([], declared_file=FILE) if record.computed is not None]
    declared = [_declared(check, record, line) for line, record in enumerate(computed, 1)]
    records = run.records(declared, declared_file=FILE, with_undeclared=False)
    return run, [record for record in records if record.status is not RecordStatus.UNVERIFIABLE]


def _components(check: Check) -> Iterator[ComponentRow]:
    """Rows ordered by source and line."""
    for source in sorted(check.formula.sources):
        names = [c.name for c in check.formula.columns if c.source == source and c.name != ALL_ROWS]
        numeric = check.formula.numeric_columns(source)
        for line in range(SUBJECTS * ROWS):
            cells = {name: _cell(line, at, is_number=name in numeric) for at, name in enumerate(names)}
            yield ComponentRow(f"generated-{line // ROWS}", source, line + 1, cells)


def _cell(line: int, column: int, *, is_number: bool) -> Value:
    number = 1 + (31 * line + 7 * column) % _LARGEST
    return Value(ValueKind.NUMBER, str(number)) if is_number else Value(ValueKind.TEXT, f"text {number}")


def _declared(check: Check, record: CrossCheckRecord, line: int) -> DeclaredRow:
    """The computed number as the declared one; made whole for an integer, which alone is one."""
    number = Decimal(record.computed or 0)
    if check.data_type is DataType.INTEGER:
        number = EXACT.to_integral_value(number)
    return DeclaredRow(record.subject_id, Value(ValueKind.NUMBER, canonical(number)), FILE, line, check.pointer)
