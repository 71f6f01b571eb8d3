"""Claims about documents as JSON text: exact numbers, ASCII alone, the same text for the same document."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.report.json_text import json_text
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme

TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None)
@given(document=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_what_is_written_reads_back_as_it_was(document):
    assert json.loads(json_text(document)) == document


@settings(deadline=None)
@given(text=TEXTS)
def test_no_text_brings_a_control_or_bidi_character_or_anything_beyond_ascii(text):
    written = json_text({text: [{text: text}]})
    assert all(character == "\n" or "\x20" <= character <= "\x7e" for character in written)


@pytest.mark.parametrize("lexeme", ["0.1", "12345678901234567890.123456789", "1" + "0" * 300, "-0.000000000000001"])
def test_a_lexeme_is_written_digit_by_digit_as_a_number(lexeme):
    written = json_text({"declared": Lexeme(lexeme)})
    assert written == f'{{\n"declared": {lexeme}\n}}'
    assert str(parse_json(written.encode())["declared"]) == lexeme


def test_a_text_that_looks_like_a_number_stays_a_text():
    assert json.loads(json_text({"declared_raw": "1.50"})) == {"declared_raw": "1.50"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_json_does_not_know_is_refused(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"x": [value]})


def test_a_value_that_is_no_json_is_refused():
    with pytest.raises(TypeError):
        json_text({"x": {1, 2}})


def test_each_item_of_a_list_of_the_document_has_its_own_line():
    text = json_text(
        {"schema": "s", "rows": [{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}], "none": [], "counts": {"n": 0}}
    )
    assert text.splitlines() == [
        "{", '"schema": "s",', '"rows": [', '{"a": 1, "b": [1, 2]},', '{"a": 2, "b": []}', "],", '"none": [],',
        '"counts": {"n": 0}', "}",
    ]  # fmt: skip
