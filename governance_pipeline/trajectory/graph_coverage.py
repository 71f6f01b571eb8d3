"""What a repository graph was made from, and what of it nobody could read: counts, never an assumption.

What belongs here: counting per language and per edge type. What does not: reading or linking. A provider states with
these numbers how far its edges can be trusted: what is unresolved may be an edge or none.
Source: spec/trajectory.md §2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.trajectory.repository_links import OUTSIDE, RESOLVED, UNRESOLVED
from governance_pipeline.trajectory.syntax import SourceGap
from governance_pipeline.trajectory.typed_graph import EdgeType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.repository_files import RepositoryTree
    from governance_pipeline.trajectory.repository_links import Links
    from governance_pipeline.trajectory.source_facts import FileFacts

READ_TYPES: Final = (EdgeType.IMPORT, EdgeType.CALL, EdgeType.INHERITANCE)
"""Edge types the providers of languages give; event, data and build need providers of another kind."""

OUTCOMES: Final = (RESOLVED, OUTSIDE, UNRESOLVED)


def coverage_of(tree: RepositoryTree, facts: Mapping[str, FileFacts], links: Links) -> dict[str, Any]:
    """Give the coverage of a graph: files, languages with their gaps, and uses seen per edge type.

    Shape: `{files, without_provider, tree_gaps: {reason: n}, languages: {name: {files, read, symbols, gaps: {reason:
    n}, edges: {type: {seen, resolved, external, unresolved}}}}, edges: {type: {…}}}`; names sorted.
    """
    by_language: dict[str, list[FileFacts]] = defaultdict(list)
    for one in facts.values():
        by_language[one.language].append(one)
    return {
        "files": len(tree.files),
        "without_provider": len(tree.files) - len(facts),
        "tree_gaps": dict(sorted(tree.gaps.items())),
        "languages": {name: _language(name, some, links) for name, some in sorted(by_language.items())},
        "edges": {str(type_): _outcomes(links, type_, None) for type_ in READ_TYPES},
    }


def known_share(coverage: Mapping[str, Any], type_: EdgeType) -> float | None:
    """Share (0-1) of the uses of a type of which it is known where they lead, out of the repository included."""
    counts = coverage["edges"][str(type_)]
    return (counts[RESOLVED] + counts[OUTSIDE]) / counts["seen"] if counts["seen"] else None


def read_share(coverage: Mapping[str, Any]) -> float | None:
    """Share (0-1) of the files of languages with a provider that were read without a gap; None without any."""
    files = sum(one["files"] for one in coverage["languages"].values())
    return sum(one["read"] for one in coverage["languages"].values()) / files if files else None


def _language(name: str, facts: list[FileFacts], links: Links) -> dict[str, Any]:
    gaps = Counter(str(one.gap) for one in facts if one.gap is not None)
    return {
        "files": len(facts),
        "read": len(facts) - gaps.total(),
        "read_in_part": gaps[SourceGap.SYNTAX_ERROR],
        "symbols": sum(len(one.definitions) for one in facts),
        "gaps": dict(sorted(gaps.items())),
        "edges": {str(type_): _outcomes(links, type_, name) for type_ in READ_TYPES},
    }


def _outcomes(links: Links, type_: EdgeType, language: str | None) -> dict[str, int]:
    counts = Counter[str]()
    for (name, of, outcome), number in links.counts.items():
        if of == type_ and language in (None, name):
            counts[outcome] += number
    return {"seen": counts.total(), **{outcome: counts[outcome] for outcome in OUTCOMES}}
