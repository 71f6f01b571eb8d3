"""Components of one check, added up per subject as the rows come by.

What belongs here: what must be remembered of rows so that none has to be kept: exact sums, extremes, distinct texts,
counts, the worst fault and a running digest. What does not: what the expression makes of them (`crosscheck.evaluate`).

Each source is aggregated by subject alone, never joined. A value that cannot be used does not stop the count or the
digest: the record shows how many rows were looked at even when their sum is unknown.
Source: spec/crosscheck.md §11 (values, evaluation) and §12 (components_digest).
"""

from __future__ import annotations

import hashlib
from decimal import Decimal
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from governance_pipeline.crosscheck.digest_text import canonical_array
from governance_pipeline.crosscheck.formula import (
    ALL_ROWS,
    Aggregate,
    Arithmetic,
    Column,
    Expression,
    Formula,
    Function,
    Negation,
    Number,
    Operator,
)
from governance_pipeline.crosscheck.rows import MISSING, ComponentRow, Value
from governance_pipeline.strict.numbers import EXACT, ZERO, binary64, exact_number
from governance_pipeline.vocabulary import DataType, UnknownReason, ValueKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Numbers = Mapping[str, Decimal]
    Step = Callable[[Any, Numbers, Mapping[str, Value]], Any]

COMPONENT_FAULTS = (
    UnknownReason.COMPONENT_MISSING_VALUE,
    UnknownReason.COMPONENT_NOT_A_NUMBER,
    UnknownReason.COMPONENT_NOT_FINITE,
    UnknownReason.OVERFLOW,
)
"""Faults of a component; the first in this order is the one a record shows."""

_RANK = {reason: rank for rank, reason in enumerate(COMPONENT_FAULTS)}
_BOOLEAN = {"true": Decimal(1), "false": ZERO}
_OPERATIONS: dict[Operator, Callable[[Decimal, Decimal], Decimal]] = {
    Operator.ADD: EXACT.add,
    Operator.SUBTRACT: EXACT.subtract,
    Operator.MULTIPLY: EXACT.multiply,
}


def component_number(value: Value, data_type: DataType) -> Decimal | UnknownReason:
    """Return the exact number of a component, or why it has none; true is 1 and false 0.

    For data type float it is the exact value of the nearest binary64.
    """
    kind, raw = value
    if kind is ValueKind.NUMBER and raw is not None:
        if data_type is DataType.FLOAT:
            nearest = binary64(raw)
            return UnknownReason.OVERFLOW if nearest is None else Decimal(nearest)
        number = exact_number(raw)
        return UnknownReason.OVERFLOW if number is None else number
    if kind is ValueKind.BOOLEAN and raw is not None:
        return _BOOLEAN[raw]
    if kind is ValueKind.MISSING:
        return UnknownReason.COMPONENT_MISSING_VALUE
    if kind is ValueKind.NOT_FINITE:
        return UnknownReason.COMPONENT_NOT_FINITE
    return UnknownReason.COMPONENT_NOT_A_NUMBER


class SourceTotals:
    """What is known of the rows of one subject in one source.

    `accumulated` has one running value per aggregate of the source: a Decimal (sum, min, max), a set of raw texts
    (count distinct), None where the row count is all that is needed; without meaning once there is a fault.
    """

    __slots__ = ("accumulated", "fault", "rows")

    def __init__(self, size: int) -> None:
        self.rows = 0
        self.fault: UnknownReason | None = None
        self.accumulated: list[Any] = [None] * size

    def copy(self) -> SourceTotals:
        """Return totals that can go on without changing these."""
        twin = SourceTotals(0)
        twin.rows, twin.fault = self.rows, self.fault
        twin.accumulated = [set(value) if isinstance(value, set) else value for value in self.accumulated]
        return twin

    def note(self, fault: UnknownReason) -> None:
        """Keep a fault if it comes before the one kept so far; sums are useless from here on."""
        if self.fault is None or _RANK[fault] < _RANK[self.fault]:
            self.fault = fault


class SubjectTotals:
    """What is known of the component rows of one subject: totals per source, row count, digest."""

    __slots__ = ("_digest", "rows", "sources")

    def __init__(self) -> None:
        self.rows = 0
        self.sources: dict[str, SourceTotals] = {}
        self._digest = hashlib.sha256()

    def digest_row(self, line: bytes) -> None:
        """Add one row to the running digest; rows are separated by line feeds."""
        self._digest.update(b"\n" + line if self.rows else line)
        self.rows += 1

    def copy(self) -> SubjectTotals:
        """Return totals that can go on without changing these."""
        twin = SubjectTotals()
        twin.rows, twin._digest = self.rows, self._digest.copy()
        twin.sources = {name: totals.copy() for name, totals in self.sources.items()}
        return twin

    @property
    def digest(self) -> str:
        """components_digest of the rows so far."""
        return self._digest.hexdigest()


class Totals:
    """Totals of all subjects for one formula; rows must come ordered by source and line."""

    def __init__(self, formula: Formula, data_type: DataType) -> None:
        self.subjects: dict[str, SubjectTotals] = {}
        self._formula, self._data_type = formula, data_type
        self._readers = {source: _SourceReader(formula, source, data_type) for source in formula.sources}
        self._last = ("", 0)

    def copy_of(self, subject: str | None) -> Totals:
        """Return totals of one subject alone that can go on, with rows of any place, without changing these."""
        twin = Totals(self._formula, self._data_type)
        if subject is not None and subject in self.subjects:
            twin.subjects[subject] = self.subjects[subject].copy()
        return twin

    def add(self, row: ComponentRow) -> None:
        """Add one row; rows of sources the formula does not read are passed over.

        Raises:
            ValueError: the rows are not ordered by source and line, so the digest would depend on their order.
        """
        reader = self._readers.get(row.source)
        if reader is None:
            return
        position = (row.source, row.line or 0)
        if position < self._last:
            raise ValueError(f"component rows out of order: {position} after {self._last}; sort by source and line")
        self._last = position
        subject = self.subjects.get(row.subject)
        if subject is None:
            subject = self.subjects[row.subject] = SubjectTotals()
        subject.digest_row(reader.digest_line(row))
        totals = subject.sources.get(row.source)
        if totals is None:
            totals = subject.sources[row.source] = SourceTotals(len(reader.aggregates))
        reader.add(totals, row.values)


class _SourceReader:
    """How the rows of one source are read for one formula: which columns, which of them as numbers, what is kept."""

    def __init__(self, formula: Formula, source: str, data_type: DataType) -> None:
        self.aggregates = formula.by_source[source]
        self._source = source
        self._data_type = data_type
        self._columns = tuple(c.name for c in formula.columns if c.source == source and c.name != ALL_ROWS)
        self._numeric = formula.numeric_columns(source)
        steps = ((index, _step(aggregate)) for index, aggregate in enumerate(self.aggregates))
        self._steps = [(index, step) for index, step in steps if step is not None]

    def digest_line(self, row: ComponentRow) -> bytes:
        """Return ``[source, line, raw text of each named column by name]`` as canonical JSON."""
        values = row.values
        texts = [values.get(name, MISSING).raw for name in self._columns]
        return canonical_array([self._source, row.line, *texts])

    def add(self, totals: SourceTotals, values: Mapping[str, Value]) -> None:
        """Add one row to the totals of its subject."""
        totals.rows += 1
        numbers: dict[str, Decimal] = {}
        for name in self._columns:
            value = values.get(name, MISSING)
            if name in self._numeric:
                number = component_number(value, self._data_type)
                if isinstance(number, Decimal):
                    numbers[name] = number
                else:
                    totals.note(number)
            elif value.kind is ValueKind.MISSING:
                totals.note(UnknownReason.COMPONENT_MISSING_VALUE)
        if totals.fault is None:
            for index, step in self._steps:
                totals.accumulated[index] = step(totals.accumulated[index], numbers, values)


def _step(aggregate: Aggregate) -> Step | None:
    """What one row does to the running value of an aggregate; None when the row count is all it needs."""
    match aggregate.function:
        case Function.SUM | Function.AVG:
            return _folded(aggregate, EXACT.add)
        case Function.MIN:
            return _folded(aggregate, min)
        case Function.MAX:
            return _folded(aggregate, max)
        case Function.COUNT_DISTINCT if isinstance(aggregate.argument, Column):
            return _collected(aggregate.argument.name)
    return None


def _folded(aggregate: Aggregate, fold: Callable[[Decimal, Decimal], Decimal]) -> Step:
    assert aggregate.argument is not None
    value_of = _compiled(aggregate.argument)

    def step(before: Any, numbers: Numbers, _values: Mapping[str, Value]) -> Decimal:
        value = value_of(numbers)
        return value if before is None else fold(before, value)

    return step


def _collected(name: str) -> Step:
    def step(before: Any, _numbers: Numbers, values: Mapping[str, Value]) -> set[str | None]:
        seen: set[str | None] = set() if before is None else before
        seen.add(values[name].raw)
        return seen

    return step


def _compiled(node: Expression) -> Callable[[Numbers], Decimal]:
    """The row expression as a function of the numbers of a row; exact, whatever the digits."""
    match node:
        case Column(_, name):
            return itemgetter(name)
        case Number(value):
            return lambda _numbers: value
        case Negation(operand):
            inner = _compiled(operand)
            return lambda numbers: inner(numbers).copy_negate()
        case Arithmetic(operator, left, right):
            operation, first, second = _OPERATIONS[operator], _compiled(left), _compiled(right)
            return lambda numbers: operation(first(numbers), second(numbers))
    raise TypeError(f"{type(node).__name__} cannot stand inside an aggregate")
