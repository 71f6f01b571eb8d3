"""Claims about canonical JSON and digests."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme, NonFinite

SAFE = 2**53 - 1
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda children: (
        st.lists(children, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), children, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "value",
    [
        *(Lexeme(text) for text in ("1.50", "1.0", "-0", "-0.0", "1e5", "1E+21", "0.10", "1e999", "-1e999", "1e-999")),
        *(Lexeme(text) for text in ("9223372036854775808", "123456789012345678901", "9" * 5000)),
        NonFinite("NaN"),
        NonFinite("-Infinity"),
        *(2**53, -(2**53), float("nan"), float("inf"), Decimal(1), b"bytes", {1: "a"}, {"a": {2, 3}}),
        *("\ud800", {"\ud800": 1}, {"a": {"\udc00": 1, "b": 2}}),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_what_canonical_json_cannot_say_exactly_is_refused(value: Any) -> None:
    with pytest.raises(UnreadableError, match="no canonical JSON"):
        canonical_json([value])


def test_endless_nesting_is_refused() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(UnreadableError, match="nested too deep"):
        canonical_json(value)


@pytest.mark.parametrize("text", ["1.5", "0.1", "-2.25", "1e+21", "1e-7", "100000000000000000000", "0.000001"])
def test_a_lexeme_in_canonical_spelling_is_written_as_the_number_it_is(text: str) -> None:
    assert canonical_json([Lexeme(text)]) == f"[{text}]".encode()


def test_the_example_of_the_standard() -> None:
    text = r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"""
    expected = (
        r"""{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"""
        r""""string":"€$\u000f\nA'B\"\\\\\"/"}"""
    )
    assert canonical_json(json.loads(text)) == expected.encode()  # RFC 8785 §3.2.2 and §3.2.4


def test_members_are_sorted_by_utf16_units() -> None:
    members = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    found = list(json.loads(canonical_json(members)))
    assert found == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]  # RFC 8785 §3.2.3


def test_a_digest_is_lower_case_hex() -> None:
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(VALUES)
def test_canonical_bytes_read_strictly_give_the_same_bytes(value: Any) -> None:
    data = canonical_json(value)
    read = parse_json(data)
    # A whole float below 1e21 is written without a point and read as an integer: beyond 2^53 it has no way back.
    try:
        assert canonical_json(read) == data
    except UnreadableError:
        assert any(abs(number) > SAFE for number in numbers_of(read))


def numbers_of(value: Any) -> list[float]:
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return [number for item in items for number in numbers_of(item)]
    return [float(value)] if isinstance(value, int | Lexeme) else []


@given(VALUES)
def test_the_order_members_were_written_in_plays_no_part(value: Any) -> None:
    assert canonical_json(reversed_members(value)) == canonical_json(value)


def reversed_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: reversed_members(value[name]) for name in reversed(value)}
    return [reversed_members(item) for item in value] if isinstance(value, list) else value
