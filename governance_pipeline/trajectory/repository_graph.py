"""The graph of a repository at one commit, made from its objects.

What belongs here: files -> facts -> links -> graph, with its coverage. What does not: where the repository is
(`repositories`), keeping graphs (`graph_cache`), and what one language means (`providers`). Every file of the tree is a
node, read or not. Source: spec/trajectory.md §2.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.trajectory.graph_coverage import coverage_of
from governance_pipeline.trajectory.providers import is_configuration, language_of
from governance_pipeline.trajectory.repository_links import Linker, symbol_id
from governance_pipeline.trajectory.source_facts import FileFacts, facts_of
from governance_pipeline.trajectory.syntax import SOURCE_BYTES, SourceGap
from governance_pipeline.trajectory.typed_graph import NodeKind, TypedGraph, typed_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.repository_files import RepositoryFiles, RepositoryTree

PROVIDER: Final = "repository-graph-v1"
"""Version of nodes, edges and coverage; it changes whenever a graph of the same tree would."""

MOST_KEPT_FACTS: Final = 200_000
"""Files whose facts are kept in memory; about 2 KB each."""

SLOW_SECONDS: Final = 30.0
"""Processor time files that were given up may cost one graph; after that, no further file is parsed."""


@dataclass(frozen=True)
class RepositoryGraph:
    """The graph of one tree.

    Attributes:
        tree: id of the tree, hex.
        graph: nodes and edges.
        coverage: what it was made from (`graph_coverage.coverage_of`).
        duration_s: seconds it took to make, when it was made.
    """

    tree: str
    graph: TypedGraph
    coverage: Mapping[str, Any]
    duration_s: float


class FactReader:
    """Reads the facts of files, each blob once."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], FileFacts] = {}

    def of_tree(self, files: RepositoryFiles, tree: RepositoryTree) -> dict[str, FileFacts]:
        """Give the facts of every file of a language with a provider, by path."""
        facts: dict[str, FileFacts] = {}
        slow = 0.0
        for path in tree.files:
            if language_of(path) is None:
                continue
            start = time.thread_time()
            facts[path] = self.of_file(files, tree, path, is_over=slow > SLOW_SECONDS)
            slow += (time.thread_time() - start) * (facts[path].gap == SourceGap.TOO_SLOW)
        return facts

    def of_file(self, files: RepositoryFiles, tree: RepositoryTree, path: str, *, is_over: bool = False) -> FileFacts:
        """Give the facts of one file; `is_over`: do not parse what is not known yet."""
        language, blob = language_of(path), tree.files[path]
        if language is None:
            raise ValueError(f"{path!r} has no provider")
        key = (language.name, blob)
        known = self._kept.get(key)
        if known is None:
            data, is_too_large = files.bytes_of(blob, SOURCE_BYTES)
            if data is None or is_over:
                gap = SourceGap.TOO_LARGE if is_too_large else SourceGap.MISSING if data is None else SourceGap.TOO_SLOW
                return FileFacts(language.name, gap, None, (), (), (), ())
            known = facts_of(language, data)
            if len(self._kept) >= MOST_KEPT_FACTS:
                self._kept.clear()
            self._kept[key] = known
        return known


def repository_graph(files: RepositoryFiles, tree: RepositoryTree, reader: FactReader) -> RepositoryGraph:
    """Make the graph of a tree.

    Raises:
        UnreadableError: an object of the tree cannot be read.
    """
    start = time.perf_counter()
    facts = reader.of_tree(files, tree)
    configuration = {
        path: data
        for path, blob in tree.files.items()
        if is_configuration(path) and (data := files.bytes_of(blob, SOURCE_BYTES).data) is not None
    }
    links = Linker(facts, tree.files, configuration).links()
    kinds = dict.fromkeys(tree.files, NodeKind.FILE)
    kinds |= {symbol_id(path, one.name): NodeKind.SYMBOL for path, some in facts.items() for one in some.definitions}
    kinds |= dict.fromkeys(links.modules, NodeKind.MODULE)
    coverage = coverage_of(tree, facts, links)
    return RepositoryGraph(tree.tree, typed_graph(kinds, links.edges), coverage, time.perf_counter() - start)
