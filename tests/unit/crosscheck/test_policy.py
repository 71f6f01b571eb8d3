"""Claims about the epsilon policy: it can be tightened, never loosened, and caps every epsilon."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.policy import EpsilonPolicy, shipped_epsilon_policy
from governance_pipeline.errors import PolicyError
from governance_pipeline.strict.numbers import canonical, exact_number
from governance_pipeline.vocabulary import DataType

LEXEMES = st.from_regex(r"-?(0|[1-9][0-9]{0,9})(\.[0-9]{1,12})?([eE]-?[0-9])?", fullmatch=True)


def epsilon(
    policy: EpsilonPolicy, data_type: DataType, lexeme: str, given_epsilon: str | None = None, relative: str = "0"
):
    value = exact_number(lexeme)
    assert value is not None
    chosen = None if given_epsilon is None else Decimal(given_epsilon)
    check = SimpleNamespace(data_type=data_type, epsilon=chosen, epsilon_relative=Decimal(relative))
    return canonical(policy.epsilon(check, value, lexeme))


@pytest.mark.parametrize(
    ("maximum", "message"),
    [
        ({"currency": Decimal("0.010001")}, "only tighten it"),
        ({"integer": Decimal(1)}, "only tighten it"),
        ({"float": Decimal(-1)}, "only tighten it"),
        ({"money": Decimal(0)}, "no maximum 'money'"),
    ],
)
def test_a_policy_is_never_loosened(maximum, message):
    with pytest.raises(PolicyError, match=message):
        shipped_epsilon_policy().tightened(maximum)


def test_a_tightened_policy_cannot_be_relaxed_again():
    tight = shipped_epsilon_policy().tightened({"currency": Decimal("0.001")})
    with pytest.raises(PolicyError):
        tight.tightened({"currency": Decimal("0.01")})
    assert shipped_epsilon_policy().maximum["currency"] == Decimal("0.01")


def test_the_shipped_policy_is_that_of_the_specification():
    assert shipped_epsilon_policy().to_json() == {
        "schema": "govern/epsilon-policy/v1",
        "max": {
            "integer": "0",
            "currency": "0.01",
            "float": "0.000001",
            "float_relative": "0.000000001",
            "percent": "0.5",
        },
    }


@pytest.mark.parametrize(
    ("data_type", "lexeme", "given_epsilon", "expected"),
    [
        (DataType.INTEGER, "12.5", None, "0"),
        (DataType.CURRENCY, "12.5", None, "0.005"),
        (DataType.CURRENCY, "12.50", None, "0.005"),
        (DataType.CURRENCY, "12.500", None, "0.0005"),
        (DataType.CURRENCY, "0.008210000000000002", None, "0.0000000005"),
        (DataType.CURRENCY, "0.008210000000000002", "0.01", "0.01"),
        (DataType.PERCENT, "34.6", None, "0.05"),
        (DataType.PERCENT, "67", None, "0.5"),
        (DataType.PERCENT, "6.7e1", None, "0.5"),
        (DataType.PERCENT, "67", "0.05", "0.05"),
        (DataType.PERCENT, "66.70", "0.05", "0.005"),
        (DataType.FLOAT, "1", None, "0.000001"),
        (DataType.FLOAT, "1", "0", "0"),
    ],
)
def test_an_epsilon_follows_type_precision_and_what_was_given(data_type, lexeme, given_epsilon, expected):
    assert epsilon(shipped_epsilon_policy(), data_type, lexeme, given_epsilon) == expected


def test_the_relative_term_of_a_float_is_exact_and_of_the_absolute_value():
    policy = shipped_epsilon_policy()
    assert epsilon(policy, DataType.FLOAT, "-2.5", "0", "1e-9") == "0.0000000025"
    assert epsilon(policy, DataType.FLOAT, "12345678901234567890123", None, "1e-9") == "12345678901234.567891123"


@settings(deadline=None)
@given(st.sampled_from(DataType), LEXEMES)
def test_a_maximum_of_zero_leaves_no_tolerance(data_type, lexeme):
    policy = shipped_epsilon_policy()
    zero = policy.tightened(dict.fromkeys(policy.maximum, Decimal(0)))
    assert epsilon(zero, data_type, lexeme) == "0"


@settings(deadline=None)
@given(st.sampled_from(DataType), LEXEMES)
def test_no_default_is_above_its_maximum_or_below_zero(data_type, lexeme):
    policy = shipped_epsilon_policy()
    assert 0 <= Decimal(epsilon(policy, data_type, lexeme)) <= policy.maximum[data_type]
