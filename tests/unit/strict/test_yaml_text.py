"""YAML is read as strictly as JSON: exact numbers, no indirection, no repeated key, bounded, and texts stay texts."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.records import Accepted, Refused
from governance_pipeline.strict.yaml_text import MAX_BYTES, looks_like_yaml_rows, parse_yaml, read_yaml_document


@pytest.mark.parametrize(
    ("data", "code", "offset"),
    [
        (b"- a: 1\n  a: 2\n", "duplicate_member", 9),
        (b"- a: &x 1\n  b: *x\n", "yaml_indirection", 5),
        (b"a: !!python/object x", "yaml_indirection", 3),
        (b"%YAML 1.1\n---\na: 1", "yaml_indirection", 0),
        (b"a: 1\n---\nb: 2\n", "trailing_data", 5),
        (b"---\na: 1\n---\nb: 2\n", "trailing_data", 9),
        (b"- " * 17 + b"a", "too_deep", 32),
        (b"a: [", "malformed_yaml", 4),
        (b"\xc3\xa9: [", "malformed_yaml", 5),
        (b"a: \x00", "malformed_yaml", 3),
        (b"? [a]\n: b\n", "malformed_yaml", 2),
        (b'a: "\\ud800"\n', "malformed_yaml", 6),
        (b"a: \xff", "not_utf8", 3),
        (b"#" * (MAX_BYTES + 1), "document_too_large", 0),
    ],
)
def test_what_cannot_be_meant_once_is_refused_with_its_place(data, code, offset):
    with pytest.raises(RecordRefused) as refused:
        parse_yaml(data)
    assert (refused.value.code, refused.value.offset) == (code, offset)


def test_a_bomb_of_aliases_is_refused_before_it_grows():
    bomb = b"a: &a [x, x]\n" + b"".join(b"b%d: &b%d [*a, *a]\n" % (n, n) for n in range(1000))
    with pytest.raises(RecordRefused, match="yaml_indirection"):
        parse_yaml(bomb)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-7", -7),
        ("0.0000", Lexeme("0.0000")),
        ("1e3", Lexeme("1e3")),
        ("9223372036854775808", Lexeme("9223372036854775808")),
        ("true", True),
        ("~", None),
        ("", None),
        ("null", None),
        ("yes", "yes"),
        ("2025-02-25", "2025-02-25"),
        ("1_000", "1_000"),
        ("012", "012"),
        ("0x1f", "0x1f"),
        (".nan", ".nan"),
        ("1:30", "1:30"),
        ('"7"', "7"),
        ("'null'", "null"),
        ("<<", "<<"),
    ],
)
def test_a_plain_scalar_is_a_number_only_where_json_says_so_and_never_a_date(text, value):
    (row,) = parse_yaml(f"- a: {text}\n".encode())
    assert (row["a"], type(row["a"])) == (value, type(value))


def test_a_byte_order_mark_is_skipped_and_nothing_is_null():
    assert parse_yaml(b"\xef\xbb\xbfa: 1\n") == {"a": 1}
    assert parse_yaml(b"") is None


@pytest.mark.parametrize("head", [b"- a: 1\n  b: 2\n", b"\n# x\n---\n- a:\n  b: 2", b"\xef\xbb\xbf- a: x\r\n  b:\r\n"])
def test_rows_are_known_by_their_first_two_keys(head):
    assert looks_like_yaml_rows(head)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"- item\n- item\n",
        b"- note: a list\n- note: of remarks\n",
        b"a: 1\nb: 2\n",
        b"- a: 1\n",
        b"x\n- a: 1\n  b: 2",
    ],
)
def test_other_texts_are_not_taken_for_rows(head):
    assert not looks_like_yaml_rows(head)


def test_a_file_is_read_whole_or_refused_with_an_excerpt(tmp_path):
    (tmp_path / "a").write_bytes(b"- a: 1\n")
    (tmp_path / "b").write_bytes(b"- a: [\n")
    (tmp_path / "c").write_bytes(b"#" * (MAX_BYTES + 1))
    assert read_yaml_document(tmp_path / "a") == Accepted(None, 0, b"- a: 1\n", [{"a": 1}])
    assert read_yaml_document(tmp_path / "b") == Refused(None, 0, "malformed_yaml", "- a: [\\n", 7)
    assert read_yaml_document(tmp_path / "c").code == "document_too_large"


@given(data=st.binary(max_size=60) | st.text("-: \n[]{}&*!%#'\"a1", max_size=40).map(str.encode))
def test_any_bytes_are_a_value_or_a_refusal(data):
    with suppress(RecordRefused):
        parse_yaml(data)
