"""PageRank, its percentile and the mean over what changed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.centrality import pagerank, percentile, standing, weighted_centrality
from governance_pipeline.trajectory.typed_graph import Edge, EdgeType, NodeKind, typed_graph

SIZE = 7
PAIRS = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=25)


def graph_of(pairs, names=range(SIZE), type_=EdgeType.CALL):
    edges = [Edge(f"n{names[one]}", f"n{names[other]}", type_) for one, other in pairs]
    return typed_graph({f"n{name}": NodeKind.FILE for name in names}, edges)


def solved(pairs) -> np.ndarray:
    """PageRank as the solution of its linear equations."""
    follow = np.zeros((SIZE, SIZE))
    for one, other in {pair for pair in pairs if pair[0] != pair[1]}:
        follow[one, other] = 1
    used = follow.sum(axis=1, keepdims=True)
    follow = np.where(used > 0, follow / np.maximum(used, 1), 1 / SIZE)
    return np.linalg.solve(np.eye(SIZE) - 0.85 * follow.T, np.full(SIZE, 0.15 / SIZE))


def test_an_empty_graph_has_no_ranks():
    assert pagerank(graph_of([], names=())).tolist() == []
    assert [part.tolist() for part in standing(np.zeros(0))] == [[], []]


def test_nodes_without_edges_share_the_rank_evenly():
    ranks = pagerank(graph_of([]))
    assert np.allclose(ranks, 1 / SIZE, rtol=0, atol=1e-15)
    assert set(standing(ranks).equal.tolist()) == {SIZE}


@given(PAIRS)
def test_ranks_are_the_solution_of_the_equations_and_add_up_to_one(pairs):
    ranks = pagerank(graph_of(pairs))
    assert np.allclose(ranks, solved(pairs), rtol=0, atol=1e-12)
    assert abs(ranks.sum() - 1) < 1e-12


@given(PAIRS)
def test_parallel_edges_loops_and_types_change_no_rank(pairs):
    more = [*pairs, *pairs, *((node, node) for node in range(SIZE))]
    assert (pagerank(graph_of(pairs)) == pagerank(graph_of(more, type_=EdgeType.DATA))).all()


@given(PAIRS, st.permutations(range(SIZE)))
def test_the_names_of_the_nodes_play_no_part(pairs, names):
    plain, renamed = pagerank(graph_of(pairs)), pagerank(graph_of(pairs, names=names))
    assert np.allclose(plain, [renamed[name] for name in names], rtol=1e-12, atol=0)
    for one, other in zip(standing(plain), standing(renamed), strict=True):
        assert one.tolist() == [other[name] for name in names]


@pytest.mark.parametrize(
    ("ranks", "below", "equal"),
    [
        ([0.3, 0.1, 0.3, 0.2], [2, 0, 2, 1], [2, 1, 2, 1]),
        ([1.0, 1.0 + 0.9e-9, 1.0 + 1.8e-9, 1.1], [0, 0, 0, 3], [3, 3, 3, 1]),
        ([1.0, 1.0 + 1.1e-9], [0, 1], [1, 1]),
        ([1e-12, 1.01e-12], [0, 1], [1, 1]),
    ],
)
def test_equal_are_neighbours_in_rank_order_within_a_relative_tolerance(ranks, below, equal):
    found = standing(np.array(ranks))
    assert (found.below.tolist(), found.equal.tolist()) == (below, equal)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=1, max_size=9))
def test_percentiles_average_one_half_and_lie_within_zero_and_one(ranks):
    found = standing(np.array(ranks))
    shares = [percentile(*pair, len(ranks)) for pair in zip(found.below.tolist(), found.equal.tolist(), strict=True)]
    assert all(0 < share < 1 for share in shares)
    assert abs(sum(shares) / len(ranks) - 0.5) < 1e-12


def test_centrality_is_the_weighted_mean_of_percentiles_and_unknown_without_weight():
    assert weighted_centrality([3, 1], [(0, 3), (3, 1)], 4) == float(Fraction(3 * 3 + 7, 8 * 4))
    assert weighted_centrality([], [], 4) is None
    assert weighted_centrality([0], [(0, 1)], 4) is None
