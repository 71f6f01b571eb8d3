"""The typed graph of a repository: nodes, and who uses whom, as arrays that distance and centrality walk over.

What belongs here: the graph itself, its distinct edges and its neighbours. What does not: where it comes from
(providers), distances (`graph_distance`) and ranks (`centrality`). Nodes are kept in code point order whatever order
they came in, so that no sum depends on it. Source: spec/trajectory.md §2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Integers = npt.NDArray[np.int64]


class NodeKind(StrEnum):
    """What a node stands for."""

    FILE = "file"
    MODULE = "module"
    SYMBOL = "symbol"


class EdgeType(StrEnum):
    """How the node an edge leaves uses the one it enters."""

    IMPORT = "import"
    CALL = "call"
    INHERITANCE = "inheritance"
    EVENT = "event"
    DATA = "data"
    BUILD = "build"


class Edge(NamedTuple):
    """One use: id of the user, id of what it uses, and how."""

    source: str
    target: str
    type: EdgeType


class Neighbours(NamedTuple):
    """Lists of neighbours, one per node, laid end to end: those of node v are `nodes[starts[v]:starts[v + 1]]`."""

    starts: Integers
    nodes: Integers


@dataclass(frozen=True)
class TypedGraph:
    """A graph of distinct uses; parallel edges count once whatever their types, loops not at all.

    Attributes:
        ids: ids of the nodes, in code point order; position = number of the node.
        number_of: id -> number.
        kinds: kind of each node.
        source: number of the user, one per distinct edge, ordered by (source, target).
        target: number of what is used, likewise.
        edges_of_type: edges per type as they were given, parallel ones and loops included.
    """

    ids: tuple[str, ...]
    number_of: Mapping[str, int]
    kinds: tuple[NodeKind, ...]
    source: Integers
    target: Integers
    edges_of_type: Mapping[EdgeType, int]

    def __len__(self) -> int:
        """Count the nodes."""
        return len(self.ids)

    @cached_property
    def users(self) -> Neighbours:
        """Who uses each node."""
        return neighbours(self.target, self.source, len(self))

    @cached_property
    def uses(self) -> Neighbours:
        """What each node uses."""
        return neighbours(self.source, self.target, len(self))

    @cached_property
    def either(self) -> Neighbours:
        """Distinct neighbours of each node, those it uses and those that use it."""
        one, other = np.concatenate([self.source, self.target]), np.concatenate([self.target, self.source])
        return neighbours(*_distinct(one, other, len(self)), len(self))

    @cached_property
    def degree(self) -> Integers:
        """Distinct neighbours of each node, both directions."""
        return np.diff(self.either.starts)


def typed_graph(kind_of: Mapping[str, NodeKind], edges: Iterable[Edge]) -> TypedGraph:
    """Build the graph.

    Args:
        kind_of: id -> kind of every node, in any order.
        edges: uses between these nodes, in any order.

    Raises:
        KeyError: an edge joins a node that is not listed.
    """
    ids = tuple(sorted(kind_of))
    number_of = {id_: number for number, id_ in enumerate(ids)}
    counts = dict.fromkeys(EdgeType, 0)
    source, target = [], []
    for edge in edges:
        source.append(number_of[edge.source])
        target.append(number_of[edge.target])
        counts[edge.type] += 1
    ends = _distinct(np.array(source, dtype=np.int64), np.array(target, dtype=np.int64), len(ids))
    return TypedGraph(ids, number_of, tuple(kind_of[id_] for id_ in ids), *ends, counts)


def distinct_numbers(numbers: Integers) -> Integers:
    """Sort numbers and drop the repeated ones. `numpy.unique` hashes: fifty times as long on a million edges."""
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def _distinct(source: Integers, target: Integers, size: int) -> tuple[Integers, Integers]:
    """Drop loops and repeated pairs, and order what is left by (source, target)."""
    is_no_loop = source != target
    pairs = distinct_numbers(source[is_no_loop] * size + target[is_no_loop])
    return pairs // max(size, 1), pairs % max(size, 1)


def neighbours(of: Integers, nodes: Integers, size: int) -> Neighbours:
    """Group pairs (of, node) by their first member; `size` is the number of nodes."""
    starts = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(of, minlength=size), out=starts[1:])
    return Neighbours(starts, nodes[np.argsort(of, kind="stable")])
