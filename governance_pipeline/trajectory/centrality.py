"""C of version 2: how central the nodes are that a step changed.

What belongs here: PageRank, its percentile and their weighted mean. What does not: what weighs how much
(`graph_steps`). PageRank follows edges from user to used whatever the distance uses: what many use ranks high.
Source: spec/trajectory.md §2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.trajectory.typed_graph import Integers, TypedGraph

Reals = npt.NDArray[np.float64]

DAMPING: Final = 0.85
"""Probability of following an edge rather than starting anywhere. Source: spec/trajectory.md §2."""

PRECISION: Final = 1e-14
"""Change (L1) of a round of PageRank below which it ends. Source: spec/trajectory.md §2."""

TIE: Final = 1e-9
"""Relative difference within which neighbours in rank order are equal. Source: spec/trajectory.md §2."""

_MOST_ROUNDS: Final = math.ceil(math.log(PRECISION / 2) / math.log(DAMPING)) + 50
"""A round shrinks the change, 2 at most, by the damping: by then it has ended, or only rounding is left of it."""


class Standing(NamedTuple):
    """How many nodes have a lower rank than a node and how many have its own, itself included."""

    below: Integers
    equal: Integers


def pagerank(graph: TypedGraph) -> Reals:
    """Rank of every node; they add up to 1. Uniform start and teleport, dangling mass spread evenly over all nodes."""
    size = len(graph)
    if not size:
        return np.zeros(0)
    used = np.bincount(graph.source, minlength=size)
    is_dangling = used == 0
    share = DAMPING / np.maximum(used, 1)
    order = np.argsort(graph.target, kind="stable")
    source, target = graph.source[order], graph.target[order]
    ranks = np.full(size, 1 / size)
    for _ in range(_MOST_ROUNDS):
        spread = (1 - DAMPING + DAMPING * ranks[is_dangling].sum()) / size
        following = spread + np.bincount(target, weights=(ranks * share)[source], minlength=size)
        following /= following.sum()  # rounding must not add up over hundreds of rounds
        change = np.abs(following - ranks).sum()
        ranks = following
        if change < PRECISION:
            break
    return ranks


def standing(ranks: Reals) -> Standing:
    """Count the nodes below and equal to each; equal are neighbours in rank order within `TIE`, and so on along."""
    size = len(ranks)
    if not size:
        return Standing(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    order = np.argsort(ranks, kind="stable")
    ordered = ranks[order]
    is_higher = np.diff(ordered) > TIE * ordered[1:]
    first = np.flatnonzero(np.concatenate([[True], is_higher]))
    members = np.diff(first, append=size)
    below, equal = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    below[order] = np.repeat(first, members)
    equal[order] = np.repeat(members, members)
    return Standing(below, equal)


def percentile(below: int, equal: int, size: int) -> float:
    """Percentile (0-1) of a node: (nodes below + half of the equal ones, itself included) / all nodes."""
    return (2 * below + equal) / (2 * size)


def weighted_centrality(weights: Sequence[int], standings: Sequence[tuple[int, int]], size: int) -> float | None:
    """C: mean percentile of changed nodes, weighted; None when they weigh nothing.

    Args:
        weights: weight of each changed node that is in the graph.
        standings: nodes (below, equal) of each.
        size: nodes of the graph.
    """
    total = sum(weights)
    parts = (weight * (2 * below + equal) for weight, (below, equal) in zip(weights, standings, strict=True))
    return sum(parts) / (2 * size * total) if total else None
