"""How far a change of a file reaches: the files that use it, directly or through others, tests apart.

What belongs here: the adapter of amplification that counts in the repository graph, and what it says of itself. What
does not: frequency (`touch_frequency`) and what a product means (`amplification`). A test is a file that is named or
placed as one; the core knows no test framework, only this adapter does. Source: spec/trajectory.md §6.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from governance_pipeline.trajectory.providers import language_of
from governance_pipeline.trajectory.set_hops import reach_counts
from governance_pipeline.trajectory.typed_graph import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.trajectory.typed_graph import TypedGraph

MOST_UNITS: Final = 20_000
"""Files of a graph whose impacts are all counted; of a larger one only touched files are, and there is no region."""

TEST_FILE: Final = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|testing)/|(?:^|/)test_[^/]*\.py$|_test\.(?:py|go|rs)$|\.(?:test|spec)\.[cm]?[jt]sx?$"
    r"|(?:^|/)[^/]*Tests?\.java$"
)
"""Paths of tests, as the languages with a provider name them."""

IMPACT_PROVIDER: Final[dict[str, Any]] = {
    "provenance": "repository graph from git objects (features_graph_surface names its version and coverage)",
    "units": "files of languages with a provider",
    "counts": "files that reach the unit along import, call and inheritance edges, itself left out; tests by name",
    "gaps": "uses that are unresolved make no edge, so an impact is a lower bound; other languages have none",
    "confidence": "known_imports_share and read_files_share of the same row",
}
"""What the adapter says of its counts."""


class Impact(NamedTuple):
    """Files that use a unit, and the tests among them."""

    files: int
    tests: int


def units_of(graph: TypedGraph) -> list[str]:
    """Give the files that have an impact: those of languages with a provider."""
    pairs = zip(graph.ids, graph.kinds, strict=True)
    return [id_ for id_, kind in pairs if kind is NodeKind.FILE and language_of(id_) is not None]


def impacts(graph: TypedGraph, units: Iterable[str]) -> dict[str, Impact]:
    """Count the impact of units; one that is no node, or of no language with a provider, is left out."""
    known = [unit for unit in units if unit in graph.number_of and language_of(unit) is not None]
    is_file = np.array([kind is NodeKind.FILE for kind in graph.kinds], dtype=np.bool_)
    is_test = np.array([bool(TEST_FILE.search(id_)) for id_ in graph.ids], dtype=np.bool_) & is_file
    counts = reach_counts(graph.uses, [graph.number_of[unit] for unit in known], [is_file, is_test])
    return {unit: Impact(*row) for unit, row in zip(known, counts.tolist(), strict=True)}
