"""Facts of files -> edges between nodes: what each import, call and base class leads to.

What belongs here: looking names up. What does not: reading files (`source_facts`) and what an import spelling means
(`providers`). Only what follows from names is an edge: the file's own definitions, what it imports, the package it
shares. A call on an object whose class nobody names leads nowhere, and is counted as unresolved, never guessed.

An edge of symbols in two files is one of the files too, so that files that use each other without an import (one Go or
Java package) are joined as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.trajectory.providers import LANGUAGES
from governance_pipeline.trajectory.providers.language import UNKNOWN, Resolved, Sources, folder_of, module_id
from governance_pipeline.trajectory.typed_graph import Edge, EdgeType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from governance_pipeline.trajectory.providers.language import Import
    from governance_pipeline.trajectory.source_facts import FileFacts, Use

MOST_PASSED_ON: Final = 64
"""Places a name is looked for in that pass it on (`__init__.py`, index files); beyond, it is unresolved."""

RESOLVED, OUTSIDE, UNRESOLVED = "resolved", "external", "unresolved"


def symbol_id(path: str, name: str) -> str:
    """Id of the node of a symbol."""
    return f"{path}::{name}"


class Binding(NamedTuple):
    """What a name of a file stands for: files, or a member of them; none and not external = unknown."""

    files: tuple[str, ...]
    member: str | None
    is_external: bool


Used = tuple[tuple[str, str] | None, str]
"""(file, symbol) a use leads to, and what became of it."""


class Links(NamedTuple):
    """Edges of a repository, and what became of each use: (language, edge type, resolved | external | unresolved)."""

    edges: list[Edge]
    counts: Counter[tuple[str, EdgeType, str]]
    modules: set[str]


class Linker:
    """Looks up the names of all files of one repository.

    Args:
        facts: facts of each file, by path.
        paths: every file of the repository.
        configuration: bytes of the files resolvers read, by path.
    """

    def __init__(
        self, facts: Mapping[str, FileFacts], paths: Iterable[str], configuration: Mapping[str, bytes]
    ) -> None:
        self._facts = facts
        self._language = {language.name: language for language in LANGUAGES}
        families: dict[str, dict[str, FileFacts]] = defaultdict(dict)
        for path, one in facts.items():
            families[self._language[one.language].family][path] = one
        every = frozenset(paths)
        self._resolve: dict[str, Callable[[str, str], Resolved]] = {
            language.family: language.resolver(Sources(every, families[language.family], configuration))
            for language in LANGUAGES
            if language.family in families
        }
        self._symbols = {path: frozenset(symbol.name for symbol in one.definitions) for path, one in facts.items()}
        self._members: dict[str, list[str]] = defaultdict(list)
        self._packages: dict[tuple[str, str], dict[str, str]] = {}
        for path in sorted(facts):
            self._share(path)
        self._bindings: dict[str, dict[str, Binding]] = {}
        self._imported: dict[str, list[tuple[Import, list[Resolved]]]] = {}

    def links(self) -> Links:
        """Link every file."""
        links = Links([], Counter(), set())
        for path in sorted(self._facts):
            self.link(path, links)
        for module in sorted(links.modules):
            links.edges.extend(Edge(module, member, EdgeType.IMPORT) for member in self._members[module])
        return links

    def link(self, path: str, links: Links) -> None:
        """Add the edges and counts of one file."""
        facts = self._facts[path]
        bindings = self._bindings_of(path)
        for _, found in self._imported[path]:
            for one in found[:1]:
                links.counts[facts.language, EdgeType.IMPORT, _outcome(one)] += 1
            for one in found:
                links.modules.update([one.module] if one.module else [])
                targets = [*one.files, *([one.module] if one.module else [])]
                links.edges.extend(Edge(path, target, EdgeType.IMPORT) for target in targets)
        for use, times in zip(facts.uses, facts.times, strict=True):
            target, outcome = self._used(path, use, bindings)
            links.counts[facts.language, use.type, outcome] += times
            if target is not None:
                user = symbol_id(path, use.by) if use.by in self._symbols[path] else path
                links.edges.append(Edge(user, symbol_id(*target), use.type))
                if target[0] != path:
                    links.edges.append(Edge(path, target[0], use.type))

    def _share(self, path: str) -> None:
        """Enter a file into its folder's module and, by name, its definitions into its package."""
        facts = self._facts[path]
        language = self._language[facts.language]
        is_test = path.endswith("_test.go")
        if not is_test:
            self._members[module_id(folder_of(path))].append(path)
        if language.shares_package:
            key = self._package_of(path)
            names = self._packages.setdefault(key, {})
            for symbol in facts.definitions:
                names.setdefault(symbol.name, path)

    def _package_of(self, path: str) -> tuple[str, str]:
        facts = self._facts[path]
        return facts.language, folder_of(path) if facts.package is None else facts.package

    def _bindings_of(self, path: str) -> dict[str, Binding]:
        known = self._bindings.get(path)
        if known is None:
            known = self._bindings[path] = {}
            self._imported[path] = [(one, self._import(path, one, known)) for one in self._facts[path].imports]
        return known

    def _import(self, path: str, one: Import, bindings: dict[str, Binding]) -> list[Resolved]:
        """Bind the names of an import; gives what it leads to, the import itself first."""
        language = self._language[self._facts[path].language]
        resolve = self._resolve[language.family]
        found = [resolve(path, one.target)]
        if one.local:
            bindings[one.local] = self._binding(found[0])
        for name, here in one.names:
            submodule = UNKNOWN
            if language.submodules and name != "*":
                joint = "" if one.target.endswith(language.submodules) else language.submodules
                submodule = resolve(path, f"{one.target}{joint}{name}")
            if submodule.files and submodule.member is None:
                found.append(submodule)
                bindings[here] = self._binding(submodule)
            elif name != "*":
                bindings[here] = self._binding(found[0])._replace(member=name)
        if not (found[0].files or found[0].module or found[0].is_external) and len(found) > 1:
            found = found[1:]  # a folder without a file of its own: what is taken out of it is what is imported
        return found

    def _binding(self, found: Resolved) -> Binding:
        files = tuple(self._members[found.module]) if found.module else found.files
        return Binding(files, found.member, found.is_external)

    def _used(self, path: str, use: Use, bindings: Mapping[str, Binding]) -> Used:
        """Look up one use."""
        if use.owner is None:
            return None, UNRESOLVED
        own = self._symbols[path]
        if use.owner in self._language[self._facts[path].language].selves:
            name = f"{(use.by or '').rpartition('.')[0]}.{use.name}"
            return ((path, name), RESOLVED) if name in own else (None, UNRESOLVED)
        dotted = f"{use.owner}.{use.name}" if use.owner else use.name
        around = (use.by or "").split(".")[:1][0]
        for name in (dotted, f"{around}.{dotted}"):
            if name in own:
                return (path, name), RESOLVED
        found = self._bound(dotted, bindings)
        if found is not None:
            return found
        if self._language[self._facts[path].language].shares_package:
            mate = self._packages[self._package_of(path)].get(dotted)
            if mate is not None:
                return (mate, dotted), RESOLVED
        return None, UNRESOLVED

    def _bound(self, dotted: str, bindings: Mapping[str, Binding]) -> Used | None:
        """What a dotted name leads to by way of the longest part of it that is bound; None when none is."""
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            binding = bindings.get(".".join(parts[:length]))
            if binding is None:
                continue
            if binding.is_external:
                return None, OUTSIDE
            rest = [*([binding.member] if binding.member else []), *parts[length:]]
            for file in binding.files:
                found = self._member(file, ".".join(rest))
                if found is not None:
                    return found, RESOLVED
            return None, UNRESOLVED
        return None

    def _member(self, path: str, dotted: str) -> tuple[str, str] | None:
        """The symbol a name of a file stands for, through files that pass it on, the nearest first."""
        waiting, seen = deque([(path, dotted)]), {(path, dotted)}
        while waiting:
            file, name = waiting.popleft()
            if name in self._symbols.get(file, ()):
                return file, name
            for following in self._passed_on(file, name):
                if following not in seen and len(seen) < MOST_PASSED_ON:
                    seen.add(following)
                    waiting.append(following)
        return None

    def _passed_on(self, path: str, dotted: str) -> Iterator[tuple[str, str]]:
        """Where a file has a name from: the import that binds it, else whatever it imports whole."""
        if path not in self._facts:
            return
        head, _, rest = dotted.partition(".")
        binding = self._bindings_of(path).get(head)
        if binding is not None:
            inner = ".".join(part for part in (binding.member, rest) if part)
            yield from ((file, inner) for file in binding.files if inner)
            return
        for one, resolved in self._imported.get(path, []):
            if ("*", "*") in one.names:
                yield from ((file, dotted) for file in resolved[0].files)


def _outcome(found: Resolved) -> str:
    if found.is_external:
        return OUTSIDE
    return RESOLVED if found.files or found.module else UNRESOLVED
