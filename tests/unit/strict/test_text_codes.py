"""Texts are told apart by all of their characters, whatever stands between them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.strict.text_codes import text_codes

TEXTS = st.one_of(st.none(), st.text(st.sampled_from("\0ab\n\U0001f600\ue000"), max_size=4))


@settings(max_examples=100)
@given(st.lists(TEXTS, max_size=12))
def test_codes_are_equal_where_texts_are_and_sort_as_they_do(values):
    codes, texts = text_codes(pd.Series(pd.array(values, dtype="string")))
    assert texts == sorted({value for value in values if value is not None})
    assert [None if code == -1 else texts[code] for code in codes.tolist()] == values


def test_a_text_with_a_nul_is_not_the_text_before_it():
    codes, texts = text_codes(np.array(["a\0b", "a", "a\0", None], dtype=object))
    assert (codes.tolist(), texts) == ([2, 0, 1, -1], ["a", "a\0", "a\0b"])


def test_no_texts_have_no_codes():
    codes, texts = text_codes(pd.Series(pd.array([None, None], dtype="string")))
    assert (codes.tolist(), texts) == ([-1, -1], [])
