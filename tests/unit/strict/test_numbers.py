"""Claims about exact numbers: what fits, what overflows, what is rounded once and how it is spelt."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from governance_pipeline.strict import numbers
from governance_pipeline.strict.numbers import EXACT, canonical, exact_number

LEXEMES = st.from_regex(r"-?(0|[1-9][0-9]{0,60})(\.[0-9]{1,60})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SMALL = st.from_regex(r"-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,15})?", fullmatch=True)


def rational(lexeme: str) -> Fraction:
    return Fraction(Decimal(lexeme))


@pytest.mark.parametrize(
    "text",
    ["", "-", "+1", " 1", "1 ", "01", "-01", "1.", ".5", "1e", "1e+", "1_000", "1,000", "0x1F", "NaN", "nan", "Infinity",
     "inf", "--1", "1.2.3", "\u0663", "\uff11", "1\n", "true"],
)  # fmt: skip
def test_what_json_does_not_write_is_no_number(text):
    assert not numbers.is_number(text)
    for read in (exact_number, numbers.binary64, lambda lexeme: numbers.declared_decimals(lexeme, 9)):
        with pytest.raises(ValueError, match="not a number"):
            read(text)


@pytest.mark.parametrize(
    "lexeme",
    ["1" + "0" * 38, "9" * 39, "1e38", "1e-31", "0." + "0" * 30 + "1", "1." + "1" * 38, "1e999999999999", "-1e-999999999999",
     "9e" + "9" * 5000, "1" * 5000],
)  # fmt: skip
def test_more_than_38_digits_or_30_decimals_overflow(lexeme):
    assert exact_number(lexeme) is None


@pytest.mark.parametrize(
    ("lexeme", "spelt"),
    [
        ("9" * 38, "9" * 38),
        ("-" + "9" * 38, "-" + "9" * 38),
        ("1e37", "1" + "0" * 37),
        ("1e-30", "0." + "0" * 29 + "1"),
        ("1." + "0" * 100, "1"),
        ("12.50", "12.5"),
        ("-0.0", "0"),
        ("-0", "0"),
        ("0e" + "9" * 5000, "0"),
        ("1.2346e-1", "0.12346"),
        ("0.0000000000000000000000000000010", "0.000000000000000000000000000001"),
        ("100e-2", "1"),
    ],
)
def test_what_fits_keeps_every_digit_and_drops_trailing_zeros(lexeme, spelt):
    value = exact_number(lexeme)
    assert value is not None
    assert canonical(value) == spelt


@settings(deadline=None)
@given(LEXEMES)
@example("1e38")
@example("0.1e-29")
def test_a_number_is_exact_or_overflows_by_the_rule_and_nothing_else(lexeme):
    value, true = exact_number(lexeme), rational(lexeme)
    places = next((n for n in range(31) if 10**n % true.denominator == 0), None)
    if places is None or abs(true * 10**places) >= 10**38:
        assert value is None
    else:
        assert value is not None
        assert Fraction(value) == true
        assert numbers.is_number(canonical(value))


@settings(deadline=None)
@given(LEXEMES)
def test_the_canonical_spelling_reads_back_and_is_a_fixed_point(lexeme):
    value = exact_number(lexeme)
    if value is not None:
        again = exact_number(canonical(value))
        assert again is not None
        assert again == value
        assert canonical(again) == canonical(value)
        assert canonical(value) != "-0"
        assert not canonical(value).endswith((".", ".0"))


@settings(deadline=None)
@given(FLOATS)
def test_a_binary64_is_shown_as_the_shortest_decimal_that_reads_back(value):
    shown = canonical(numbers.shortest(value))
    assert struct.pack("<d", float(shown) + 0.0) == struct.pack("<d", value + 0.0)
    assert len(Decimal(shown).as_tuple().digits) <= 17 or abs(value) >= 1e17


@pytest.mark.parametrize(("lexeme", "nearest"), [("1e400", None), ("-1e400", None), ("1e" + "9" * 5000, None)])
def test_a_float_overflows_only_when_infinite(lexeme, nearest):
    assert numbers.binary64(lexeme) is nearest


def test_a_float_too_small_is_zero_and_not_unknown():
    assert numbers.binary64("-1e-400") == 0
    assert canonical(numbers.shortest(-0.0)) == "0"


@pytest.mark.parametrize(
    ("lexeme", "decimals"),
    [("12.50", 2), ("3.46e1", 1), ("1e2", 0), ("12", 0), ("1.2346e-1", 5), ("0.008210000000000002", 9), ("1e-5", 5),
     ("1e-" + "9" * 5000, 9), ("1.5e" + "9" * 5000, 0), ("1.50e+0", 2), ("1.5e-08", 9)],
)  # fmt: skip
def test_declared_decimals_are_those_written_exponent_applied_to_at_most_nine(lexeme, decimals):
    assert numbers.declared_decimals(lexeme, 9) == decimals


@pytest.mark.parametrize(
    ("value", "spelt"),
    [
        (Fraction(5, 3), "1.666666666666666667"),
        (Fraction(200, 3), "66.666666666666666667"),
        (Fraction(1, 2 * 10**18), "0"),
        (Fraction(3, 2 * 10**18), "0.000000000000000002"),
        (Fraction(-1, 2 * 10**18), "0"),
        (Fraction(-5, 2 * 10**18), "-0.000000000000000002"),
        (Fraction(75, 2), "37.5"),
    ],
)
def test_a_quotient_is_rounded_half_to_even_at_the_18th_decimal(value, spelt):
    rounded = numbers.half_even(value)
    assert rounded is not None
    assert canonical(rounded) == spelt


def test_a_rounded_quotient_can_still_overflow():
    assert numbers.half_even(Fraction(10**38)) is None
    assert numbers.half_even(Fraction(10**20) + Fraction(1, 3)) is None  # 21 + 18 digits


def test_a_repeating_decimal_is_never_called_exact():
    assert numbers.exact_decimal(Fraction(1, 3)) is None
    assert numbers.exact_decimal(Fraction(1, 2**31)) is None


@settings(deadline=None)
@given(st.fractions())
def test_the_nearest_binary64_is_that_of_python(value):
    nearest = numbers.nearest_binary64(value)
    assert nearest is not None
    assert float(nearest) == float(value)


def test_a_rational_beyond_binary64_overflows():
    assert numbers.nearest_binary64(Fraction(10**400)) is None
    assert numbers.nearest_binary64(Fraction(1, 10**400)) == 0


@settings(deadline=None)
@given(SMALL, SMALL)
def test_sums_and_products_are_exact_whatever_the_context_of_the_thread(first, second):
    a, b = exact_number(first), exact_number(second)
    assert a is not None
    assert b is not None
    assert Fraction(EXACT.add(a, b)) == rational(first) + rational(second)
    assert Fraction(EXACT.multiply(a, b)) == rational(first) * rational(second)


@settings(deadline=None)
@given(FLOATS, FLOATS)
def test_binary_floats_add_up_exactly_before_they_are_rounded(first, second):
    total = EXACT.add(Decimal(first), Decimal(second))
    assert Fraction(total) == Fraction(first) + Fraction(second)
    assert numbers.is_finite_binary64(total) == math.isfinite(first + second)
