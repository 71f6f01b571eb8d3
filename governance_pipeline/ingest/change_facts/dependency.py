"""One declared dependency, and what became of the dependencies of a manifest.

What belongs here: the shape and the comparison. What does not: reading a manifest (python_manifests, other_manifests).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.ingest.change_facts.fact import ChangeFact, short
from governance_pipeline.vocabulary import FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Dependency(NamedTuple):
    """One dependency as a manifest declares it.

    Attributes:
        text: what it may be, as written.
        is_pinned: it can be one version only; None when another place decides (a workspace, a property).
        line: where it stands, from 1; None when unknown.
    """

    text: str
    is_pinned: bool | None
    line: int | None = None


Dependencies = dict[str, Dependency]
"""`ecosystem:package` -> dependency; the same package in two groups is one, pinned when each is."""


def add_dependency(found: Dependencies, name: str, dependency: Dependency) -> None:
    """Add one; a package declared twice is pinned only when both are."""
    known = found.get(name)
    if known is None:
        found[name] = dependency
        return
    states = {known.is_pinned, dependency.is_pinned}
    pinned = None if None in states else states == {True}
    texts = dict.fromkeys([*known.text.split(" | "), dependency.text])
    found[name] = Dependency(" | ".join(texts), pinned, known.line)


def compare_dependencies(before: Mapping[str, Dependency], after: Mapping[str, Dependency]) -> Iterator[ChangeFact]:
    """Tell which dependencies came, went, changed or lost their pin, in the order of their names."""
    for name in sorted(before.keys() | after.keys()):
        then, now = before.get(name), after.get(name)
        if then is None and now is not None:
            yield ChangeFact(FactKind.DEPENDENCY_ADDED, name, None, short(now.text), file_line=now.line)
        elif now is None and then is not None:
            yield ChangeFact(FactKind.DEPENDENCY_REMOVED, name, short(then.text), None, file_line=then.line)
        elif then is not None and now is not None and then.text != now.text:
            lost = then.is_pinned is True and now.is_pinned is False
            kind = FactKind.DEPENDENCY_UNPINNED if lost else FactKind.DEPENDENCY_CHANGED
            yield ChangeFact(kind, name, short(then.text), short(now.text), file_line=now.line)
