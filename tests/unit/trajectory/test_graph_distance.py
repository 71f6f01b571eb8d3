"""Hops to the nearest objective, and their weighted mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.graph_distance import (
    UNREACHABLE,
    hops_to_objective,
    unreachable_weight_share,
    weighted_distance,
)
from governance_pipeline.trajectory.typed_graph import Edge, EdgeType, NodeKind, typed_graph

SIZE = 9
PAIRS = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=25)
OBJECTIVE = st.sets(st.integers(0, SIZE - 1), max_size=3)


def graph_of(pairs, size=SIZE):
    edges = [Edge(f"{one:05}", f"{other:05}", EdgeType.IMPORT) for one, other in pairs]
    return typed_graph({f"{number:05}": NodeKind.FILE for number in range(size)}, edges)


def shortest_ways(pairs, objective, *, is_directed):
    """Hops by relaxing every edge until nothing changes: slow, and obviously right."""
    far = SIZE + 1
    hops = [0 if node in objective else far for node in range(SIZE)]
    ways = list(pairs) if is_directed else [*pairs, *((b, a) for a, b in pairs)]
    for _ in range(SIZE):
        for one, other in ways:
            hops[one] = min(hops[one], hops[other] + 1)
    return [UNREACHABLE if hop == far else hop for hop in hops]


@given(PAIRS, OBJECTIVE, st.booleans())
def test_hops_are_those_of_the_shortest_way_to_the_nearest_objective(pairs, objective, is_directed):
    found = hops_to_objective(graph_of(pairs), objective, is_directed=is_directed)
    assert found.tolist() == shortest_ways(pairs, objective, is_directed=is_directed)


@given(PAIRS, OBJECTIVE)
def test_a_way_along_edges_is_never_shorter_than_one_that_may_go_either_way(pairs, objective):
    graph = graph_of(pairs)
    along, either = (hops_to_objective(graph, objective, is_directed=flag).tolist() for flag in (True, False))
    assert all(one == UNREACHABLE or 0 <= other <= one for one, other in zip(along, either, strict=True))


def test_without_an_objective_nothing_is_reached():
    assert set(hops_to_objective(graph_of([(0, 1)]), [], is_directed=False).tolist()) == {UNREACHABLE}


def test_a_chain_of_thousands_is_walked_to_its_end():
    chain = graph_of([(at, at + 1) for at in range(2999)], size=3000)
    assert hops_to_objective(chain, [2999], is_directed=True).tolist() == list(range(2999, -1, -1))


@pytest.mark.parametrize(
    ("weights", "hops", "distance", "share"),
    [
        ([10, 1, 5], [3, 1, None], 31 / 11, 5 / 16),
        ([0, 4], [2, None], None, 1),
        ([3], [None], None, 1),
        ([0, 2], [None, 4], 4, 0),
        ([2**62, 2**62], [1, 2], 1.5, 0),
    ],
)
def test_what_reaches_no_objective_is_in_neither_sum_but_in_the_share(weights, hops, distance, share):
    assert weighted_distance(weights, hops) == distance
    assert unreachable_weight_share(weights, hops) == share
