"""Exact numbers: from the text a source wrote, to the text a record shows.

What belongs here: reading a lexeme without losing a digit, the bounds within which a number is exact, rounding that
is done once and at the end, and the one spelling of a number in our documents. What does not: which numbers are
compared (crosscheck) and how (`strict.comparison`). Nothing passes through a binary float unless the value is one.

Source of all rules: spec/crosscheck.md §11 (exact types, evaluation) and §12 (canonical lexemes).
"""

from __future__ import annotations

import math
import re
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation, Rounded
from fractions import Fraction

DECIMAL_PLACES = 30
"""Digits after the point an exact number may have, trailing zeros dropped."""

COEFFICIENT_DIGITS = 38
"""Digits of an exact number without sign and point: its coefficient is below 10^38."""

QUOTIENT_PLACES = 18
"""Digits after the point a computed number keeps when its formula divides; half to even."""

EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, Rounded, InvalidOperation])
"""Context of every decimal sum, difference and product: it has room for any digit and raises rather than round."""

ZERO = Decimal(0)

_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?", re.ASCII)
# An exponent of more digits than this is beyond any bound, so it is never turned into an integer.
_EXPONENT_DIGITS = 9


def is_number(text: str) -> bool:
    """Tell whether a text is a number of the JSON grammar (RFC 8259 §6): no space, plus, leading zero or separator."""
    return _NUMBER.fullmatch(text) is not None


def exact_number(lexeme: str) -> Decimal | None:
    """Return the exact value of a number; None when it does not fit (overflow).

    It fits with at most 30 digits after the point and a coefficient below 10^38, trailing zeros dropped. Cost does
    not grow with the exponent, and only linearly with the length of the text.

    Raises:
        ValueError: the text is not a number of the JSON grammar.
    """
    match = _match(lexeme)
    if len(lexeme) <= DECIMAL_PLACES and match[5] is None:
        return Decimal(lexeme)  # so short that it fits whatever its digits
    sign, digits, exponent = _parts(match)
    if not digits:
        return ZERO
    if exponent is None or len(digits) > COEFFICIENT_DIGITS:
        return None
    if exponent < -DECIMAL_PLACES or len(digits) + max(exponent, 0) > COEFFICIENT_DIGITS:
        return None
    return Decimal(f"{sign}{digits}E{exponent}")


def binary64(lexeme: str) -> float | None:
    """Return the binary64 nearest to a number; None when that is infinite (overflow).

    Raises:
        ValueError: the text is not a number of the JSON grammar.
    """
    if not is_number(lexeme):
        raise ValueError(f"not a number: {lexeme[:40]!r}")
    value = float(lexeme)
    return None if math.isinf(value) else value


def shortest(value: float) -> Decimal:
    """Return the shortest decimal that reads back as this finite binary64."""
    return Decimal(repr(value))


def declared_decimals(lexeme: str, most: int) -> int:
    """Return the digits after the point of a number as written, exponent applied, from 0 to `most`.

    ``12.50`` has 2, ``3.46e1`` has 1, ``1e2`` has 0 (spec/crosscheck.md §2).

    Raises:
        ValueError: the text is not a number of the JSON grammar.
    """
    match = _match(lexeme)
    written = len(match[3] or "")
    if match[5] is None:
        return min(written, most)
    exponent = match[5].lstrip("0") or "0"
    if len(exponent) > _EXPONENT_DIGITS:
        return most if match[4] == "-" else 0
    shift = -int(exponent) if match[4] == "-" else int(exponent)
    return min(max(written - shift, 0), most)


def exact_decimal(value: Fraction) -> Decimal | None:
    """Return a rational as an exact decimal; None when it does not fit (overflow), a repeating one included."""
    if 10**DECIMAL_PLACES % value.denominator:
        return None
    places = _places(value.denominator)
    coefficient = value.numerator * (10**places // value.denominator)
    if abs(coefficient) >= 10**COEFFICIENT_DIGITS:
        return None
    return EXACT.scaleb(Decimal(coefficient), -places)


def half_even(value: Fraction, places: int = QUOTIENT_PLACES) -> Decimal | None:
    """Return a rational rounded once, half to even, to `places` digits; None when the result does not fit."""
    coefficient = round(value * 10**places)
    return exact_decimal(Fraction(coefficient, 10**places))


def nearest_binary64(value: Fraction) -> Decimal | None:
    """Return the binary64 nearest to a rational as its shortest decimal; None when it is infinite (overflow)."""
    try:
        # True division of integers is correctly rounded, whatever their size.
        nearest = value.numerator / value.denominator
    except OverflowError:
        return None
    return shortest(nearest)


def is_finite_binary64(value: Decimal) -> bool:
    """Tell whether the binary64 nearest to an exact decimal is finite."""
    return not math.isinf(float(value))


def fits(value: Decimal) -> bool:
    """Tell whether an exact decimal keeps the bounds of `exact_number`."""
    return exact_number(canonical(value)) is not None


def canonical(value: Decimal) -> str:
    """Return the one spelling of a finite number: no exponent, no plus, no trailing zero after the point, no ``-0``."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def _match(lexeme: str) -> re.Match[str]:
    match = _NUMBER.fullmatch(lexeme)
    if match is None:
        raise ValueError(f"not a number: {lexeme[:40]!r}")
    return match


def _parts(match: re.Match[str]) -> tuple[str, str, int | None]:
    """Sign, significant digits (empty for zero) and the exponent of the last one; None when it is out of reach."""
    sign, whole, fraction, exponent_sign, exponent = match.groups()
    digits = (whole + (fraction or "")).lstrip("0")
    significant = digits.rstrip("0")
    shift = len(digits) - len(significant) - len(fraction or "")
    if exponent is None:
        return sign, significant, shift
    exponent = exponent.lstrip("0") or "0"
    if len(exponent) > _EXPONENT_DIGITS:
        return sign, significant, None
    return sign, significant, shift + (-int(exponent) if exponent_sign == "-" else int(exponent))


def _places(denominator: int) -> int:
    """The smallest n for which a divisor of 10^30 divides 10^n."""
    places = 0
    while 10**places % denominator:
        places += 1
    return places
