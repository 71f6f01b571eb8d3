"""Names that say the same in other words."""

import pytest

from governance_pipeline.strict.name_words import alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("test_parse_quotes", "test_parse_nested_quotes"),
        ("TestGenZshCompletion", "testGenZshCompletionHidden"),
        ("rejects an empty list", "an empty list is rejected by the parser"),
        ("test_add", "test_add_negative"),
    ],
)
def test_a_name_that_was_extended_or_reworded_is_alike(one, other):
    assert alike(one, other)
    assert alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("test_that_it_is_not_there", "test_that_it_is_there_when_there_is_one"),  # grammar only
        ("test_parse_numbers_of_orders", "test_parse_colours_in_themes"),
        ("test", "test"),  # nothing but grammar says nothing
        ("", "a"),
    ],
)
def test_names_that_share_grammar_or_one_word_are_not(one, other):
    assert not alike(one, other)
