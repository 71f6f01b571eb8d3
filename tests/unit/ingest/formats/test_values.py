"""A member of a foreign log is its value when it has the right type, otherwise unknown."""

from __future__ import annotations

from decimal import Decimal

import pytest

from governance_pipeline.ingest.formats.values import (
    entries,
    exit_code,
    members,
    price_usd,
    seconds,
    text,
    unpriced,
    whole,
)
from governance_pipeline.strict.lexeme import Lexeme


@pytest.mark.parametrize("value", [None, "", 5, Lexeme("1.5"), ["a"], {"a": 1}])
def test_what_is_no_text_is_no_text(value):
    assert text(value) is None


@pytest.mark.parametrize("value", [None, -1, True, Lexeme("2.0"), Lexeme("99999999999999999999"), "3"])
def test_what_is_no_count_is_unknown(value):
    assert whole(value) is None


def test_minus_one_is_no_exit_code():
    assert [exit_code(value) for value in (-1, 0, 137, -9, None, True, "1")] == [None, 0, 137, -9, None, None, None]


@pytest.mark.parametrize(
    ("value", "price"),
    [
        (Lexeme("0.0"), None),
        (Lexeme("0e5"), None),
        (0, None),
        (None, None),
        ("0.5", None),
        (True, None),
        (Lexeme("1e40"), None),
        (Lexeme("1e25"), None),  # fits an exact number, not the column
        (2, Decimal(2)),
        (Lexeme("0.00041468000000000006"), Decimal("0.000414680000000000")),
        (Lexeme("0.0005882999999999999"), Decimal("0.000588300000000000")),
    ],
)
def test_a_price_is_rounded_to_the_column_and_zero_is_no_price(value, price):
    assert price_usd(value) == price


def test_an_unpriced_cost_is_missing_and_every_other_value_stays_what_it_is():
    given = [Lexeme("0.0"), 0, Lexeme("0.5"), "0", None, True]
    assert [unpriced(value) for value in given] == [None, None, "0.5", "0", None, True]


@pytest.mark.parametrize(
    ("value", "per_second", "expected"),
    [(Lexeme("0.25"), 1, 0.25), (1500, 1000, 1.5), (-1, 1, None), ("2", 1, None), (None, 1, None), (True, 1, None)],
)
def test_a_duration_is_a_number_of_seconds_or_unknown(value, per_second, expected):
    assert seconds(value, per_second) == expected


def test_what_is_no_container_is_empty():
    assert (members([1]), entries({"a": 1}), members(None), entries("ab")) == ({}, (), {}, ())
