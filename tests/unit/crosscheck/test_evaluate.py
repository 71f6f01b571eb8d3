"""Claims about evaluation: any expression of the grammar gives what exact rational arithmetic gives, rounded once."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.aggregate import Totals
from governance_pipeline.crosscheck.check import NoComponents
from governance_pipeline.crosscheck.evaluate import computed_side
from governance_pipeline.crosscheck.formula import FormulaRefused, parse_formula
from governance_pipeline.crosscheck.rows import ComponentRow, Value
from governance_pipeline.strict.comparison import Side
from governance_pipeline.strict.numbers import exact_decimal, half_even
from governance_pipeline.vocabulary import DataType, UnknownReason, ValueKind

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, str]


@dataclass
class Twin:
    """Words of the grammar, and a plain function that says what they mean for rows (or for one row)."""

    text: str
    meaning: Callable[..., Fraction]


def literal(text: str) -> Twin:
    return Twin(text, lambda _rows: Fraction(text))


def column(name: str) -> Twin:
    return Twin(f"l.{name}", lambda row: Fraction(row[name]))


def negated(part: Twin) -> Twin:
    return Twin(f"(- {part.text})", lambda rows: -part.meaning(rows))


def joined(left: Twin, sign: str, right: Twin) -> Twin:
    apply = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[sign]
    return Twin(f"({left.text} {sign} {right.text})", lambda rows: apply(left.meaning(rows), right.meaning(rows)))


def folded(name: str, part: Twin) -> Twin:
    fold = {"sum": sum, "min": min, "max": max, "avg": lambda values: sum(values) / len(values)}[name]
    inner = joined(column("a"), "*", part)
    return Twin(f"{name}({inner.text})", lambda rows: fold([inner.meaning(row) for row in rows]))


COUNTS = [
    Twin("count(*)", lambda rows: Fraction(len(rows))),
    Twin("count(l.a)", lambda rows: Fraction(len(rows))),
    Twin("count(distinct l.b)", lambda rows: Fraction(len({row["b"] for row in rows}))),
]
LITERALS = st.sampled_from(["2", "0.5", "1e1", "0", "3", "100.0"]).map(literal)
INSIDE = st.recursive(
    st.sampled_from("ab").map(column) | LITERALS,
    lambda part: st.builds(joined, part, st.sampled_from("+-*"), part) | part.map(negated),
    max_leaves=5,
)
OUTSIDE = st.recursive(
    st.builds(folded, st.sampled_from(["sum", "min", "max", "avg"]), INSIDE) | st.sampled_from(COUNTS) | LITERALS,
    lambda part: st.builds(joined, part, st.sampled_from("+-*/"), part) | part.map(negated),
    max_leaves=5,
)
NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?", fullmatch=True)
ROWS = st.lists(st.fixed_dictionaries({"a": NUMBERS, "b": NUMBERS}), min_size=1, max_size=5)


def computed(text: str, rows: list[Row], data_type: DataType) -> Side:
    formula = parse_formula(text, "l")
    totals = Totals(formula, data_type)
    for line, row in enumerate(rows, 1):
        values = {name: Value(ValueKind.NUMBER, raw) for name, raw in row.items()}
        totals.add(ComponentRow("A", "l", line, values))
    check = CheckParts(formula, data_type)
    return computed_side(check, totals.subjects["A"], frozenset())  # type: ignore[arg-type]


@dataclass
class CheckParts:
    """The parts of a check that evaluation looks at."""

    formula: object
    data_type: DataType
    no_components: NoComponents = NoComponents.UNVERIFIABLE


@settings(deadline=None)
@given(OUTSIDE, ROWS)
def test_an_exact_type_gives_the_rational_result_rounded_only_when_it_divides(twin, rows):
    try:
        side = computed(twin.text, rows, DataType.CURRENCY)
    except FormulaRefused as refusal:
        assert [code for code, _ in refusal.faults] == ["no_components"]  # noqa: PT017 - a constant was drawn
        return
    try:
        result = twin.meaning(rows)
    except ZeroDivisionError:
        assert side == Side(None, UnknownReason.DIVISION_BY_ZERO)
        return
    number = half_even(result) if parse_formula(twin.text, "l").divides else exact_decimal(result)
    assert side == (Side(None, UnknownReason.OVERFLOW) if number is None else Side(number))


@settings(deadline=None)
@given(OUTSIDE, ROWS)
def test_a_float_is_the_binary64_nearest_to_the_exact_result_of_its_binary64_parts(twin, rows):
    # + 0.0 makes -0.0 into 0.0: distinct counts raw texts, of which one number would then have two.
    binary = [{name: repr(float(raw) + 0.0) for name, raw in row.items()} for row in rows]
    exact = [{name: str(Fraction(float(raw))) for name, raw in row.items()} for row in binary]
    try:
        side = computed(twin.text, binary, DataType.FLOAT)
        result = twin.meaning(exact)
    except (FormulaRefused, ZeroDivisionError):
        return
    assert side.value is not None
    assert float(side.value) == float(result)
