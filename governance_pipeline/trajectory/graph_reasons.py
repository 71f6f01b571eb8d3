"""Why a term that needs the graph is unknown: stable codes, the ones of spec/trajectory.md §9."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class GraphReason(StrEnum):
    """Why one of Y, D, C is null."""

    SYMBOLS_UNKNOWN = "symbols_unknown"
    NO_OBJECTIVE_SET = "no_objective_set"
    OBJECTIVE_NOT_IN_GRAPH = "objective_not_in_graph"
    UNREACHABLE = "unreachable"
    NOT_IN_GRAPH = "not_in_graph"


GRAPH_REASONS_IN_WORDS: Final = {
    GraphReason.SYMBOLS_UNKNOWN: "whether a symbol changed is not known",
    GraphReason.NO_OBJECTIVE_SET: "no objective set is declared",
    GraphReason.OBJECTIVE_NOT_IN_GRAPH: "no node of the objective set is in the graph",
    GraphReason.UNREACHABLE: "no objective is reached from what changed",
    GraphReason.NOT_IN_GRAPH: "nothing that changed is in the graph",
}
"""Each reason as the end of a sentence."""
