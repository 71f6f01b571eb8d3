"""Scores of Inspect AI as numbers, and their spread."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.ingest.formats.inspect_ai_scores import number, over_epochs, score_number, spread
from governance_pipeline.strict.lexeme import Lexeme, NonFinite


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("C", 1),
        ("P", Fraction(1, 2)),
        ("I", 0),
        ("N", 0),
        ("Yes", 1),
        ("false", 0),
        (True, 1),
        (3, 3),
        (Lexeme("0.25"), Fraction(1, 4)),
        ("0.25", Fraction(1, 4)),
        ("Correct", None),
        ("", None),
        (None, None),
        ([1], None),
        (NonFinite("NaN"), None),
        (Lexeme("1e99"), None),
    ],
)
def test_what_number_a_score_stands_for(value, expected):
    assert score_number(value) == expected


def test_an_unknown_epoch_makes_its_sample_unknown():
    assert over_epochs([Fraction(1), None], "mean") is None
    assert over_epochs([Fraction(1), Fraction(0)], "mean") == Fraction(1, 2)
    assert over_epochs([Fraction(1), Fraction(1)], "max") is None
    assert over_epochs([Fraction(1)], "max") == 1


def test_the_spread_of_one_sample_is_0_and_of_an_unknown_one_unknown():
    assert spread([Fraction(1)]) == {"variance": "0", "standard_deviation": "0", "standard_error": "0"}
    assert set(spread([Fraction(1), None]).values()) == {None}


@given(st.lists(st.integers(-100, 100), min_size=2, max_size=30))
def test_the_spread_is_that_of_the_standard_library(values):
    found = spread([Fraction(value) for value in values])
    assert math.isclose(float(found["variance"]), statistics.variance(values), abs_tol=1e-12)
    assert math.isclose(float(found["standard_deviation"]), statistics.stdev(values), abs_tol=1e-12)
    expected = statistics.stdev(values) / math.sqrt(len(values))
    assert math.isclose(float(found["standard_error"]), expected, abs_tol=1e-12)


def test_a_number_that_does_not_fit_is_unknown():
    assert number(Fraction(10**40)) is None
    assert number(Fraction(1, 3)) == "0.333333333333333333"
