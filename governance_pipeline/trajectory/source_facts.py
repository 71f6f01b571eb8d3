"""What one file says by itself: its definitions, what it imports, calls and inherits from.

What belongs here: tree -> facts, the same for every language. What does not: what an import leads to
(`repository_links`) and other files. Facts depend on the bytes of the file alone, so they are read once per blob.

A definition is a function, class or method that can be named from outside; what is defined inside a function is part of
that function. Definitions of one name in one place (overloads, branches) are one symbol.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.trajectory.providers.language import Import, text_of
from governance_pipeline.trajectory.syntax import SourceGap, parse, query_of
from governance_pipeline.trajectory.typed_graph import EdgeType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Tree

    from governance_pipeline.trajectory.providers.language import Language

_NAMED: Final = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_GENERICS: Final = re.compile(r"[<\[].*", re.DOTALL)
_LONGEST: Final = 200
"""Characters of the longest dotted name that is followed."""

_BLOCKS: Final = ("scope", "space")
_DEFINING: Final = ("function", "class", "method", *_BLOCKS)


class Definition(NamedTuple):
    """One symbol of a file, or a block that names those in it: dotted name, kind, and its syntax node."""

    name: str
    kind: str
    node: Node


class Symbol(NamedTuple):
    """One symbol without its tree."""

    name: str
    kind: str


class Use(NamedTuple):
    """One call or base class: which symbol uses it (None: the file itself), and the name it is used by.

    `owner` is what stands before the last dot, "" for nothing, None where it is no plain name.
    """

    type: EdgeType
    by: str | None
    owner: str | None
    name: str


class FileFacts(NamedTuple):
    """Facts of one file; each use once, with how often it stands there in `times`."""

    language: str
    gap: SourceGap | None
    package: str | None
    definitions: tuple[Symbol, ...]
    imports: tuple[Import, ...]
    uses: tuple[Use, ...]
    times: tuple[int, ...]


def facts_of(language: Language, source: bytes) -> FileFacts:
    """Read the facts of a file; never raises for what is in it."""
    parsed = parse(language, source)
    if parsed.tree is None:
        return FileFacts(language.name, parsed.gap, None, (), (), (), ())
    matches = _matches(language, parsed.tree)
    definitions = _named_places(matches)
    imports = tuple(dict.fromkeys(one for node in _marked(matches, "import") for one in language.imports(node)))
    counts: dict[Use, int] = {}
    for type_, mark in ((EdgeType.CALL, "call"), (EdgeType.INHERITANCE, "base")):
        for node, by in _with_user(list(_marked(matches, mark)), definitions):
            owner, name = _used(node)
            use = Use(type_, by, owner, name)
            counts[use] = counts.get(use, 0) + 1
    symbols = tuple(sorted({Symbol(one.name, one.kind) for one in definitions if one.kind not in _BLOCKS}))
    package = next((text_of(node).replace(" ", "") for node in _marked(matches, "package")), None)
    return FileFacts(language.name, parsed.gap, package, symbols, imports, tuple(counts), tuple(counts.values()))


def definitions_of(language: Language, tree: Tree) -> list[Definition]:
    """Give the definitions of a tree, in document order; several of one name are several here."""
    return [one for one in _named_places(_matches(language, tree)) if one.kind not in _BLOCKS]


def _matches(language: Language, tree: Tree) -> list[dict[str, list[Node]]]:
    import tree_sitter

    cursor = tree_sitter.QueryCursor(query_of(language))
    return [captures for _, captures in cursor.matches(tree.root_node)]


def _marked(matches: list[dict[str, list[Node]]], mark: str) -> Iterator[Node]:
    for captures in matches:
        yield from captures.get(mark, ())


def _named_places(matches: list[dict[str, list[Node]]]) -> list[Definition]:
    """Name every definition and block by those around it; what stands inside a function is left out."""
    marked = []
    for captures in matches:
        kind = next((one for one in _DEFINING if one in captures), None)
        if kind is not None:
            marked.append((captures[kind][0], kind, captures))
    marked.sort(key=lambda entry: (entry[0].start_byte, -entry[0].end_byte))
    found: list[Definition] = []
    around: list[tuple[int, str, str]] = []  # end, dotted name, kind
    for node, kind, captures in marked:
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        outer = around[-1] if around else None
        if outer is not None and outer[2] in ("function", "method"):
            continue
        owner = _GENERICS.sub("", text_of(captures["owner"][0]).lstrip("*& ")).strip() if "owner" in captures else ""
        last = "" if kind in _BLOCKS else text_of(captures["name"][0])
        name = ".".join(part for part in (outer[1] if outer else "", owner.replace("::", "."), last) if part)
        is_in_class = kind == "function" and outer is not None and outer[2] in ("class", "scope")
        actual = "method" if is_in_class else kind
        around.append((node.end_byte, name, actual))
        found.append(Definition(name, actual, node))
    return found


def _with_user(nodes: list[Node], definitions: list[Definition]) -> Iterator[tuple[Node, str | None]]:
    """Each node with the innermost definition around it."""
    nodes = sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))
    around: list[tuple[int, str]] = []
    waiting = iter(definitions)
    following = next(waiting, None)
    for node in nodes:
        while following is not None and following.node.start_byte <= node.start_byte:
            while around and around[-1][0] <= following.node.start_byte:
                around.pop()
            around.append((following.node.end_byte, following.name))
            following = next(waiting, None)
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        yield node, around[-1][1] if around else None


def _used(node: Node) -> tuple[str | None, str]:
    """Owner and name of what a node uses."""
    if node.type == "method_invocation":  # Java: the call itself is the node, its object and name are fields
        target, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("name"))
        owner = "" if target is None else _dotted(target)
        return owner, name[:_LONGEST]
    whole = _dotted(node)
    if whole is None:
        return None, ""
    owner, _, name = whole.rpartition(".")
    return owner, name


def _dotted(node: Node) -> str | None:
    """A name with dots, whatever joins it in the language; None when it is no plain name."""
    if node.end_byte - node.start_byte > _LONGEST:
        return None
    text = text_of(node).replace("::", ".").replace("?.", ".")
    parts = text.split(".")
    return text if all(_NAMED.fullmatch(part) for part in parts) else None
