"""A document is refused with the line to correct, or read with the line of everything in it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import Fault
from governance_pipeline.rounds.toml_text import DOCUMENT_BYTES, TomlText, parse_toml


def fault(data: str | bytes) -> tuple[str, int | None]:
    found = parse_toml(data if isinstance(data, bytes) else data.encode())
    assert isinstance(found, Fault), found

    return found.code, found.line


def read(text: str) -> TomlText:
    found = parse_toml(text.encode())
    assert isinstance(found, TomlText), found
    return found


def places(value: Any, at: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    """Every key, table and list element of a document."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {place for step, below in steps for place in {(*at, step), *places(below, (*at, step))}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = \nc = 3", 2),
        ("a = 1\n\nb = [1,\n  2\n", 4),
        ("a = 'x\n", 1),
        ('a = 1\nb = "\\q"', 2),
        ('a = 1\nb = "\\ud800"', 2),
        ("a = 1\n[t\n", 2),
        ("a = 1\n\x00", 2),
        ("a = 2026-13-01", 1),
        ("# fine\na = tru", 2),
        ("a = 1 b = 2", 1),
        ("a = 1\rb = 2", 1),
    ],
)
def test_what_is_not_toml_is_refused_where_it_stops(text, line):
    assert fault(text) == ("toml_syntax", line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\n\na = 2", 3),
        ("a = 1\na = '''\n\n\n'''\n", 2),
        ("a = 1\na = [\n1,\n2]\nb = 1", 2),
        ("[t]\nx = 1\n[u]\n[t]\n", 4),
        ("a.b = 1\n[a]\n", 2),
        ("[[a]]\n[a]\n", 2),
        ("a = []\n[[a]]\n", 2),
        ("[t]\na = {x = 1}\na.y = 2\n", 3),
        ("a = 1\nb = {x = 1, x = 2}\n", 2),
    ],
)
def test_a_key_or_table_said_twice_is_refused_at_the_second(text, line):
    assert fault(text) == ("toml_syntax", line)


def test_a_file_that_is_not_utf8_is_refused_at_its_line():
    assert fault(b"a = 1\nb = '\xff'\n") == ("not_utf8", 2)


def test_a_byte_order_mark_is_refused():
    assert fault("\ufeffa = 1") == ("byte_order_mark", 1)


def test_a_document_too_large_is_refused_unread():
    assert fault(b"\xff" * (DOCUMENT_BYTES + 1)) == ("document_too_large", None)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\nb = " + "[" * 70 + "]" * 70,
        "a = 1\n" + "x." * 70 + "y = 1",
        "a = 1\nb = " + "{a = " * 70 + "1" + "}" * 70,
    ],
)
def test_what_is_too_deep_is_refused_before_anything_recurses(text):
    assert fault(text) == ("too_deep", 2)


@pytest.mark.parametrize("text", ["[" * 200_000, "a = " + "[" * 200_000, "." * 200_000, "a" + ".a" * 100_000 + " = 1"])
def test_hostile_nesting_is_refused(text):
    assert fault(text)[0] in {"too_deep", "toml_syntax"}


def test_too_many_keys_or_elements_are_refused():
    assert fault("".join(f"k{i} = 1\n" for i in range(10_001))) == ("too_many_keys", 10_001)
    assert fault("a = [\n" + "1,\n" * 10_001 + "]")[0] == "too_many_keys"


def test_an_integer_of_thousands_of_digits_is_refused_at_its_line():
    assert fault("a = 1\nb = " + "9" * 5000) == ("integer_out_of_range", 2)


DOCUMENT = '''schema = "s"   # 1
a.b."c d" = 1  # 2

[t]            # 4
x = [          # 5
  1,
  [2, 3], {y = 1, z.w = 2},
]
[[k]]          # 9
id = """
  a
"""
q = 1          # 13
[[k]]          # 14
[k.sub]        # 15
v = 1
[[k.list]]     # 17
[[k.list]]     # 18
[p.q.r]        # 19
[p]            # 20
"\\u00e9" = 2  # 21
'e.e' = 3      # 22
'''


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("schema",), 1),
        (("a",), 2),
        (("a", "b", "c d"), 2),
        (("t",), 4),
        (("t", "x"), 5),
        (("t", "x", 0), 6),
        (("t", "x", 1), 7),
        (("t", "x", 1, 1), 7),
        (("t", "x", 2, "z", "w"), 7),
        (("k",), 9),
        (("k", 0), 9),
        (("k", 0, "id"), 10),
        (("k", 0, "q"), 13),
        (("k", 1), 14),
        (("k", 1, "sub", "v"), 16),
        (("k", 1, "list"), 17),
        (("k", 1, "list", 1), 18),
        (("p", "q"), 19),
        (("p",), 20),
        (("p", "é"), 21),
        (("p", "e.e"), 22),
    ],
)
def test_every_place_has_its_line(place, line):
    assert read(DOCUMENT).line(place) == line


def test_no_place_is_without_a_line_and_no_line_without_a_place():
    text = read(DOCUMENT)
    assert set(text.lines) == places(text.value)


@pytest.mark.parametrize(("place", "line"), [(("k", 1, "id"), 14), (("t", "x", 9), 5), (("nothing",), 1), ((), 1)])
def test_an_absent_place_has_the_line_of_what_would_hold_it(place, line):
    assert read(DOCUMENT).line(place) == line


def test_line_ends_of_windows_count_as_one():
    assert read("a = 1\r\n\r\n[t]\r\nb = 2\r\n").line(("t", "b")) == 4


def test_a_valid_document_the_grammar_stumbles_over_is_still_read():
    """tree-sitter-toml 0.7.0 takes blanks after a line-ending backslash for an error; TOML 1.0 allows them."""
    text = read('a = """x\\   \n  y"""\n[t]\nb = 1\n')
    assert text.value == {"a": "xy", "t": {"b": 1}}
    assert text.line(("t", "b")) == 4


KEYS = st.sampled_from(["a", "b-c", '"d e"', "'f.g'", '"\\u00e9"', "1", '""'])
SCALARS = st.sampled_from(
    ["1", "-0.5", "inf", "true", "'t'", '"\\n"', "2026-01-02", "'''\n\n'''", '"""\n\\\n x"""', "07:00:00"]
)
VALUES = st.recursive(
    SCALARS,
    lambda below: (
        st.lists(below, max_size=3).map(lambda v: "[\n" + ", # c\n".join(v) + "\n]")
        | st.dictionaries(KEYS, below, max_size=2).map(
            lambda d: "{" + ", ".join(f"{k} = {v}" for k, v in d.items()) + "}"
        )
    ),
    max_leaves=6,
)
PAIRS = st.tuples(st.lists(KEYS, min_size=1, max_size=2).map(" . ".join), VALUES).map(" = ".join)
HEADERS = st.tuples(st.sampled_from(["[%s]", "[[%s]]"]), st.lists(KEYS, min_size=1, max_size=3)).map(
    lambda h: h[0] % ".".join(h[1])
)
DOCUMENTS = st.lists(PAIRS | HEADERS, max_size=8).map("\n".join)


@settings(deadline=None)
@given(DOCUMENTS)
def test_values_are_those_of_tomllib_and_every_place_has_a_line(text):
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        code, line = fault(text)
        assert code == "toml_syntax"
        assert 1 <= line <= text.count("\n") + 1
        return
    found = read(text)
    assert found.value == expected
    assert set(found.lines) == places(expected)


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text("[]{}=.,\"'#\\\n a1\r\t", max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(data):
    assert isinstance(parse_toml(data), Fault | TomlText)
