"""Values judged many at once are numbers exactly when JSON says so."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from governance_pipeline.ingest.flat_bytes import PAD, words_of
from governance_pipeline.ingest.flat_numbers import are_numbers

NUMBERS = [
    "0",
    "7",
    "0.5",
    "10",
    "-0",
    "-1.50",
    "1e5",
    "1.5E-3",
    "0.12345678901234567",
    "1" * 23,
    "1" * 24,
    "1" * 25,
    "9" * 60,
]
OTHERS = [
    "",
    "-",
    ".",
    "00",
    "01",
    "0.",
    ".5",
    "1..2",
    "1.2.3",
    "+1",
    "1e",
    "1e+",
    "0x1",
    "1_0",
    "NaN",
    "1 ",
    " 1",
    "0.5.",
    "1,2",
]


def judged(texts: list[str]) -> list[bool]:
    parts = [text.encode() for text in texts]
    ends = np.cumsum([len(part) for part in parts]).astype(np.int32)
    starts = ends - np.array([len(part) for part in parts], np.int32)
    data = b"".join(parts)
    return are_numbers(data, words_of(np.frombuffer(data + PAD, np.uint8)), starts, ends).tolist()


def is_number(text: str) -> bool:
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except ValueError:
        return False
    return text == text.strip() and isinstance(value, int | float) and not isinstance(value, bool)


@given(
    st.lists(
        st.one_of(st.text("0123456789.-+eE", max_size=30), st.sampled_from(NUMBERS), st.text(max_size=4)), max_size=9
    )
)
@example([*OTHERS, *NUMBERS])
@example(["5"])
def test_a_value_is_a_number_when_json_says_so(texts):
    assert judged(texts) == [is_number(text) for text in texts]


def test_what_stands_behind_a_value_plays_no_part():
    assert judged(["1", "2", "."]) == [True, True, False]
    assert judged(["0", "5"]) == [True, True]
