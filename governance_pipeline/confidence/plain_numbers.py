"""Numbers of a confidence document: at most four decimals, rounded half to even, once and only here.

Source: spec/confidence.md §12 (output).
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

from governance_pipeline.confidence.amounts import EVALUATION, POINT
from governance_pipeline.strict.numbers import binary64, exact_number, shortest

PLACES = 4


def plain(value: Fraction | Decimal) -> int | float:
    """Return a number with at most four decimals; whole ones as integers, never -0."""
    if isinstance(value, Decimal):
        scaled = int(value.scaleb(PLACES).to_integral_value(rounding=ROUND_HALF_EVEN))
    else:
        scaled = round(value * 10**PLACES)  # half to even
    whole, rest = divmod(scaled, 10**PLACES)
    return float(Fraction(scaled, 10**PLACES)) if rest else whole


def as_written(lexeme: str) -> float | None:
    """Return the number a text says; None when a float cannot hold it, or would silently be another number.

    Raises:
        ValueError: the text is not a number of the JSON grammar.
    """
    exact, value = exact_number(lexeme), binary64(lexeme)
    return value if exact is not None and value is not None and shortest(value) == exact else None


def points(thousandths: int) -> int | float:
    """Return thousandths of a point as points."""
    return plain(Fraction(thousandths, POINT))


def whole_or_half(evaluations: int) -> int | float:
    """Return evaluations counted in halves as a number."""
    return plain(Fraction(evaluations, EVALUATION))
