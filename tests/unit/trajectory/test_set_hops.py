"""Walks that share words give what a walk of its own gives, for every set."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.graph_distance import hops_to_objective
from governance_pipeline.trajectory.set_hops import reach_counts, set_hops
from governance_pipeline.trajectory.typed_graph import Edge, EdgeType, NodeKind, typed_graph

SIZE = 12
NODES = st.integers(0, SIZE - 1)
EDGES = st.lists(st.tuples(NODES, NODES), max_size=30)


def graph_of(pairs):
    names = [f"n{number:02d}" for number in range(SIZE)]
    edges = [Edge(names[one], names[other], EdgeType.IMPORT) for one, other in pairs]
    return typed_graph(dict.fromkeys(names, NodeKind.FILE), edges)


def test_no_sets_and_empty_sets_reach_nothing():
    graph = graph_of([(0, 1)])
    assert set_hops(graph.either, [], []) == []
    assert set_hops(graph.either, [[], [0]], [[0, 1], []]) == [[-1, -1], []]


@given(EDGES, st.lists(st.lists(NODES, max_size=3), min_size=1, max_size=3), st.booleans())
def test_each_set_has_the_hops_of_a_walk_of_its_own(pairs, few, is_directed):
    graph = graph_of(pairs)
    sets = (few * 70)[:130]  # more than two words
    ways = graph.uses if is_directed else graph.either
    found = set_hops(ways, sets, [range(SIZE)] * len(sets))
    expected = [hops_to_objective(graph, one, is_directed=is_directed).tolist() for one in few]
    assert found == (expected * 70)[:130]


@given(EDGES)
def test_reach_counts_are_the_nodes_that_lead_to_a_start(pairs):
    graph = graph_of(pairs)
    everything = np.ones(SIZE, dtype=np.bool_)
    even = np.arange(SIZE) % 2 == 0
    found = reach_counts(graph.uses, list(range(SIZE)), [everything, even])
    for start in range(SIZE):
        hops = hops_to_objective(graph, [start], is_directed=True)
        reached = {node for node in range(SIZE) if hops[node] > 0}
        assert found[start].tolist() == [len(reached), sum(node % 2 == 0 for node in reached)]
