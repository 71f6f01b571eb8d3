"""Claims about the one comparison: what flags, what never does, and what an unknown is called."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.strict.comparison import Side, compare
from governance_pipeline.vocabulary import Action, DataType, RecordStatus, UnknownReason

NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12)
EPSILONS = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=0, max_value=1)


def compared(declared: str, computed: str, epsilon: str, data_type: DataType = DataType.CURRENCY):
    return compare(Side(Decimal(declared)), Side(Decimal(computed)), Decimal(epsilon), data_type)


@pytest.mark.parametrize("reason", UnknownReason)
@pytest.mark.parametrize("is_declared", [True, False])
def test_an_unknown_side_is_unverifiable_and_never_false(reason, is_declared):
    known, unknown = Side(Decimal(1)), Side(None, reason)
    result = compare(unknown if is_declared else known, known if is_declared else unknown, Decimal(0), DataType.INTEGER)
    assert (result.status, result.mismatch, result.action) == (RecordStatus.UNVERIFIABLE, None, Action.CONFIRM)
    assert (result.delta, result.reason) == (None, reason)
    assert result.epsilon == (None if is_declared else Decimal(0))


def test_the_reason_of_the_declared_side_comes_first():
    declared, computed = Side(None, UnknownReason.DECLARED_MISSING), Side(None, UnknownReason.DIVISION_BY_ZERO)
    assert compare(declared, computed, None, DataType.INTEGER).reason is UnknownReason.DECLARED_MISSING


def test_a_number_with_a_reason_is_shown_with_its_epsilon_and_not_compared():
    result = compare(Side(Decimal("3.5"), UnknownReason.DECLARED_TYPE), Side(Decimal(3)), Decimal(0), DataType.INTEGER)
    assert (result.status, result.epsilon, result.delta) == (RecordStatus.UNVERIFIABLE, Decimal(0), None)


@pytest.mark.parametrize("side", [Side(None), Side(Decimal(1))])
def test_a_side_without_number_and_reason_or_a_missing_epsilon_is_a_fault_of_the_caller(side):
    with pytest.raises(ValueError, match="needs both numbers and an epsilon"):
        compare(Side(Decimal(1)), side, None, DataType.INTEGER)


def test_equality_with_epsilon_is_a_match_and_one_digit_more_is_not():
    assert compared("10.005", "10", "0.005").mismatch is False
    assert compared("9.995", "10", "0.005").mismatch is False
    assert compared("10.00500000000000000000001", "10", "0.005").mismatch is True


def test_the_comparison_does_not_round_to_the_context_of_the_thread():
    with localcontext(prec=3):
        result = compared("10000000000000000000000000000000000001", "10000000000000000000000000000000000000", "0")
    assert (result.mismatch, result.delta) == (True, Decimal(1))


def test_the_difference_overflows_by_the_bounds_of_its_type():
    big = "9" * 38
    assert compared("-" + big, "1", "0", DataType.INTEGER).reason is UnknownReason.OVERFLOW
    assert compared("-" + big, "1", "0", DataType.FLOAT).status is RecordStatus.MISMATCH
    assert compared("1.7e308", "-1.7e308", "0", DataType.FLOAT).reason is UnknownReason.OVERFLOW


@settings(deadline=None)
@given(NUMBERS, NUMBERS, EPSILONS)
def test_the_flag_is_the_strict_inequality_and_delta_keeps_its_sign(declared, computed, epsilon):
    result = compare(Side(declared), Side(computed), epsilon, DataType.CURRENCY)
    delta = Fraction(declared) - Fraction(computed)
    assert result.mismatch is (abs(delta) > Fraction(epsilon))
    assert result.delta is not None
    assert Fraction(result.delta) == delta
    assert result.action is (Action.ESCALATE if result.mismatch else Action.ACCEPT)
    swapped = compare(Side(computed), Side(declared), epsilon, DataType.CURRENCY)
    assert (swapped.mismatch, swapped.delta) == (result.mismatch, -result.delta)
