"""The `govern/repository-graph/v1` document: what the graph of a repository is made from, and what nobody could read.

What belongs here: graph -> document, and its page. What does not: making the graph. A provider states provenance,
units, coverage, gaps and duration here; tables carry all of it but the duration, which differs from run to run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trajectory.graph_cache import provider_digest
from governance_pipeline.trajectory.graph_coverage import READ_TYPES, known_share, read_share
from governance_pipeline.trajectory.repository_files import RepositoryFiles
from governance_pipeline.trajectory.repository_graph import PROVIDER, FactReader, repository_graph

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA: Final = "govern/repository-graph/v1"
UNITS: Final = "files, modules (packages of Go and Java) and symbols; edges from user to used"


def repository_document(path: Path, revision: str) -> dict[str, Any]:
    """Make the graph of a repository at a commit and describe it.

    Raises:
        UsageError: the name means no commit there.
        UnreadableError: it is no repository, or an object is missing.
    """
    files = RepositoryFiles(path)
    commit = files.commit(revision)
    if commit is None:
        raise UsageError(f"{excerpt(revision)!r} names no commit of {excerpt(str(path))}; give --base with one it has")
    made = repository_graph(files, files.tree(commit), FactReader())
    coverage = made.coverage
    return {
        "schema": SCHEMA,
        "provenance": {"commit": str(commit.id), "tree": made.tree, "provider": PROVIDER, "digest": provider_digest()},
        "units": UNITS,
        "nodes": len(made.graph),
        "edges": len(made.graph.source),
        "read_share": read_share(coverage),
        "known_share": {str(type_): known_share(coverage, type_) for type_ in READ_TYPES},
        "coverage": dict(coverage),
        "duration_s": round(made.duration_s, 3),
    }


def repository_lines(document: dict[str, Any]) -> Iterator[str]:
    """Give the document as lines of text."""
    coverage = document["coverage"]
    yield f"{document['nodes']} nodes, {document['edges']} edges of commit {document['provenance']['commit']}"
    yield f"{coverage['files']} files, {coverage['without_provider']} of no language with a provider"
    for name, one in coverage["languages"].items():
        gaps = ", ".join(f"{number} {reason}" for reason, number in one["gaps"].items()) or "no gap"
        yield f"{name}: {one['read']} of {one['files']} files read whole ({gaps}), {one['symbols']} symbols"
    for type_, counts in coverage["edges"].items():
        parts = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("resolved", "external", "unresolved"))
        yield f"{type_}: {counts['seen']} seen: {parts}"
    for reason, number in coverage["tree_gaps"].items():
        yield f"not in the graph: {number} {reason}"
