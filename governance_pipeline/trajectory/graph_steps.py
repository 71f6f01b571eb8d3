"""Y, D and C of the steps of a round, from its graph, its objective set and what each step changed.

What belongs here: the weights of a change, and which reason applies when. What does not: reading (`graph_input`),
printing (`graph_page`), and the arithmetic of each term (`graph_distance`, `centrality`, `symbols`).
Source: spec/trajectory.md §2, reasons §9.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.trajectory.centrality import pagerank, percentile, standing, weighted_centrality
from governance_pipeline.trajectory.graph_distance import (
    UNREACHABLE,
    hops_to_objective,
    unreachable_weight_share,
    weighted_distance,
)
from governance_pipeline.trajectory.graph_reasons import GraphReason
from governance_pipeline.trajectory.symbols import SymbolChange, changed_symbols

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from governance_pipeline.trajectory.centrality import Reals, Standing
    from governance_pipeline.trajectory.typed_graph import Integers, TypedGraph

FEATURE_VERSION: Final = "trajectory-features-v2"


class ChangedNode(NamedTuple):
    """One entry of a change: id of the node, lines added + deleted (None: unknown)."""

    id: str
    churn: int | None


class GraphChange(NamedTuple):
    """What one step changed: nodes, and symbols (None: not said)."""

    step: int
    nodes: tuple[ChangedNode, ...]
    symbols: tuple[SymbolChange, ...] | None


class NodeFeatures(NamedTuple):
    """One changed node: weight, hops to the objective, and how it stands in the graph; None where unknown."""

    id: str
    weight: int
    distance: int | None
    pagerank: float | None
    percentile: float | None
    degree: int | None


class StepFeatures(NamedTuple):
    """The terms of one step, None where unknown; its nodes by id; a reason for each unknown term."""

    step: int
    symbols: int | None
    distance: float | None
    centrality: float | None
    unreachable_weight_share: float | None
    not_in_graph: tuple[str, ...]
    nodes: tuple[NodeFeatures, ...]
    unknown: Mapping[str, GraphReason]


class GraphFeatures:
    """Answers for one graph and one objective set; each walk over the graph is made once, and only if it is asked for.

    Args:
        graph: the graph at the base commit of the round.
        objective_set: ids of the objective, in the graph or not.
        is_directed: distance follows edges from user to used.
    """

    def __init__(self, graph: TypedGraph, objective_set: Iterable[str], *, is_directed: bool) -> None:
        self.graph = graph
        declared = frozenset(objective_set)
        self.objective = sorted(graph.number_of[id_] for id_ in declared if id_ in graph.number_of)
        self.objective_not_in_graph = len(declared) - len(self.objective)
        self.is_directed = is_directed

    def step(self, change: GraphChange) -> StepFeatures:
        """Compute the terms of one step."""
        nodes = self._nodes(change_weights(change.nodes))
        symbols = changed_symbols(change.symbols)
        distance, share, no_distance = self._distance(nodes)
        centrality = self._mean_centrality(nodes) if nodes else 0.0
        unknown = {
            "Y": GraphReason.SYMBOLS_UNKNOWN if symbols is None else None,
            "D": no_distance,
            "C": GraphReason.NOT_IN_GRAPH if centrality is None else None,
        }
        return StepFeatures(
            step=change.step,
            symbols=symbols,
            distance=distance,
            centrality=centrality,
            unreachable_weight_share=share,
            not_in_graph=tuple(node.id for node in nodes if node.degree is None),
            nodes=nodes,
            unknown={term: reason for term, reason in unknown.items() if reason is not None},
        )

    @cached_property
    def _hops(self) -> Integers:
        return hops_to_objective(self.graph, self.objective, is_directed=self.is_directed)

    @cached_property
    def _ranks(self) -> Reals:
        return pagerank(self.graph)

    @cached_property
    def _standing(self) -> Standing:
        return standing(self._ranks)

    def _nodes(self, weights: Mapping[str, int]) -> tuple[NodeFeatures, ...]:
        return tuple(self._node(id_, weights[id_]) for id_ in sorted(weights))

    def _node(self, id_: str, weight: int) -> NodeFeatures:
        number = self.graph.number_of.get(id_)
        if number is None:
            return NodeFeatures(id_, weight, None, None, None, None)
        hops = int(self._hops[number])
        return NodeFeatures(
            id=id_,
            weight=weight,
            distance=None if hops == UNREACHABLE else hops,
            pagerank=float(self._ranks[number]),
            percentile=percentile(*self._place(number), len(self.graph)),
            degree=int(self.graph.degree[number]),
        )

    def _place(self, number: int) -> tuple[int, int]:
        return int(self._standing.below[number]), int(self._standing.equal[number])

    def _distance(self, nodes: Sequence[NodeFeatures]) -> tuple[float | None, float | None, GraphReason | None]:
        """D, the share out of reach, and why D is unknown; without an objective also where nothing changed."""
        if not self.objective:
            is_declared = self.objective_not_in_graph > 0
            return None, None, GraphReason.OBJECTIVE_NOT_IN_GRAPH if is_declared else GraphReason.NO_OBJECTIVE_SET
        if not nodes:
            return 0.0, 0.0, None
        weights, hops = [node.weight for node in nodes], [node.distance for node in nodes]
        distance = weighted_distance(weights, hops)
        share = unreachable_weight_share(weights, hops)
        return distance, share, GraphReason.UNREACHABLE if distance is None else None

    def _mean_centrality(self, nodes: Sequence[NodeFeatures]) -> float | None:
        known = [(node.weight, number) for node in nodes if (number := self.graph.number_of.get(node.id)) is not None]
        weights = [weight for weight, _ in known]
        return weighted_centrality(weights, [self._place(number) for _, number in known], len(self.graph))


def change_weights(nodes: Iterable[ChangedNode]) -> dict[str, int]:
    """Give the weight of each changed node: its churn, 1 when unknown; 1 for each when all weights add up to 0.

    A node listed twice adds its churn, which is unknown if one of them is.
    """
    churn: dict[str, int | None] = {}
    for node in nodes:
        before = churn.get(node.id, 0)
        churn[node.id] = None if before is None or node.churn is None else before + node.churn
    weights = {id_: 1 if lines is None else lines for id_, lines in churn.items()}
    return weights if any(weights.values()) else dict.fromkeys(weights, 1)
