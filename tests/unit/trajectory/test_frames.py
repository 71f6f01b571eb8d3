"""Rows leave pandas as plain values."""

from __future__ import annotations

import pandas as pd

from governance_pipeline.trajectory.frames import rows_of


def test_nulls_of_every_dtype_are_none_and_numbers_plain():
    frame = pd.DataFrame(
        {
            "count": pd.array([2**63 - 1, None], dtype="Int64"),
            "share": pd.array([0.5, None], dtype="Float64"),
            "name": pd.array(["a", None], dtype="string"),
            "flag": pd.array([True, None], dtype="boolean"),
        }
    )
    first, second = rows_of(frame)
    assert first == {"count": 2**63 - 1, "share": 0.5, "name": "a", "flag": True}
    assert {type(value) for value in first.values()} == {int, float, str, bool}
    assert second == dict.fromkeys(frame.columns)


def test_only_the_columns_asked_for_are_given_and_an_empty_frame_gives_none():
    frame = pd.DataFrame({"a": [1], "b": [2]})
    assert list(rows_of(frame, ("b",))) == [{"b": 2}]
    assert list(rows_of(frame.iloc[:0])) == []
