"""The typed graph: nodes in one order, distinct edges, distinct neighbours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.typed_graph import Edge, EdgeType, NodeKind, typed_graph

IDS = [f"n{number}" for number in range(8)]
EDGES = st.lists(st.builds(Edge, st.sampled_from(IDS), st.sampled_from(IDS), st.sampled_from(EdgeType)), max_size=30)


def graph_of(edges, ids=IDS):
    return typed_graph(dict.fromkeys(ids, NodeKind.FILE), edges)


def pairs(graph) -> set[tuple[str, str]]:
    ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    return {(graph.ids[source], graph.ids[target]) for source, target in ends}


def test_an_edge_to_a_node_that_is_not_listed_is_an_error():
    with pytest.raises(KeyError):
        graph_of([Edge("n0", "gone", EdgeType.CALL)])


def test_a_graph_without_nodes_has_no_edges_and_no_neighbours():
    graph = graph_of([], ids=[])
    assert (len(graph), graph.degree.tolist(), graph.source.tolist()) == (0, [], [])


def test_nodes_are_in_code_point_order():
    assert graph_of([], ids=["b", "\U0001f600", "B", "\uffff"]).ids == ("B", "b", "\uffff", "\U0001f600")


@given(EDGES)
def test_edges_are_the_distinct_pairs_without_loops_whatever_their_types(edges):
    graph = graph_of(edges)
    assert pairs(graph) == {(edge.source, edge.target) for edge in edges if edge.source != edge.target}
    assert len(graph.source) == len(pairs(graph))


@given(EDGES)
def test_every_edge_given_is_counted_under_its_type(edges):
    assert graph_of(edges).edges_of_type == {type_: sum(e.type is type_ for e in edges) for type_ in EdgeType}


@given(EDGES)
def test_degree_counts_distinct_neighbours_in_both_directions(edges):
    graph = graph_of(edges)
    both = {(a, b) for a, b in pairs(graph)} | {(b, a) for a, b in pairs(graph)}
    assert graph.degree.tolist() == [sum(one == id_ for one, _ in both) for id_ in graph.ids]


@given(EDGES)
def test_users_of_a_node_are_the_sources_of_its_edges(edges):
    graph = graph_of(edges)
    for number, id_ in enumerate(graph.ids):
        start, end = graph.users.starts[number : number + 2]
        assert sorted(graph.ids[user] for user in graph.users.nodes[start:end]) == sorted(
            source for source, target in pairs(graph) if target == id_
        )
