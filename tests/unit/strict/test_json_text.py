"""Claims about one JSON text: what is refused, with which code, and what is kept."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme, NonFinite
from governance_pipeline.strict.limits import LIMITS, Limits

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=5) | st.dictionaries(st.text(), children, max_size=5),
    max_leaves=30,
)
# Pieces that, put together in any order, come close to being JSON.
FRAGMENTS = st.lists(
    st.sampled_from(
        b" |\t|\r|\xff|\xef\xbb\xbf|\x00".split(b"|")
        + rb'{ } [ ] , : " "a" "b": \ \u d800 \udc00 NaN Infinity - 1 -0 1e999 true null'.split(b" ")
    ),
    max_size=30,
).map(b"".join)


def refusal(data: bytes, limits: Limits = LIMITS, **options: bool) -> RecordRefused:
    with pytest.raises(RecordRefused) as caught:
        parse_json(data, limits, **options)
    return caught.value


def plain(value: Any) -> Any:
    """What `json.loads` would have made of a value of ours."""
    if isinstance(value, Lexeme):
        return int(value) if value.lstrip("-").isdigit() else float(value)
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


@pytest.mark.parametrize(
    ("data", "code", "offset"),
    [
        (b"", "empty", 0),
        (b" \t\r\n", "empty", 0),
        (b"\xef\xbb\xbf{}", "byte_order_mark", 0),
        (b"\xff\xfe{\x00}\x00", "nul_byte", 3),
        (b'{"a":\x00}', "nul_byte", 5),
        (b'["ok","\xff"]', "not_utf8", 7),
        (b'"\xed\xa0\x80"', "not_utf8", 1),  # a surrogate encoded as if it were a character
        (b'"\xc0\x80"', "not_utf8", 1),  # NUL in two bytes
        (b"{'a':1}", "malformed_json", 1),
        (b"[01]", "malformed_json", 2),
        (b"[1.]", "malformed_json", 2),
        (b"[.5]", "malformed_json", 1),
        (b"[+1]", "malformed_json", 1),
        (b"// note\n1", "malformed_json", 0),
        (b'"tab\there"', "malformed_json", 4),
        (b'"\\x41"', "malformed_json", 1),
        (b'"\\u12', "malformed_json", 2),
        (b'{"a":1', "malformed_json", 6),
        (b"\x0c1", "malformed_json", 0),  # a form feed is not JSON whitespace
        ("\u00a01".encode(), "malformed_json", 0),
        (b"{}\r{}", "trailing_data", 3),
        (b"1 2", "trailing_data", 2),
        ('"é" x'.encode(), "trailing_data", 5),
    ],
)
def test_bytes_that_are_not_one_json_text_are_refused_where_they_break(data: bytes, code: str, offset: int) -> None:
    caught = refusal(data)
    assert (caught.code, caught.offset) == (code, offset)


@pytest.mark.parametrize("data", [b'{"a":1,}', b"[1,]", b'{"a":1 ,\n}'])
def test_a_trailing_comma_is_malformed(data: bytes) -> None:
    assert refusal(data).code == "malformed_json"  # Python 3.13 points at the comma, earlier ones behind it


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b'{"a":1,"a":1}', 7),
        (b'{"a":1,"b":{"c":1},"a" :2}', 19),
        (b'[[{"x":{"k":1,"k":2}}]]', 14),
        (b'{"a":1,"\\u0061":2}', 7),
        ('{"é":"","é":""}'.encode(), 9),
        (b'{"":1,"":2}', 6),
        (b'{"k":"\\"k\\":","k":1}', 14),  # the text of a value looks like the member
        (b'[{"a":1},{"a":2},{"b":{"a":3},"b":4}]', 30),
    ],
)
def test_a_repeated_member_is_found_at_every_depth_and_named(data: bytes, offset: int) -> None:
    caught = refusal(data)
    assert (caught.code, caught.offset) == ("duplicate_member", offset)


def test_members_that_differ_in_case_are_two_members() -> None:
    assert parse_json(b'{"a":1,"A":2}') == {"a": 1, "A": 2}


def test_a_hostile_member_name_stays_a_name_and_its_refusal_is_escaped_and_masked() -> None:
    assert parse_json(b'{"x\\"; DROP TABLE t; --\\n":1}') == {'x"; DROP TABLE t; --\n': 1}
    caught = refusal(b'{"\\u001b[31mpassword=hunter2":1,"\\u001b[31mpassword=hunter2":2}')
    assert "\x1b" not in str(caught)
    assert "hunter2" not in str(caught)


@pytest.mark.parametrize(
    ("data", "offset"), [(b"NaN", 0), (b'{"a":"NaN","b":NaN}', 15), (b"[1, Infinity]", 4), (b"[-Infinity]", 1)]
)
def test_numbers_that_are_none_are_refused(data: bytes, offset: int) -> None:
    caught = refusal(data)
    assert (caught.code, caught.offset) == ("not_finite", offset)


def test_numbers_that_are_none_are_kept_as_written_when_asked_for() -> None:
    value = parse_json(b"[NaN, -Infinity, Infinity, 1.0]", nonfinite=True)
    assert value == ["NaN", "-Infinity", "Infinity", "1.0"]
    assert [type(item) for item in value] == [NonFinite, NonFinite, NonFinite, Lexeme]


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b'"\\ud800"', 1),
        (b'"\\udc00\\ud800"', 1),
        (b'"\\ud83d\\ud83d\\ude00"', 1),
        (b'"\\\\\\ud800"', 3),
        (b'{"\\uDFFF":1}', 2),
        (b'"ok \\ud83d\\ude00 \\ud83d"', 17),
        (b'"\\ud83dx\\ude00"', 1),
    ],
)
def test_a_surrogate_without_its_partner_is_refused(data: bytes, offset: int) -> None:
    caught = refusal(data)
    assert (caught.code, caught.offset) == ("lone_surrogate", offset)


def test_surrogate_pairs_and_escaped_backslashes_are_texts() -> None:
    assert parse_json(b'["\\ud83d\\ude00", "\\\\ud800", "\\u0000"]') == ["\U0001f600", "\\ud800", "\x00"]


@pytest.mark.parametrize(
    "text",
    ["1.50", "-0", "-0.0", "1e999", "-1E-999", "0.1", "1e5", "9223372036854775808", "-9223372036854775809", "9" * 5000],
)
def test_a_number_that_no_64_bit_integer_holds_stays_as_written(text: str) -> None:
    value = parse_json(f'{{"n":{text}}}'.encode())["n"]
    assert type(value) is Lexeme
    assert value == text


@pytest.mark.parametrize("number", [0, 7, -1, 10**17, 2**63 - 1, -(2**63), 10**18, -(10**18), 2**53 + 1])
def test_an_integer_of_64_bits_is_an_integer(number: int) -> None:
    value = parse_json(str(number).encode())
    assert type(value) is int
    assert value == number


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_the_last_allowed_level_is_read_and_the_next_is_refused(opening: bytes, closing: bytes) -> None:
    inside = b"1" if opening != b"[" else b""
    parse_json(opening * 64 + inside + closing * 64)
    caught = refusal(opening * 65 + inside + closing * 65)
    assert (caught.code, caught.offset) == ("too_deep", len(opening) * 64)


@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000, b'[{"":' * 50_000]
)
def test_endless_nesting_is_refused_and_never_a_recursion_error(data: bytes) -> None:
    assert refusal(data).code == "too_deep"


def test_nesting_beyond_the_stack_is_refused_even_where_the_bound_would_allow_it() -> None:
    assert refusal(b"[" * 100_000 + b"]" * 100_000, Limits(depth=10**6)).code == "too_deep"


@pytest.mark.parametrize(
    "text", ["[" * 1000, "{" * 1000, '"[' * 100, "\\" + "[" * 100, '\\"' + "[" * 100, "\\\\" + '"{' * 100, "]" * 100]
)
def test_brackets_in_strings_are_no_levels(text: str) -> None:
    assert parse_json(json.dumps([text, [text]]).encode()) == [text, [text]]


def test_brackets_in_strings_do_not_hide_levels() -> None:
    assert refusal(b'["]]]]]]]]","\\"]]",' * 70).code == "too_deep"


def test_closing_brackets_too_many_are_malformed_not_shallow() -> None:
    assert refusal(b"]" * 200 + b"[" * 100).code == "malformed_json"


def test_members_are_counted_over_all_levels() -> None:
    limits = Limits(keys=6)
    data = b'[{"a":1,"b":{"c":"::::","d":2}},{"a":1,"b":2}]'
    assert parse_json(data, limits)[1] == {"a": 1, "b": 2}
    assert refusal(data, Limits(keys=5)).code == "too_many_keys"


def test_a_million_members_are_refused_before_they_are_built() -> None:
    data = b"{" + b",".join(b'"%d":0' % number for number in range(1_000_000)) + b"}"
    assert refusal(data).code == "too_many_keys"


def test_values_are_counted_so_that_short_text_cannot_fill_memory() -> None:
    assert refusal(b"[" + b"[]," * 2_000_000 + b"1]").code == "too_many_values"
    assert parse_json(b'["' + b"," * 20 + b'",1,[]]', Limits(values=4)) == ["," * 20, 1, []]
    assert refusal(b"[1,1,[]]", Limits(values=3)).code == "too_many_values"


def test_a_text_beyond_the_document_bound_is_refused() -> None:
    assert refusal(b"[1, 2]", Limits(document_bytes=5)).code == "document_too_large"
    assert parse_json(b"[1, 2]", Limits(document_bytes=6)) == [1, 2]


def test_a_refusal_says_what_where_and_what_to_do() -> None:
    assert str(refusal(b'{"a":1,"a":2}')) == "duplicate_member at byte 7: member a is repeated in its object; keep one"


@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_whatever_a_json_writer_writes_is_read_back(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert plain(parse_json(text.encode())) == json.loads(text)


@given(FRAGMENTS | st.binary(max_size=40))
def test_bytes_are_read_or_refused_and_read_as_the_standard_reader_does(data: bytes) -> None:
    try:
        value = parse_json(data)
    except RecordRefused as caught:
        assert 0 <= caught.offset <= len(data)  # noqa: PT017 - an acceptance is as good
        return
    assert plain(value) == json.loads(data.decode())


@given(FRAGMENTS)
def test_nothing_but_the_documented_reasons_refuses_a_sound_text(data: bytes) -> None:
    try:
        standard = json.loads(data.decode(), parse_constant=lambda _: math.nan)
    except ValueError:
        return
    codes = {"duplicate_member", "not_finite", "lone_surrogate", "nul_byte", "byte_order_mark"}
    try:
        assert plain(parse_json(data)) == standard
    except RecordRefused as caught:
        assert caught.code in codes  # noqa: PT017 - an acceptance is as good


def levels(value: Any) -> int:
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return 1 + max(map(levels, items), default=0)
    return 0


def members(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(members, value.values()))
    return sum(map(members, value)) if isinstance(value, list) else 0


@given(JSON_VALUES, st.integers(0, 4), st.integers(0, 8))
def test_depth_and_members_are_judged_exactly(value: Any, depth: int, keys: int) -> None:
    data = json.dumps(value).encode()
    if levels(value) > depth:
        assert refusal(data, Limits(depth=depth, keys=keys)).code == "too_deep"
    elif members(value) > keys:
        assert refusal(data, Limits(depth=depth, keys=keys)).code == "too_many_keys"
    else:
        parse_json(data, Limits(depth=depth, keys=keys))
