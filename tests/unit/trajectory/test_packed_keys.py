"""Packed keys sort as their columns do, whatever their ranges; places and distinct keys as plain Python finds them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.trajectory.packed_keys import distinct_of, order_of, packed, places_of, starts_of

NUMBER = st.one_of(st.integers(0, 3), st.sampled_from([-(2**63), -1, 2**31, 2**62, 2**63 - 1]))
KEYS = st.lists(st.one_of(st.integers(0, 5), st.sampled_from([10**6, 2**61])), max_size=8)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(NUMBER, NUMBER, NUMBER), min_size=1, max_size=9))
def test_rows_come_in_the_order_of_their_columns_and_equal_ones_as_they_stand(rows):
    key, width = packed([np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)])
    assert 0 <= key.min() <= key.max() < width
    order = order_of(key, width)
    expected = sorted(range(len(rows)), key=rows.__getitem__)
    assert (list(range(len(rows))) if order is None else order.tolist()) == expected
    assert (order is None) == (expected == list(range(len(rows))))


@settings(max_examples=40, deadline=None)
@given(KEYS, st.sets(st.integers(0, 7) | st.just(2**61)))
def test_a_key_is_found_where_it_stands_and_one_that_is_not_there_nowhere(wanted, keys):
    there = list(keys)
    found = places_of(np.array(wanted, dtype=np.int64), np.array(there, dtype=np.int64), 2**61 + 1)
    narrow = [key for key in wanted if key < 8]
    assert found.tolist() == [there.index(key) if key in there else -1 for key in wanted]
    small = [key for key in there if key < 8]
    assert places_of(np.array(narrow, dtype=np.int64), np.array(small, dtype=np.int64), 8).tolist() == [
        small.index(key) if key in small else -1 for key in narrow
    ]


@settings(max_examples=40, deadline=None)
@given(KEYS)
def test_distinct_keys_ascend_and_every_key_has_its_place_among_them(keys):
    distinct, place = distinct_of(np.array(keys, dtype=np.int64), max(keys, default=0) + 1)
    assert distinct.tolist() == sorted(set(keys))
    assert distinct[place].tolist() == keys


def test_runs_of_equal_neighbours_begin_where_the_value_changes():
    assert starts_of(np.array([-1, -1, 3, 0, 0], dtype=np.int64)).tolist() == [0, 2, 3]
    assert starts_of(np.zeros(0, dtype=np.int64)).tolist() == []
