"""The graph of one round: its base commit, its objective set, and the answers about its steps.

What belongs here: from a row of `core_rounds` to `GraphFeatures`, or to the reason there are none; rounds with one
graph and one objective set share one walk. What does not: rows of a table. Entries of the objective set are globs on
files, as every list of the contract. Source: spec/trajectory.md §2, spec/ingest.md §2.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UnreadableError
from governance_pipeline.rounds.globs import Globs
from governance_pipeline.trajectory.graph_steps import GraphFeatures
from governance_pipeline.trajectory.repositories import RepositoryReason, RoundBase
from governance_pipeline.trajectory.typed_graph import NodeKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.repositories import OpenRepository, Repositories
    from governance_pipeline.trajectory.repository_graph import RepositoryGraph


NOWHERE: Final = ("\0",)
"""The node of an objective set that matches nothing: no file is called so."""

MOST_ENTRIES: Final = 200
"""Entries of an objective set that are asked about one by one."""


@dataclass(frozen=True, slots=True)
class Objective:
    """The objective set of a round.

    Attributes:
        nodes: files of the graph it matches; `NOWHERE` when its entries match none, nothing without entries.
        unmatched: entries that match none; None where there are too many to ask about each.
    """

    nodes: tuple[str, ...]
    unmatched: int | None

    @property
    def is_declared(self) -> bool:
        """Whether the contract names anything."""
        return bool(self.nodes)

    @property
    def matched(self) -> int:
        """Files of the graph it matches."""
        return 0 if self.nodes == NOWHERE else len(self.nodes)


@dataclass(frozen=True, slots=True)
class RoundGraph:
    """What is known of the repository of a round; `reason` says why it is nothing, and then all else is None."""

    reason: RepositoryReason | None
    repository: OpenRepository | None = None
    commit: str | None = None
    made: RepositoryGraph | None = None
    features: GraphFeatures | None = None
    objective: Objective | None = None


class RoundGraphs:
    """Graphs of rounds; walks over one graph from one objective set are made once for all of them."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories
        self._features: dict[tuple[str, tuple[str, ...], bool], GraphFeatures] = {}

    def of(self, row: Mapping[str, Any]) -> RoundGraph:
        """Give the graph of a round, a row of `core_rounds`.

        Raises:
            StorageError: a graph cannot be kept.
        """
        base = self._repositories.base(row)
        if not isinstance(base, RoundBase):
            return RoundGraph(base)
        try:
            made = base.repository.graph(base.commit)
        except UnreadableError:
            return RoundGraph(RepositoryReason.REPO_INCOMPLETE, base.repository)
        objective = _objective(made, row["scope_objective_set"])
        key = (made.tree, objective.nodes, bool(row["is_repo_directed"]))
        if key not in self._features:
            self._features = {known: some for known, some in self._features.items() if known[0] == made.tree}
            self._features[key] = GraphFeatures(made.graph, objective.nodes, is_directed=key[2])
        return RoundGraph(None, base.repository, str(base.commit.id), made, self._features[key], objective)


def _objective(made: RepositoryGraph, written: str | None) -> Objective:
    patterns = [] if written is None else json.loads(written)
    if not patterns:
        return Objective((), 0)
    files = [id_ for id_, kind in zip(made.graph.ids, made.graph.kinds, strict=True) if kind is NodeKind.FILE]
    nodes = tuple(filter(Globs(patterns).match, files))
    single = [Globs([pattern]) for pattern in patterns if not pattern.startswith("!")]
    if len(single) > MOST_ENTRIES:
        return Objective(nodes or NOWHERE, None)
    return Objective(nodes or NOWHERE, sum(not any(map(one.match, files)) for one in single))
