"""Declared against computed, row by row: the engine behind user check files and built-in checks alike.

What belongs here: which records exist and what each of them says. What does not: files, tables, and how a report is
laid out. Nothing here changes a value; a record shows both sides as they are.

Source: spec/crosscheck.md §3 (record, reasons), §11 (records), §12 (order, digests).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from governance_pipeline.crosscheck.aggregate import Totals
from governance_pipeline.crosscheck.evaluate import computed_side
from governance_pipeline.crosscheck.record import CrossCheckRecord, DeclaredPointer, record_id
from governance_pipeline.crosscheck.rows import MISSING, ComponentRow, DeclaredRow, Value
from governance_pipeline.strict.comparison import Side, compare
from governance_pipeline.strict.numbers import EXACT, binary64, canonical, exact_number, shortest
from governance_pipeline.vocabulary import DataType, UnknownReason, ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from decimal import Decimal

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.policy import EpsilonPolicy

RAW_TEXT_CHARACTERS = 200
"""Characters kept of a declared text that is not a number."""


def evaluate(
    check: Check,
    declared: Iterable[DeclaredRow],
    components: Iterable[ComponentRow],
    *,
    policy: EpsilonPolicy,
    incomplete: frozenset[str] = frozenset(),
    declared_file: str = "",
    with_undeclared: bool = True,
    round_id: str | None = None,
) -> list[CrossCheckRecord]:
    """Compare every declared row with what its components give; rows may come in any order.

    Args:
        check: what is compared, and how.
        declared: rows of the declared field.
        components: component rows; those of sources the formula does not read are passed over.
        policy: epsilon policy in force.
        incomplete: component sources that hold a quarantined row.
        declared_file: SHA-256 of the declared file, for subjects nobody declared.
        with_undeclared: whether a subject with components and no declared row gets a record.
        round_id: round the records belong to; None outside a round.

    Returns:
        One record per declared row, and per undeclared subject, ordered by subject (null last) and line (null last).
    """
    run = CheckRun(check, policy, round_id)
    for row in sorted(components, key=lambda row: (row.source, row.line or 0)):
        run.add(row)
    return run.records(declared, incomplete=incomplete, declared_file=declared_file, with_undeclared=with_undeclared)


class CheckRun:
    """One check fed with component rows one by one, so that none has to be kept."""

    def __init__(self, check: Check, policy: EpsilonPolicy, round_id: str | None = None) -> None:
        self.check = check
        self._policy = policy
        self._round_id = round_id
        self._totals = Totals(check.formula, check.data_type)
        self._formula_digest = check.formula.digest

    def add(self, row: ComponentRow) -> None:
        """Add one component row.

        Raises:
            ValueError: the rows are not ordered by source and line.
        """
        self._totals.add(row)

    def fed(self, rows: Iterable[ComponentRow]) -> CheckRun:
        """Add component rows, ordered by source and line, and return this run."""
        for row in rows:
            self.add(row)
        return self

    def alone(self, subject: str | None) -> CheckRun:
        """Return a run that knows the components of one subject so far and can be fed on; this one stays as it is."""
        twin = CheckRun(self.check, self._policy, self._round_id)
        twin._totals = self._totals.copy_of(subject)
        return twin

    def records(
        self,
        declared: Iterable[DeclaredRow],
        *,
        incomplete: frozenset[str] = frozenset(),
        declared_file: str = "",
        with_undeclared: bool = True,
    ) -> list[CrossCheckRecord]:
        """Return the records of all declared rows; arguments and order as `evaluate`."""
        rows = list(declared)
        counts = Counter(row.subject for row in rows if not row.is_quarantined)
        if with_undeclared:
            rows += self._undeclared(rows, declared_file)
        rows.sort(key=_order)
        return [self._record(row, incomplete, is_duplicate=counts[row.subject] > 1) for row in rows]

    def _undeclared(self, rows: list[DeclaredRow], declared_file: str) -> Iterator[DeclaredRow]:
        declared = {row.subject for row in rows}
        for subject in self._totals.subjects:
            if subject not in declared:
                yield DeclaredRow(subject, MISSING, declared_file, None, self.check.pointer)

    def _record(self, row: DeclaredRow, incomplete: frozenset[str], *, is_duplicate: bool) -> CrossCheckRecord:
        check = self.check
        totals = None if row.subject is None else self._totals.subjects.get(row.subject)
        declared = _declared_side(row, check.data_type, is_duplicate=is_duplicate)
        computed = computed_side(check, totals, incomplete)
        comparison = compare(declared, computed, self._epsilon(declared, row.value), check.data_type)
        pointer = DeclaredPointer(row.file, row.line, row.pointer)
        return CrossCheckRecord(
            record_id=record_id(check.id, self._formula_digest, row.subject, pointer),
            check_id=check.id,
            round_id=self._round_id,
            subject_id=row.subject,
            field=check.field,
            data_type=check.data_type,
            unit=check.unit,
            declared=_shown(declared.value),
            declared_raw=_raw(row.value),
            computed=_shown(computed.value),
            delta=_shown(comparison.delta),
            epsilon=_shown(comparison.epsilon),
            epsilon_reason=check.epsilon_reason,
            status=comparison.status,
            mismatch=comparison.mismatch,
            action=comparison.action,
            reason_code=comparison.reason,
            overwritten=False,
            formula=check.formula.text,
            formula_digest=self._formula_digest,
            components_count=0 if totals is None else totals.rows,
            components_digest=None if totals is None else totals.digest,
            declared_pointer=pointer,
            escalate_to=check.escalate_to,
            opened_at=None,
        )

    def _epsilon(self, declared: Side, value: Value) -> Decimal | None:
        if declared.value is None or value.raw is None:
            return None
        return self._policy.epsilon(self.check, declared.value, value.raw)


def _declared_side(row: DeclaredRow, data_type: DataType, *, is_duplicate: bool) -> Side:
    """The declared number and the first reason that applies to it, in the order of spec/crosscheck.md §3."""
    if row.is_quarantined:
        return Side(None, UnknownReason.DECLARED_QUARANTINED)
    side = _declared_number(row.value, data_type)
    return Side(side.value, UnknownReason.DUPLICATE_SUBJECT) if is_duplicate else side


def _declared_number(value: Value, data_type: DataType) -> Side:
    if value.kind is ValueKind.MISSING or value.raw is None:
        return Side(None, UnknownReason.DECLARED_MISSING)
    if value.kind is not ValueKind.NUMBER:
        is_finite = value.kind is not ValueKind.NOT_FINITE
        return Side(None, UnknownReason.DECLARED_NOT_A_NUMBER if is_finite else UnknownReason.DECLARED_NOT_FINITE)
    number = declared_number(value.raw, data_type)
    if number is None:
        return Side(None, UnknownReason.OVERFLOW)
    if data_type is DataType.INTEGER and number != EXACT.to_integral_value(number):
        return Side(number, UnknownReason.DECLARED_TYPE)
    return Side(number)


def declared_number(lexeme: str, data_type: DataType) -> Decimal | None:
    """Return the number a declared lexeme stands for, exactly or as the nearest float; None when it does not fit."""
    if data_type is not DataType.FLOAT:
        return exact_number(lexeme)
    nearest = binary64(lexeme)
    return None if nearest is None else shortest(nearest)


def _raw(value: Value) -> str | None:
    if value.kind is ValueKind.TEXT and value.raw is not None:
        return value.raw[:RAW_TEXT_CHARACTERS]
    return value.raw


def _shown(value: Decimal | None) -> str | None:
    return None if value is None else canonical(value)


def _order(row: DeclaredRow) -> tuple[bool, str, bool, int]:
    return row.subject is None, row.subject or "", row.line is None, row.line or 0
