"""Y counts distinct symbols that changed, and is unknown when one of them may have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.symbols import SymbolChange, changed_symbols

FLAG = st.sampled_from([True, False, None])
SYMBOLS = st.lists(
    st.builds(
        SymbolChange, st.sampled_from("fgh"), st.sampled_from(["function", "class", "method", "variable"]), FLAG, FLAG
    )
)


def function(body, signature, id_="f", kind="function") -> SymbolChange:
    return SymbolChange(id_, kind, body, signature)


@pytest.mark.parametrize(
    ("symbols", "count"),
    [
        (None, None),
        ([], 0),
        ([function(None, None)], None),
        ([function(None, False)], None),
        ([function(False, None)], None),
        ([function(None, True)], 1),
        ([function(True, None)], 1),
        ([function(False, False)], 0),
        ([function(None, None, kind="variable")], 0),
        ([function(None, None), function(True, False)], 1),
        ([function(False, False), function(None, None)], None),
        ([function(True, False), function(True, False, id_="K", kind="class")], 2),
        ([function(True, False), function(None, False, id_="g")], None),
    ],
)
def test_a_symbol_counts_once_when_body_or_signature_changed(symbols, count):
    assert changed_symbols(symbols) == count


@given(SYMBOLS, st.randoms())
def test_the_order_of_symbols_and_their_repetition_play_no_part(symbols, random):
    shuffled = [*symbols, *symbols]
    random.shuffle(shuffled)
    assert changed_symbols(shuffled) == changed_symbols(symbols)
