"""When two cells of a column are the same value, as an SQL expression of exact comparisons.

What belongs here: equality across types, and tolerances. What does not: which rows belong together
(`crosscheck.dataset_diff_join`). DuckDB compares BIGINT with DOUBLE, and HUGEINT with UHUGEINT, as DOUBLE, so that
2^53 + 1 equals 2^53 (research/performance.md, pitfalls): columns of two types are never left to its own casts.

Same type: the same value; null is a value of its own, NaN is NaN, and 0.0 is -0.0. Numbers of two types: the same exact
value, where a DOUBLE beside a DECIMAL stands for its shortest decimal. Text beside a number: the number it spells.
Anything else: the same text.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.numbers import EXACT, ZERO, canonical, exact_number, is_number
from governance_pipeline.strict.sql_session import literal

BEYOND: Final = "beyond_tolerance"
"""SQL name of `is_beyond`."""

_INTEGERS: Final = {
    f"{sign}{width}": digits
    for sign in ("", "U")
    for width, digits in (("TINYINT", 3), ("SMALLINT", 5), ("INTEGER", 10), ("BIGINT", 20), ("HUGEINT", 39))
}
"""Integer types and the digits they may have at most."""

_DECIMAL_DIGITS: Final = 38
"""Digits of DuckDB's widest DECIMAL."""

_DECIMAL: Final = re.compile(r"DECIMAL\(([0-9]+),([0-9]+)\)")
_EQUATED: Final = re.compile("INTERVAL|TIME WITH TIME ZONE")
"""Types with two spellings of what DuckDB takes as one: 1 month and 30 days, 10:00+00 and 11:00+01."""

_NESTED: Final = ("STRUCT(", "MAP(", "UNION(", "VARIANT")
_PLAIN_NUMBER: Final = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?"
_NUMBER: Final = _PLAIN_NUMBER + r"([eE][+-]?[0-9]+)?"
_NOT_FINITE: Final = r"[+-]?(nan|inf|infinity)"
_LARGEST_EXPONENT: Final = 400
"""Beyond the largest binary64; a text that spells a longer number is within no tolerance."""


class Family(StrEnum):
    """What kind of values a column has, as far as comparing goes."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    NESTED = "nested"
    OTHER = "other"


_MEASURED: Final = {Family.INTEGER, Family.DECIMAL, Family.FLOAT, Family.TEXT}
_EXACT: Final = {Family.INTEGER, Family.DECIMAL}


class Tolerance(NamedTuple):
    """How far two values of one column may lie apart, in its unit, and why that is no difference."""

    column: str
    epsilon: Decimal
    reason: str


def tolerance(column: str, epsilon: str, reason: str) -> Tolerance:
    """Return a tolerance.

    Args:
        column: name of a column that is no key.
        epsilon: exact number of the JSON grammar, 0 or more, in the unit of the column.
        reason: why values so close are the same; mandatory.

    Raises:
        UsageError: the reason is blank, or epsilon is no such number.
    """
    value = exact_number(epsilon) if is_number(epsilon) else None
    where = f"tolerance of column {excerpt(column, 60)}"
    if value is None or value < ZERO:
        raise UsageError(f"{where}: {excerpt(epsilon, 40)} is not an exact number of 0 or more, such as 0.005")
    if not reason.strip():
        raise UsageError(f"{where} has no reason; say why values {canonical(value)} apart are the same")
    return Tolerance(column, value, reason.strip())


def family(sql_type: str) -> Family:
    """Return the family of an SQL type as DuckDB names it."""
    if sql_type.endswith("]") or sql_type.startswith(_NESTED):
        return Family.NESTED
    if sql_type in _INTEGERS:
        return Family.INTEGER
    if sql_type.startswith("DECIMAL("):
        return Family.DECIMAL
    if sql_type in {"FLOAT", "DOUBLE"}:
        return Family.FLOAT
    return Family.TEXT if sql_type == "VARCHAR" or sql_type.startswith("ENUM(") else Family.OTHER


def differs(old: str, old_type: str, new: str, new_type: str) -> str:
    """Return SQL that is true where two cells are different values, never null."""
    if old_type == new_type and _EQUATED.search(old_type):
        return f"({old}::VARCHAR IS DISTINCT FROM {new}::VARCHAR)"
    if old_type == new_type:
        return f"({old} IS DISTINCT FROM {new})"
    cells = {family(old_type): (old, old_type), family(new_type): (new, new_type)}
    if set(cells) == {Family.FLOAT}:  # FLOAT beside DOUBLE: widening is exact
        return f"({old}::DOUBLE IS DISTINCT FROM {new}::DOUBLE)"
    same = _same(old, old_type, new, new_type, cells)
    return f"CASE WHEN {old} IS NULL OR {new} IS NULL THEN ({old} IS NULL) <> ({new} IS NULL) ELSE NOT ({same}) END"


def told_apart(cell: str, sql_type: str) -> str:
    """Return the cell in a form whose hash tells apart what `differs` does within one type."""
    return f"{cell}::VARCHAR" if _EQUATED.search(sql_type) else cell


def beyond(old: str, old_type: str, new: str, new_type: str, allowed: Tolerance) -> str:
    """Return SQL that is true where two cells are different values further apart than a tolerance, never null.

    Raises:
        UsageError: a side of the column holds neither numbers nor text.
    """
    if not {family(old_type), family(new_type)} <= _MEASURED:
        raise UsageError(
            f"column {excerpt(allowed.column, 60)} is {excerpt(old_type, 40)} and {excerpt(new_type, 40)}: "
            "only numbers have a tolerance; leave it out"
        )
    call = f"{BEYOND}({_text(old, old_type)}, {_text(new, new_type)}, {literal(canonical(allowed.epsilon))})"
    return (
        f"CASE WHEN {old} IS NULL OR {new} IS NULL THEN ({old} IS NULL) <> ({new} IS NULL) "
        f"WHEN NOT {differs(old, old_type, new, new_type)} THEN false ELSE {call} END"
    )


def is_beyond(old: str, new: str, epsilon: str) -> bool:
    """Tell whether two spelled values lie further apart than epsilon, strictly and exactly; what is no number does.

    A float is its shortest decimal, as everywhere: 0.305 and 0.3 are 0.005 apart (spec/crosscheck.md §11).
    """
    first, second = _number(old), _number(new)
    if first is None or second is None:
        return True
    return EXACT.subtract(first, second).copy_abs() > Decimal(epsilon)


def _number(text: str) -> Decimal | None:
    if len(text) > _LARGEST_EXPONENT or not is_number(text):
        return None
    value = Decimal(text)
    # Checked before any arithmetic: an exact difference with 1e999999999 would have as many digits.
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return value if -2 * _LARGEST_EXPONENT <= exponent <= _LARGEST_EXPONENT else None


def _same(old: str, old_type: str, new: str, new_type: str, cells: dict[Family, tuple[str, str]]) -> str:
    """SQL: two cells of different types, neither null, are the same value."""
    if set(cells) <= _EXACT:
        wide = _common_decimal(old_type, new_type)
        if wide is not None:
            return f"{old}::{wide} = {new}::{wide}"
        return f"{_exact_text(old, old_type)} = {_exact_text(new, new_type)}"
    if Family.FLOAT in cells:
        other = next(iter(cells.keys() - {Family.FLOAT}))
        spelled = _FLOAT_BESIDE.get(other)
        if spelled is not None:
            return spelled(*cells[Family.FLOAT], *cells[other])
    for kind in cells.keys() & _EXACT:
        if Family.TEXT in cells:
            return f"({_canonical_text(cells[Family.TEXT][0] + '::VARCHAR')} = {_exact_text(*cells[kind])}) IS TRUE"
    return f"{old}::VARCHAR = {new}::VARCHAR"


def _common_decimal(*types: str) -> str | None:
    """The DECIMAL that holds every value of some exact types; None when none is wide enough."""
    whole = scale = 0
    for sql_type in types:
        match = _DECIMAL.fullmatch(sql_type)
        digits, places = (int(match[1]), int(match[2])) if match else (_INTEGERS[sql_type], 0)
        whole, scale = max(whole, digits - places), max(scale, places)
    return f"DECIMAL({whole + scale},{scale})" if whole + scale <= _DECIMAL_DIGITS else None


def _text(cell: str, sql_type: str) -> str:
    """The text of a cell; DuckDB writes a DECIMAL(2,2) as ``.50``, which is no number of the JSON grammar."""
    text = f"{cell}::VARCHAR"
    match = _DECIMAL.fullmatch(sql_type)
    if match is None or match[1] != match[2]:
        return text
    return rf"regexp_replace({text}, '^(-?)\.', '\10.')"


def _exact_text(cell: str, sql_type: str) -> str:
    """Canonical lexeme of an integer or decimal."""
    text = _text(cell, sql_type)
    return text if family(sql_type) is Family.INTEGER or sql_type.endswith(",0)") else _without_zeros(text)


def _canonical_text(text: str) -> str:
    """Canonical lexeme of a text that spells a number without an exponent; null for any other text."""
    number = f"CASE WHEN contains({text}, '.') THEN {_without_zeros(text)} ELSE {text} END"
    plain = f"regexp_full_match({text}, {literal(_PLAIN_NUMBER)})"
    return f"CASE WHEN {plain} THEN CASE {number} WHEN '-0' THEN '0' ELSE {number} END END"


def _without_zeros(text: str) -> str:
    return f"rtrim(rtrim({text}, '0'), '.')"


def _float_beside_integer(cell: str, _sql_type: str, integer: str, _integer_type: str) -> str:
    number = f"{cell}::DOUBLE"
    # The cast to HUGEINT is exact for a whole number within its range, and is not reached otherwise.
    whole = f"isfinite({number}) AND abs({number}) < 1.7e38 AND trunc({number}) = {number}"
    return f"(CASE WHEN {whole} THEN {number}::HUGEINT::VARCHAR = {integer}::VARCHAR END IS TRUE)"


def _float_beside_decimal(cell: str, sql_type: str, decimal: str, decimal_type: str) -> str:
    """The shortest decimal of the float, rounded to the scale, is the decimal, and the decimal reads as the float.

    Together they are exact: a decimal with fewer digits than the shortest one does not read back.
    """
    rounded = f"TRY_CAST({cell}::VARCHAR AS {decimal_type}) = {decimal}"
    return f"(({rounded} AND {_text(decimal, decimal_type)}::{sql_type} = {cell}) IS TRUE)"


def _float_beside_text(cell: str, sql_type: str, text: str, _text_type: str) -> str:
    text = f"{text}::VARCHAR"
    number, token = f"TRY_CAST({text} AS {sql_type})", f"TRY_CAST(lower({text}) AS {sql_type})"
    return (
        f"CASE WHEN isfinite({cell}) THEN regexp_full_match({text}, {literal(_NUMBER)}) AND {number} = {cell} "
        f"ELSE regexp_full_match(lower({text}), {literal(_NOT_FINITE)}) AND {token} = {cell} END IS TRUE"
    )


_FLOAT_BESIDE: Final = {
    Family.INTEGER: _float_beside_integer,
    Family.DECIMAL: _float_beside_decimal,
    Family.TEXT: _float_beside_text,
}
