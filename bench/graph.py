"""W6: distances for 10,000 change sets on a graph of 100,000 nodes and a million edges, and PageRank, beside peers.

Usage: python bench/graph.py [--small]

Shared scope: one walk from the objective, then a look-up per changed node; never a walk per set. Otherwise every set
has an objective of its own and 64 share a walk (`trajectory.set_hops`); the peer is scipy, one search per set, on a
part and scaled. Peers are no requirement of ours: GOVERN_BENCH_GRAPH is the Python of an environment that has scipy
and igraph. Each side answers with the same sums. Source of workload and goals: research/performance.md W6.
"""

from __future__ import annotations

import os
import sys

from sides import Side, judge, run_in_turn

SETUP = """
import sys
import numpy as np
NODES, EDGES, SETS = (int(text) for text in sys.argv[1:4])
random = np.random.default_rng(20260101)
source = random.integers(0, NODES, EDGES)
target = (NODES * random.random(EDGES) ** 2).astype(np.int64)
changed = random.integers(0, NODES, (SETS, 5))
objective = random.integers(0, NODES, (SETS, 5))
PART = max(SETS // 200, 5)
"""
OURS = (
    SETUP
    + """
from governance_pipeline.trajectory.centrality import pagerank
from governance_pipeline.trajectory.graph_distance import hops_to_objective, weighted_distance
from governance_pipeline.trajectory.set_hops import set_hops
from governance_pipeline.trajectory.typed_graph import NodeKind, TypedGraph
ids = tuple(f"n{number:06d}" for number in range(NODES))
pairs = np.unique((source * NODES + target)[source != target])
graph = TypedGraph(ids, {}, (NodeKind.FILE,) * NODES, pairs // NODES, pairs % NODES, {})
graph.either, graph.uses
"""
)
SHARED = (
    OURS
    + """
def work():
    hops = hops_to_objective(graph, objective[0].tolist(), is_directed=False)
    total = 0.0
    for row in hops[changed].tolist():
        total += weighted_distance([1] * 5, [None if hop < 0 else hop for hop in row]) or 0.0
    return round(total, 6)
timed(work)
"""
)
OWN = (
    OURS
    + """
def work():
    found = set_hops(graph.either, objective.tolist(), changed.tolist())
    return sum(sum(row) for row in found[:PART])
timed(work)
"""
)
RANK = (
    OURS
    + """
timed(lambda: round(float(np.sort(pagerank(graph))[-10:].sum()), 9))
"""
)
SCIPY = (
    SETUP
    + """
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra
ends = np.r_[source, target], np.r_[target, source]
both = coo_matrix((np.ones(2 * EDGES, dtype=np.int8), ends), (NODES, NODES)).tocsr()
def work():
    total = 0
    for one, asked in zip(objective[:PART], changed[:PART]):
        hops = dijkstra(both, unweighted=True, indices=one, min_only=True)[asked]
        total += int(np.where(np.isinf(hops), -1, hops).sum())
    return total
timed(work, 2)
"""
)
IGRAPH = (
    SETUP
    + """
import igraph
graph = igraph.Graph(n=NODES, edges=np.unique(np.c_[source, target][source != target], axis=0), directed=True)
timed(lambda: round(float(np.sort(graph.pagerank(damping=0.85))[-10:].sum()), 9))
"""
)


def main() -> None:
    """Print one line per side, then each goal."""
    sizes = ["5000", "50000", "500"] if "--small" in sys.argv else ["100000", "1000000", "10000"]
    shared, own, rank = (Side(name, code, sizes) for name, code in (
        ("shared objective, all sets", SHARED), ("objective per set, 64 a walk", OWN), ("PageRank", RANK),
    ))  # fmt: skip
    peer = os.environ.get("GOVERN_BENCH_GRAPH")
    peers = []
    if peer:
        peers = [
            Side("scipy dijkstra, a part of the sets", SCIPY, sizes, peer),
            Side("igraph PageRank", IGRAPH, sizes, peer),
        ]
    else:
        print("peers: not run; set GOVERN_BENCH_GRAPH to the Python of an environment that has scipy and igraph")
    run_in_turn([shared, own, rank, *peers])
    sets = int(sizes[2])
    results = [
        judge("seconds of a shared objective / one of its own per set", shared.median / own.median, 0.5, at_least=False)
    ]
    if peers:
        part = max(sets // 200, 5)
        scaled = peers[0].median * sets / part
        results += [
            judge("scipy per set / ours per set", scaled / own.median, 30, at_least=True),
            judge("answers of scipy and ours differ by", abs(peers[0].answer - own.answer), 0, at_least=False),
            judge("answers of igraph and ours differ by", abs(peers[1].answer - rank.answer), 1e-6, at_least=False),
        ]
        print(f"PageRank: ours / igraph {rank.median / peers[1].median:.1f}x")
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
