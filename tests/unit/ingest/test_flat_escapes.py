"""Escapes resolved many at once say what the JSON parser says."""

from __future__ import annotations

import json

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from governance_pipeline.ingest.flat_escapes import resolved

pieces = st.lists(
    st.sampled_from(
        [
            "a",
            "é",
            "✓",
            " ",
            "n",
            "u0041",
            "\\n",
            "\\\\",
            '\\"',
            "\\/",
            "\\b",
            "\\f",
            "\\r",
            "\\t",
            "\\u00e9",
            "\\u0000",
        ]
    ),
    max_size=8,
).map("".join)


@given(st.lists(st.none() | pieces, min_size=1, max_size=8))
@example(["\\\\", "\\n", None, "", "\\\\\\\\", "\\\\n", "\\u005cn"])
@example([None])
def test_texts_say_what_the_parser_reads(texts):
    expected = [None if text is None else json.loads(f'"{text}"') for text in texts]
    assert resolved(pa.array(texts, pa.string())).to_pylist() == expected


def test_a_part_of_a_column_is_resolved_by_itself():
    whole = pa.array(["\\n", None, "a\\\\", "\\tb", "\\"], pa.string())
    assert resolved(whole.slice(1, 3)).to_pylist() == [None, "a\\", "\tb"]
