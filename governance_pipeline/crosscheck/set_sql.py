"""Statements of the set-based path: totals, verdicts and digests of many subjects in one pass, exactly.

What belongs here: which checks SQL can decide, and the SQL. What does not: running it (`crosscheck.set_records`).

SQL decides a subject only where every step is exact: integers and decimals of at most 18 digits are summed in 128
bits; a float is a whole multiple of the smallest unit in its column, so its sum is one of integers too, rounded once.
Whatever is missing, not finite, repeated, near epsilon or out of these bounds is left to the row-wise engine.
"""

# ruff: noqa: S608 - statements are built of positions, numbers and quoted literals; no text of a file is part of one

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from typing import TYPE_CHECKING, Final

from governance_pipeline.crosscheck.digest_text import canonical_array
from governance_pipeline.crosscheck.formula import Aggregate, Column, Function
from governance_pipeline.strict.numbers import EXACT, canonical
from governance_pipeline.strict.sql_session import literal
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from decimal import Decimal

    from governance_pipeline.crosscheck.check import Check

INTEGERS: Final = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_DECIMAL: Final = re.compile(r"DECIMAL\(([0-9]+),([0-9]+)\)")
_MOST_DIGITS: Final = 18
"""Digits of a decimal whose sums over any number of rows fit 38."""

_FLOAT_PLACES: Final = 20
_AGGREGATES: Final = {
    Function.SUM: "sum", Function.MIN: "min", Function.MAX: "max",
    Function.COUNT: "count", Function.COUNT_ROWS: "count",
}  # fmt: skip
_HUGEINT_BITS: Final = 126
_ROWS_BITS: Final = 34
_MANTISSA_BITS: Final = 52
_LARGEST_SCALE: Final = 900
_PLAIN: Final = (1e-3, 1e15)
"""Floats whose shortest decimal is written without an exponent and has at most 20 digits after the point."""


@dataclass(frozen=True, slots=True)
class SetPlan:
    """What the SQL of one check depends on.

    Attributes:
        check: the check; its formula is one aggregate of one column, or of none.
        aggregate: that aggregate.
        declared_type: SQL type of the declared column.
        component_type: SQL type of the component column; None when only rows are counted.
        epsilon: the tolerance, the same for every declared value.
        scale: for floats, the power of two that makes every component a whole number.
    """

    check: Check
    aggregate: Aggregate
    declared_type: str
    component_type: str | None
    epsilon: Decimal
    scale: int = 0

    @property
    def is_float(self) -> bool:
        """Whether both sides are binary floats."""
        return self.check.data_type is DataType.FLOAT


def aggregate_of(check: Check) -> Aggregate | None:
    """Return the one aggregate of a formula SQL can evaluate; None for any other formula."""
    root = check.formula.root
    if not isinstance(root, Aggregate) or root.function not in _AGGREGATES or check.epsilon_relative is not None:
        return None
    return root if root.argument is None or isinstance(root.argument, Column) else None


def decimals_of(sql_type: str) -> int | None:
    """Return the digits after the point of an exact type SQL can add up; None for any other type."""
    if sql_type in INTEGERS:
        return 0
    match = _DECIMAL.fullmatch(sql_type)
    return int(match[2]) if match and match[1] != match[2] else None


def is_summable(sql_type: str) -> bool:
    """Whether sums of an exact type fit 128 bits, whatever the rows."""
    match = _DECIMAL.fullmatch(sql_type)
    return sql_type in INTEGERS or (match is not None and match[1] != match[2] and int(match[1]) <= _MOST_DIGITS)


def fixed_point_scale(least: float | None, most: float | None) -> int | None:
    """Return k so that every float of a column times 2^k is whole and sums fit 128 bits; None when there is none."""
    if not most or not least or not math.isfinite(most):
        return 0 if most == 0 else None
    scale = max(_MANTISSA_BITS - math.frexp(least)[1] + 1, 0)
    if math.frexp(most)[1] + scale + _ROWS_BITS > _HUGEINT_BITS or scale > _LARGEST_SCALE:
        return None
    return scale


def plain_extremes_sql(relation: str) -> str:
    """SELECT of the smallest and largest size of the floats SQL can add up, zero left out of the first."""
    plain = f"FROM {relation} WHERE {_is_plain('cell')}"
    return f"SELECT min(abs(cell)) FILTER (cell <> 0), coalesce(max(abs(cell)), 0) {plain}"


def totals_sql(plan: SetPlan, scan: str, part: str) -> str:
    """SELECT with one row per subject: key, n, value, unusable (rows that SQL cannot add)."""
    value, unusable = "count(*)", "0"
    if plan.component_type is not None:
        value, unusable = f"{_AGGREGATES[plan.aggregate.function]}(cell)", "count(*) - count(cell)"
    if plan.component_type == "DOUBLE":
        unusable += f" + count(*) FILTER (NOT ({_is_plain('cell')}))"
        if plan.aggregate.function is Function.SUM:
            # A value that is not plain is counted as unusable; it must not overflow the cast before that is seen.
            scaled = f"(cell * {2.0**plan.scale!r}::DOUBLE)::HUGEINT"
            value = f"sum(CASE WHEN {_is_plain('cell')} THEN {scaled} ELSE 0 END)"
    return f"SELECT key, count(*) AS n, {value} AS value, {unusable} AS unusable FROM {scan} WHERE {part} GROUP BY key"


def lines_sql(plan: SetPlan, scan: str, part: str) -> str:
    """SELECT of key and text: what the digest of a subject is made of, a line feed first, ordered by key and line."""
    head = literal(chr(10) + canonical_array([plan.aggregate.source]).decode()[:-1] + ",")
    cell = "']'"
    if plan.component_type is not None:
        cell = f"""',"', {_number_text("cell", plan.component_type)}, '"]'"""
    # Sorted before the texts are made: numbers are far smaller.
    rows = f"SELECT key, line, cell FROM {scan} WHERE {part} ORDER BY key, line"
    return f"SELECT key, concat({head}, line, {cell}) AS text FROM ({rows})"


def judged_sql(plan: SetPlan, declared: str = "declared") -> str:
    """SELECT over `declared` (key, line, total, m) and `totals`: texts of both numbers, delta, whether SQL decides."""
    computed, number = _computed(plan)
    usable = ["m = 1", "n > 0", "unusable = 0", "total IS NOT NULL", _is_text_plain("subject")]
    first, second = "total", "number"
    if plan.is_float:
        usable += [_is_plain("total"), _is_plain("number")]
        kind = f"DECIMAL(38, {_FLOAT_PLACES})"
        first, second = (f"CASE WHEN easy THEN {name}_text::{kind} END" for name in ("total", "number"))
    delta = f"CASE WHEN easy THEN {first} - {second} END"
    texts = {"total": plan.declared_type, "number": computed}
    spelled = ", ".join(f"{_number_text(name, kind)} AS {name}_text" for name, kind in texts.items())
    return f"""
      SELECT *, total_text AS declared_raw, {_canonical_text("total_text", plan.declared_type)} AS declared,
        {_canonical_text("number_text", computed)} AS computed, {_without_zeros("difference::VARCHAR")} AS delta,
        abs(difference) > {_epsilon(plan, computed)} AS mismatch
      FROM (SELECT *, {delta} AS difference
        FROM (SELECT *, {spelled}, coalesce({" AND ".join(usable)}, false) AS easy
          FROM (SELECT *, {number} AS number, key::VARCHAR AS subject FROM {declared} FULL JOIN totals USING (key))))"""


def verdict_sql(plan: SetPlan) -> str:
    """SELECT over `declared` and `totals`: key, both numbers, the flag, and whether SQL decides; no texts are made."""
    computed, number = _computed(plan)
    usable = ["m = 1", "n > 0", "unusable = 0", "total IS NOT NULL"]
    beyond = f"abs(total - number) > {_epsilon(plan, computed)}"
    if plan.is_float:
        usable += [_is_plain("total"), _is_plain("number"), _is_clear(plan)]
        beyond = f"abs(total - number) > {float(plan.epsilon)!r}"
    return f"""
      SELECT key, total, number, n, {beyond} AS mismatch, coalesce({" AND ".join(usable)}, false) AS easy
      FROM (SELECT *, {number} AS number FROM declared FULL JOIN totals USING (key))"""


def _is_clear(plan: SetPlan) -> str:
    """SQL: the difference of two floats is so far from epsilon that rounding it cannot turn the flag.

    The difference of two binary64 is rounded once, their shortest decimals lie within half a unit of each of them:
    together less than four units in the last place of the larger, of 2^-52 each.
    """
    error = f"{2.0**-50!r} * greatest(abs(total), abs(number), {float(plan.epsilon)!r})"
    return f"abs(abs(total - number) - {float(plan.epsilon)!r}) > {error}"


def _epsilon(plan: SetPlan, computed: str) -> str:
    """A delta is a multiple of its last digit, so it is beyond epsilon iff it is beyond epsilon cut to that digit."""
    places = _FLOAT_PLACES if plan.is_float else max(decimals_of(t) or 0 for t in (plan.declared_type, computed))
    cut = EXACT.scaleb(EXACT.scaleb(plan.epsilon, places).to_integral_value(ROUND_FLOOR), -places)
    return f"{literal(canonical(cut))}::DECIMAL(38, {places})"


def _computed(plan: SetPlan) -> tuple[str, str]:
    """SQL type of the computed number, and the number out of the totals."""
    counts = plan.aggregate.function in {Function.COUNT, Function.COUNT_ROWS}
    if plan.is_float and plan.aggregate.function is Function.SUM:
        return "DOUBLE", _nearest_double("value", plan.scale)
    if plan.is_float:
        return "DOUBLE", "value"
    if counts or plan.component_type in INTEGERS:
        return "BIGINT", "value::DECIMAL(38, 0)"
    scale = decimals_of(plan.component_type or "")
    return f"DECIMAL(38,{scale})", f"value::DECIMAL(38, {scale})"


def _nearest_double(value: str, scale: int) -> str:
    """The binary64 nearest to value / 2^scale, rounded once.

    Below 2^104 two halves of 52 bits are binary64 themselves and their sum is rounded once; above, 61 leading bits and
    a sticky one are, by the cast.
    """
    halves = f"(({value} >> 52)::BIGINT::DOUBLE * {2.0**52!r} + ({value} & {2**52 - 1})::BIGINT::DOUBLE)"
    size = f"abs({value})"
    excess = f"greatest(0, floor(log2(greatest({size}, 1)::DOUBLE))::INTEGER - 60)"
    power = f"(2::HUGEINT ** {excess})::HUGEINT"
    kept = f"(({size} // {power})::BIGINT | (CASE WHEN {size} % {power} = 0 THEN 0 ELSE 1 END))"
    large = f"(sign({value}) * {kept}::DOUBLE * (2.0::DOUBLE ** ({excess} - {scale})))"
    return f"(CASE WHEN {size} < {2**104} THEN {halves} * {2.0**-scale!r}::DOUBLE ELSE {large} END)"


def _is_plain(cell: str) -> str:
    """SQL: a float SQL can spell; minus zero is spelled unlike zero and is left out."""
    least, most = _PLAIN
    return f"(({cell} = 0 AND NOT signbit({cell})) OR (abs({cell}) >= {least!r} AND abs({cell}) < {most!r}))"


def _is_text_plain(cell: str) -> str:
    """SQL: a subject whose JSON form needs no escape but those of quote and backslash, which are left out too."""
    return f"NOT regexp_matches({cell}, {literal(_ESCAPED)})"


_ESCAPED: Final = '[\\x00-\\x1f"\\\\]'


def _number_text(cell: str, sql_type: str) -> str:
    """Raw text of a binary cell: as stored for exact types, shortest and without a final ``.0`` for floats."""
    text = f"({cell}::VARCHAR)"
    return f"if(ends_with({text}, '.0'), {text}[:-3], {text})" if sql_type == "DOUBLE" else text


def _canonical_text(text: str, sql_type: str) -> str:
    """A raw text of this type with no zero at its end; that of a float has none."""
    return text if sql_type in INTEGERS or sql_type == "DOUBLE" else _without_zeros(text)


def _without_zeros(text: str) -> str:
    return f"CASE WHEN contains({text}, '.') THEN rtrim(rtrim({text}, '0'), '.') ELSE {text} END"
