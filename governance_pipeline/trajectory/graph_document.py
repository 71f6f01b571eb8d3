"""The `govern/graph/v1` document: Y, D and C of each step, and the nodes they are made of.

What belongs here: features -> document (spec/trajectory.md §9). What does not: computing (`graph_steps`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.trajectory.documents import shortest_number
from governance_pipeline.trajectory.graph_steps import FEATURE_VERSION, GraphFeatures

if TYPE_CHECKING:
    from governance_pipeline.trajectory.graph_input import GraphInput
    from governance_pipeline.trajectory.graph_steps import NodeFeatures, StepFeatures

SCHEMA: Final = "govern/graph/v1"


def graph_document(given: GraphInput) -> dict[str, Any]:
    """Compute the features of every step and give one `govern/graph/v1` document."""
    features = GraphFeatures(given.graph, given.objective_set, is_directed=given.is_directed)
    return {
        "schema": SCHEMA,
        "feature_version": FEATURE_VERSION,
        "directed": given.is_directed,
        "nodes": len(given.graph),
        "edges": len(given.graph.source),
        "objective_in_graph": len(features.objective),
        "objective_not_in_graph": features.objective_not_in_graph,
        "steps": [_step(features.step(change)) for change in given.changes],
    }


def _step(step: StepFeatures) -> dict[str, Any]:
    return {
        "step": step.step,
        "Y": step.symbols,
        "D": shortest_number(step.distance),
        "C": shortest_number(step.centrality),
        "unreachable_weight_share": shortest_number(step.unreachable_weight_share),
        "not_in_graph": list(step.not_in_graph),
        "nodes": [_node(node) for node in step.nodes],
        "unknown": {term: reason.value for term, reason in step.unknown.items()},
    }


def _node(node: NodeFeatures) -> dict[str, Any]:
    numbers = ("pagerank", "percentile")
    return {**node._asdict(), **{name: shortest_number(getattr(node, name)) for name in numbers}}
