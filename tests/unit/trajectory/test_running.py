"""A reference that grows gives, at each size, exactly what its values give when they are sorted anew."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.trajectory.robust import MAD_SCALE, ordered_mad, ordered_median, ordered_statistics
from governance_pipeline.trajectory.running import RunningValues, RunningVector

VALUES = st.lists(
    st.one_of(st.just(float("nan")), st.sampled_from([0.0, 1.0, 2.0, 2.5]), st.floats(-1e300, 1e300)), max_size=40
)


def score_of_pool(pool: np.ndarray) -> tuple[float, int] | None:
    """Score the last row of a pool and count the others that score at least as much, the slow way."""
    scaled = []
    for column in pool.T:
        median = np.median(column)
        mad = np.median(np.abs(column - median))
        if mad > 0:
            with np.errstate(over="ignore"):
                scaled.append(np.clip((column - median) / mad, -np.finfo(float).max, np.finfo(float).max))
    if not scaled:
        return None
    ranked = np.max(scaled, axis=0)
    return float(ranked[-1]) / MAD_SCALE, int(np.count_nonzero(ranked[:-1] >= ranked[-1]))


def test_nothing_known_gives_no_statistics():
    running = RunningValues(np.array([np.nan, np.nan]))
    running.grow(2)
    assert ordered_statistics(running.ordered) is None
    assert running.at_least(0.0) == 0


@settings(max_examples=150, deadline=None)
@given(VALUES.filter(lambda values: not all(map(math.isnan, values))))
def test_median_and_mad_of_sorted_values_are_those_of_numpy_to_the_last_bit(values):
    known = np.sort([value for value in values if not math.isnan(value)])
    median = ordered_median(known)
    assert median == float(np.median(known))
    assert ordered_mad(known, median) == float(np.median(np.abs(known - median)))


@settings(max_examples=100, deadline=None)
@given(VALUES, st.lists(st.integers(0, 40), max_size=8), st.floats(-1e300, 1e300))
def test_a_prefix_has_its_known_values_in_order_however_it_grew(values, sizes, value):
    whole = np.array(values, dtype=float)
    running = RunningValues(whole)
    for size in sorted(min(size, len(values)) for size in sizes):
        running.grow(size)
        known = whole[:size][~np.isnan(whole[:size])]
        assert running.ordered.tolist() == sorted(known.tolist())
        assert running.at_least(value) == int((known >= value).sum())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([np.nan, 0.0, 1.0, 3.0, 7.25, -2.0])] * 3), min_size=1, max_size=20))
def test_the_score_of_a_vector_is_that_of_its_pool(rows):
    table = np.array(rows)
    vector = RunningVector(list(table.T))
    for size in range(len(rows)):
        complete = table[:size][~np.isnan(table[:size]).any(axis=1)]
        assert vector.count(size) == len(complete)
        if not np.isnan(table[size]).any():
            wanted = score_of_pool(np.vstack([complete, table[size]]))
            found = vector.score(size, table[size].tolist())
            assert (None if found is None else tuple(found)) == wanted


def test_a_score_beyond_the_largest_double_is_clipped_and_ties():
    vector = RunningVector([np.array([0.0, 5e-324, 5e-324, 1e300, 0.0])])
    found = vector.score(5, [1e300])
    assert found.at_least == 1
    assert np.isfinite(found.value)


@given(VALUES, st.lists(st.one_of(st.sampled_from([0.0, -0.0, 1.0, 2.5]), st.floats(-1e300, 1e300)), max_size=20))
@settings(max_examples=60, deadline=None)
def test_many_values_are_counted_as_each_by_itself(values, asked):
    running = RunningValues(np.array(values, dtype=float))
    running.grow(len(values))
    assert running.at_least_all(np.array(asked, dtype=float)).tolist() == [running.at_least(value) for value in asked]
