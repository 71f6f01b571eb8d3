"""Hops from many sets of nodes at once: 64 sets share one walk over the graph, one bit of a word each.

What belongs here: the walk. What does not: what a set means: an objective set of its own for every change (`set_hops`),
or a unit whose users are counted (`reach_counts`). Rounds that share an objective share one walk and do not need this
(`graph_distance`). Measured against one search per set in research/performance.md W6 and bench/graph.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from governance_pipeline.trajectory.graph_distance import UNREACHABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.trajectory.typed_graph import Integers, Neighbours

Words = npt.NDArray[np.uint64]

WORD_SETS: Final = 64
"""Sets of one walk: the bits of a word."""


def set_hops(incoming: Neighbours, sets: Sequence[Sequence[int]], asked: Sequence[Sequence[int]]) -> list[list[int]]:
    """Count the hops from each set to the nodes asked about it; `UNREACHABLE` where there is no way.

    Args:
        incoming: for each node, those a walk comes from: `TypedGraph.either`, or `.uses` for walks from used to user.
        sets: numbers of the nodes of each set, where its walk starts.
        asked: for each set, the nodes whose hops are wanted.

    Returns:
        For each set, the hops of its nodes, in their order.
    """
    found: list[list[int]] = []
    for first in range(0, len(sets), WORD_SETS):
        some, wanted = sets[first : first + WORD_SETS], asked[first : first + WORD_SETS]
        owner = np.repeat(np.arange(len(wanted)), [len(one) for one in wanted])
        nodes = np.fromiter((node for one in wanted for node in one), dtype=np.int64, count=len(owner))
        bits = np.uint64(1) << owner.astype(np.uint64)
        hops = np.full(len(nodes), UNREACHABLE, dtype=np.int64)
        for distance, reached in _levels(incoming, some):
            is_new = (hops == UNREACHABLE) & ((reached[nodes] & bits) != 0)
            hops[is_new] = distance
            if not (hops == UNREACHABLE).any():
                break
        ends = np.cumsum([len(one) for one in wanted])[:-1]
        found += [part.tolist() for part in np.split(hops, ends)]
    return found


def reach_counts(incoming: Neighbours, starts: Sequence[int], counted: Sequence[npt.NDArray[np.bool_]]) -> Integers:
    """Count, for each start, the nodes it reaches, itself left out.

    Args:
        incoming: as in `set_hops`.
        starts: one node each.
        counted: masks over the nodes; a reached node counts for each mask it is in.

    Returns:
        Shape (starts, masks).
    """
    counts = np.zeros((len(starts), len(counted)), dtype=np.int64)
    for first in range(0, len(starts), WORD_SETS):
        some = starts[first : first + WORD_SETS]
        reached = np.zeros(len(incoming.starts) - 1, dtype=np.uint64)
        for _, level in _levels(incoming, [[start] for start in some]):
            reached = level
        for position, start in enumerate(some):
            is_reached = (reached & np.uint64(1 << position)) != 0
            is_reached[start] = False
            counts[first + position] = [np.count_nonzero(is_reached & mask) for mask in counted]
    return counts


def _levels(incoming: Neighbours, sets: Sequence[Sequence[int]]) -> Iterator[tuple[int, Words]]:
    """For each distance from 0, the sets that have reached each node by then, a bit each; the same array every time."""
    reached = np.zeros(len(incoming.starts) - 1, dtype=np.uint64)
    for position, nodes in enumerate(sets):
        reached[np.asarray(nodes, dtype=np.int64)] |= np.uint64(1 << position)
    has_any = np.flatnonzero(np.diff(incoming.starts))
    starts = incoming.starts[has_any]
    distance = 0
    yield distance, reached
    while len(has_any):
        gathered = np.bitwise_or.reduceat(reached[incoming.nodes], starts)
        following = reached[has_any] | gathered
        if np.array_equal(following, reached[has_any]):
            return
        reached[has_any] = following
        distance += 1
        yield distance, reached
