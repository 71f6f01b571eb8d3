"""The computed side: what an expression gives for one subject, exactly, or why nobody knows.

What belongs here: evaluation over totals, the order of its reasons, the one rounding at the end. What does not:
adding up rows (`crosscheck.aggregate`) and comparing (`strict.comparison`).

Source: spec/crosscheck.md §11 (evaluation).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from governance_pipeline.crosscheck.aggregate import COMPONENT_FAULTS
from governance_pipeline.crosscheck.check import NoComponents
from governance_pipeline.crosscheck.formula import (
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
from governance_pipeline.strict.comparison import Side
from governance_pipeline.strict.numbers import exact_decimal, half_even, nearest_binary64
from governance_pipeline.vocabulary import DataType, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.crosscheck.aggregate import SourceTotals, SubjectTotals
    from governance_pipeline.crosscheck.check import Check

_ZERO_WHEN_EMPTY = {Function.SUM, Function.COUNT, Function.COUNT_ROWS, Function.COUNT_DISTINCT}


def computed_side(check: Check, totals: SubjectTotals | None, incomplete: frozenset[str]) -> Side:
    """Evaluate the formula of a check for one subject.

    Args:
        check: gives formula, data type and what no components mean.
        totals: the components of the subject; None when it has none at all.
        incomplete: sources that hold a quarantined row, which may belong to anybody.

    Returns:
        The number, or the first reason that applies: components_incomplete, components_missing, the worst fault of
        a component, division_by_zero, overflow.
    """
    formula = check.formula
    if formula.sources & incomplete:
        return Side(None, UnknownReason.COMPONENTS_INCOMPLETE)
    sources = {} if totals is None else totals.sources
    faults = {part.fault for part in sources.values()}
    values = _aggregate_values(formula, sources, zero=check.no_components is NoComponents.ZERO)
    if values is None:
        return Side(None, UnknownReason.COMPONENTS_MISSING)
    for fault in COMPONENT_FAULTS:
        if fault in faults:
            return Side(None, fault)
    try:
        result = _value(formula.root, values)
    except ZeroDivisionError:
        return Side(None, UnknownReason.DIVISION_BY_ZERO)
    return _rounded(result, check)


def _rounded(result: Fraction, check: Check) -> Side:
    if check.data_type is DataType.FLOAT:
        number = nearest_binary64(result)
    elif check.formula.divides:
        number = half_even(result)
    else:
        number = exact_decimal(result)
    return Side(None, UnknownReason.OVERFLOW) if number is None else Side(number)


def _aggregate_values(
    formula: Formula, sources: Mapping[str, SourceTotals], *, zero: bool
) -> dict[Aggregate, Fraction] | None:
    """The value of every aggregate; None when a source has no rows and that is not a zero."""
    values: dict[Aggregate, Fraction] = {}
    for name, aggregates in formula.by_source.items():
        totals = sources.get(name)
        for index, aggregate in enumerate(aggregates):
            if totals is not None:
                values[aggregate] = _aggregate_value(aggregate, totals, index)
            elif zero and aggregate.function in _ZERO_WHEN_EMPTY:
                values[aggregate] = Fraction(0)
            else:
                return None
    return values


def _aggregate_value(aggregate: Aggregate, totals: SourceTotals, index: int) -> Fraction:
    if totals.fault is not None:
        return Fraction(0)  # never shown: the fault is
    match aggregate.function:
        case Function.COUNT_ROWS | Function.COUNT:
            return Fraction(totals.rows)
        case Function.COUNT_DISTINCT:
            return Fraction(len(totals.accumulated[index]))
        case Function.AVG:
            return Fraction(totals.accumulated[index]) / totals.rows
        case Function.SUM | Function.MIN | Function.MAX:
            return Fraction(totals.accumulated[index])


def _value(node: Expression, values: Mapping[Aggregate, Fraction]) -> Fraction:
    match node:
        case Number(value):
            return Fraction(value)
        case Aggregate():
            return values[node]
        case Negation(operand):
            return -_value(operand, values)
        case Arithmetic(operator, left, right):
            return _applied(operator, _value(left, values), _value(right, values))
        case Column():
            raise TypeError("a column has a value per row only; it stands inside an aggregate")


def _applied(operator: Operator, left: Fraction, right: Fraction) -> Fraction:
    match operator:
        case Operator.ADD:
            return left + right
        case Operator.SUBTRACT:
            return left - right
        case Operator.MULTIPLY:
            return left * right
        case Operator.DIVIDE:
            return left / right
