"""Numbers of a confidence document: at most four decimals, rounded half to even, once and only here.

Source: spec/confidence.md §12 (output).
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

from governance_pipeline.confidence.amounts import EVALUATION, POINT

PLACES = 4


def plain(value: Fraction | Decimal) -> int | float:
    """Return a number with at most four decimals; whole ones as integers, never -0."""
    if isinstance(value, Decimal):
        scaled = int(value.scaleb(PLACES).to_integral_value(rounding=ROUND_HALF_EVEN))
    else:
        scaled = round(value * 10**PLACES)  # half to even
    whole, rest = divmod(scaled, 10**PLACES)
    return float(Fraction(scaled, 10**PLACES)) if rest else whole


def points(thousandths: int) -> int | float:
    """Return thousandths of a point as points."""
    return plain(Fraction(thousandths, POINT))


def whole_or_half(evaluations: int) -> int | float:
    """Return evaluations counted in halves as a number."""
    return plain(Fraction(evaluations, EVALUATION))
