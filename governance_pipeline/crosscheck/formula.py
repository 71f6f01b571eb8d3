"""The recompute expression: text in, a small typed tree out, everything else refused.

What belongs here: the grammar of spec/crosscheck.md §11 and the names an expression reads. What does not: whether
those names are independent of what is declared (`crosscheck.independence`) and what they evaluate to
(`crosscheck.evaluate`).

sqlglot parses; the tree is then rebuilt from a closed list of nodes, and the words of the rebuilt tree must be the
words of the text, one by one. What the parser drops or folds without a word (a unary plus, ALL, a hint, a second
statement) therefore cannot pass: what is evaluated is exactly what was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from governance_pipeline.errors import UsageError
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

ALL_ROWS = "*"
"""Stands for the column of ``count(*)``, which names none."""

_OUTSIDE_QUOTES = re.compile(r"""("(?:[^"]|"")*"|'(?:[^']|'')*')|\s+""")


class Function(StrEnum):
    """Aggregates an expression may use."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"
    AVG = "avg"
    COUNT_ROWS = "count(*)"
    COUNT = "count"
    COUNT_DISTINCT = "count distinct"


_COUNTED = {Function.COUNT, Function.COUNT_DISTINCT}


class Operator(StrEnum):
    """Arithmetic an expression may use; division stands outside aggregates."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, exact."""

    value: Decimal


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a component source; only inside an aggregate."""

    source: str
    name: str


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the rows of one source; `argument` is None for ``count(*)``."""

    function: Function
    source: str
    argument: Expression | None


@dataclass(frozen=True, slots=True)
class Negation:
    """Unary minus."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two operands and what joins them."""

    operator: Operator
    left: Expression
    right: Expression


Expression = Number | Column | Aggregate | Negation | Arithmetic


class FormulaRefused(UsageError):  # noqa: N818 - a refusal is data more often than a failure
    """An expression that is not in the grammar; `faults` holds (load code, message) of each fault."""

    def __init__(self, text: str, faults: list[tuple[str, str]]) -> None:
        self.faults = faults
        super().__init__(f"recompute {excerpt(text, 80)}: " + "; ".join(f"{code}: {why}" for code, why in faults))


@dataclass(frozen=True)
class Formula:
    """A parsed expression; what follows from its tree is worked out once.

    Attributes:
        text: the expression, ends trimmed, whitespace runs outside quotes as one space.
        root: its tree.
    """

    text: str
    root: Expression

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the text: the identity of a formula in records."""
        return sha256_hex(self.text.encode())

    @cached_property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """Each aggregate once, in order of appearance."""
        return tuple(dict.fromkeys(node for node in _nodes(self.root) if isinstance(node, Aggregate)))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Each component read, sorted by source and name; the column of ``count(*)`` is ``*``."""
        named = {node for node in _nodes(self.root) if isinstance(node, Column)}
        rows = {Column(a.source, ALL_ROWS) for a in self.aggregates if a.function is Function.COUNT_ROWS}
        return tuple(sorted(named | rows, key=lambda column: (column.source, column.name)))

    @cached_property
    def by_source(self) -> dict[str, tuple[Aggregate, ...]]:
        """The aggregates of each component source, in the order their totals are kept."""
        sources = dict.fromkeys(aggregate.source for aggregate in self.aggregates)
        return {name: tuple(a for a in self.aggregates if a.source == name) for name in sources}

    @cached_property
    def sources(self) -> frozenset[str]:
        """Names of the component sources it reads."""
        return frozenset(self.by_source)

    def numeric_columns(self, source: str) -> frozenset[str]:
        """Columns of a source that are read as numbers; the others are only counted."""
        aggregates = (a for a in self.by_source[source] if a.function not in _COUNTED)
        nodes = (node for aggregate in aggregates for node in _nodes(aggregate))
        return frozenset(node.name for node in nodes if isinstance(node, Column))

    @cached_property
    def divides(self) -> bool:
        """Whether the result can have no end of decimals and is rounded once, at the end."""
        return any(
            (isinstance(node, Arithmetic) and node.operator is Operator.DIVIDE)
            or (isinstance(node, Aggregate) and node.function is Function.AVG)
            for node in _nodes(self.root)
        )


def normalised(text: str) -> str:
    """Return an expression with its ends trimmed and whitespace runs outside quotes as one space."""
    return _OUTSIDE_QUOTES.sub(lambda match: match[1] or " ", text).strip()


def parse_formula(text: str, only_source: str | None = None) -> Formula:
    """Parse one recompute expression.

    Args:
        text: the expression as written.
        only_source: the component source whose rows ``count(*)`` counts when the expression names no source.

    Raises:
        FormulaRefused: with one of the codes recompute_syntax, recompute_forbidden, or with all that apply of
            recompute_not_aggregate, recompute_unqualified, recompute_mixed_sources, no_components.
    """
    # sqlglot costs a fifth of a second to import; records and reports need the tree, not the parser.
    from governance_pipeline.crosscheck.formula_parser import parse_expression

    text = normalised(text)
    return Formula(text, parse_expression(text, only_source))


def _nodes(node: Expression) -> Iterator[Expression]:
    yield node
    match node:
        case Negation(operand):
            yield from _nodes(operand)
        case Arithmetic(_, left, right):
            yield from _nodes(left)
            yield from _nodes(right)
        case Aggregate(_, _, argument) if argument is not None:
            yield from _nodes(argument)
