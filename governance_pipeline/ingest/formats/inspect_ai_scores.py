"""Scores of Inspect AI: values as numbers, one number per sample over its epochs, and how far they spread.

What belongs here: the arithmetic of Inspect's own metrics (`scorer/_metric.py` `value_to_float`, `_reducer/`,
`_metrics/std.py`), exact until the one root. What does not: where scores stand in a log (inspect_ai_samples).

The spread is worked out here because a check expression has no square root; its row says so by its source, `spread`.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.lexeme import Lexeme, NonFinite
from governance_pipeline.strict.numbers import canonical, exact_number, half_even, is_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEAN: Final = "mean"
_LETTERS: Final[Mapping[str, Fraction]] = {
    "C": Fraction(1),
    "P": Fraction(1, 2),
    "I": Fraction(0),
    "N": Fraction(0),
    "yes": Fraction(1),
    "true": Fraction(1),
    "no": Fraction(0),
    "false": Fraction(0),
}
_ROOT: Final = Context(prec=40)


def score_number(value: Any) -> Fraction | None:
    """Give the number a score stands for: C 1, P one half, I and N 0, a truth value, a number; None when none.

    Inspect itself counts any other text as 0; here it is unknown, because a custom metric may read it otherwise.
    """
    if isinstance(value, bool):
        return Fraction(int(value))
    if isinstance(value, int):
        return Fraction(value)
    if not isinstance(value, str) or isinstance(value, NonFinite):
        return None
    letter = None if isinstance(value, Lexeme) else _LETTERS.get(value, _LETTERS.get(value.lower()))
    if letter is not None:
        return letter
    number = exact_number(str(value)) if is_number(str(value)) else None
    return None if number is None else Fraction(number)


def over_epochs(values: Sequence[Fraction | None], reducer: str) -> Fraction | None:
    """Give the one number of a sample; of several epochs only the mean is known here, other reducers are not."""
    known = [value for value in values if value is not None]
    if len(known) < len(values) or (len(values) > 1 and reducer != MEAN):
        return None
    return sum(known, Fraction(0)) / len(known)


def spread(values: Sequence[Fraction | None]) -> dict[str, Any]:
    """Give variance, standard deviation and standard error (with n - 1) as numbers; unknown when a value is.

    Inspect gives 0 for one sample, where they are not defined.
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return dict.fromkeys(("variance", "standard_deviation", "standard_error"))
    count = len(known)
    mean = sum(known, Fraction(0)) / count
    variance = sum(((value - mean) ** 2 for value in known), Fraction(0)) / max(count - 1, 1)
    return {
        "variance": number(variance),
        "standard_deviation": number(_root(variance)),
        "standard_error": number(_root(variance / count)),
    }


def number(value: Fraction | None) -> Lexeme | None:
    """Write a rational as a number of at most 18 decimals; None when it does not fit."""
    rounded = None if value is None else half_even(value)
    return None if rounded is None else Lexeme(canonical(rounded))


def _root(value: Fraction) -> Fraction:
    return Fraction(_ROOT.divide(Decimal(value.numerator), Decimal(value.denominator)).sqrt(_ROOT))
