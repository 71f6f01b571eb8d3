"""D of version 2: hops from what a step changed to the nearest node of the objective, weighted by churn.

What belongs here: hop counts, their weighted mean and what is out of reach. What does not: what weighs how much
(`graph_steps`). One walk from the whole objective serves every step: the nearest objective is found by starting from
all of them at once, never one walk per change. Source: spec/trajectory.md §2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from governance_pipeline.trajectory.typed_graph import distinct_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from governance_pipeline.trajectory.typed_graph import Integers, Neighbours, TypedGraph

UNREACHABLE: Final = -1
"""Hops of a node from which no objective is reached."""


def hops_to_objective(graph: TypedGraph, objective: Iterable[int], *, is_directed: bool) -> Integers:
    """Count the hops from every node to the nearest objective; `UNREACHABLE` where there is no way.

    Args:
        graph: the graph.
        objective: numbers of the nodes of the objective.
        is_directed: walk along edges only, from user to used; else either way.
    """
    ways = graph.users if is_directed else graph.either  # walked backwards: from the objective to who leads to it
    hops = np.full(len(graph), UNREACHABLE, dtype=np.int64)
    front = distinct_numbers(np.fromiter(objective, dtype=np.int64))
    distance = 0
    while len(front):
        hops[front] = distance
        reached = _next_to(ways, front)
        front = distinct_numbers(reached[hops[reached] == UNREACHABLE])
        distance += 1
    return hops


def weighted_distance(weights: Sequence[int], hops: Sequence[int | None]) -> float | None:
    """D: sum of weight x hops / sum of weight over what reaches an objective; None when that weighs nothing.

    Args:
        weights: weight of each changed node.
        hops: hops of each changed node, None where no objective is reached.
    """
    reaching = [(weight, hop) for weight, hop in zip(weights, hops, strict=True) if hop is not None]
    total = sum(weight for weight, _ in reaching)
    return sum(weight * hop for weight, hop in reaching) / total if total else None


def unreachable_weight_share(weights: Sequence[int], hops: Sequence[int | None]) -> float:
    """Share (0-1) of the weight of a change from which no objective is reached; 0 when nothing changed."""
    lost = sum(weight for weight, hop in zip(weights, hops, strict=True) if hop is None)
    return lost / sum(weights) if lost else 0.0


def _next_to(ways: Neighbours, front: Integers) -> Integers:
    """The neighbours of all nodes of a front, end to end."""
    starts = ways.starts[front]
    counts = ways.starts[front + 1] - starts
    before = np.cumsum(counts) - counts
    positions: Integers = np.repeat(starts - before, counts) + np.arange(counts.sum())
    reached: Integers = ways.nodes[positions]
    return reached
