"""The parts of each symbol of a file that count as its own: signature and body, each as a digest of its syntax.

What belongs here: file -> symbols with digests. What does not: comparing two files (`symbol_changes`). Digests are of
tokens and how they nest, so neither layout nor a comment changes one. A class owns what lies outside the symbols in it;
a function owns what is defined inside it. Source: spec/trajectory.md §2.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.trajectory.source_facts import definitions_of
from governance_pipeline.trajectory.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Collection

    from tree_sitter import Node

    from governance_pipeline.trajectory.providers.language import Language
    from governance_pipeline.trajectory.source_facts import Definition


class SymbolParts(NamedTuple):
    """Kind of a symbol and the digests of its signature and body."""

    kind: str
    signature: bytes
    body: bytes


def symbol_parts(language: Language, source: bytes) -> dict[str, SymbolParts] | None:
    """Give the symbols of a file by dotted name; None when the file cannot be read whole.

    Several definitions of one name are one symbol of all their parts.
    """
    parsed = parse(language, source)
    if parsed.tree is None or parsed.gap is not None:
        return None
    found: dict[str, list[Definition]] = defaultdict(list)
    definitions = definitions_of(language, parsed.tree)
    for one in definitions:
        found[one.name].append(one)
    inner = {_whole(one.node).id for one in definitions}
    return {name: _parts(same, inner) for name, same in found.items()}


def _parts(same: list[Definition], definitions: Collection[int]) -> SymbolParts:
    signature, body = hashlib.sha256(), hashlib.sha256()
    for one in same:
        inside = _body(one.node)
        left_out = set(definitions) - {_whole(one.node).id} if one.kind == "class" else set()
        if inside is not None:
            body.update(_tokens(inside, left_out))
            left_out = left_out | {inside.id}
        signature.update(_tokens(_whole(one.node), left_out))
    return SymbolParts(same[0].kind, signature.digest(), body.digest())


def _whole(node: Node) -> Node:
    """The node with what decorates it."""
    around = node.parent
    return around if around is not None and around.type == "decorated_definition" else node


def _body(node: Node) -> Node | None:
    """The body of a definition, that of the function for a name that is given one."""
    value = node.child_by_field_name("value")
    return node.child_by_field_name("body") or (None if value is None else value.child_by_field_name("body"))


def _tokens(top: Node, left_out: Collection[int]) -> bytes:
    """Tokens below a node and where its parts begin and end, without comments and what is left out."""
    found: list[bytes] = []
    waiting: list[Node | None] = [top]
    while waiting:
        node = waiting.pop()
        if node is None:
            found.append(b")")
        elif node.id in left_out or "comment" in node.type:
            continue
        elif node.child_count:
            found.append(b"(" + node.type.encode())
            waiting.append(None)
            waiting.extend(reversed(node.children))
        else:
            found.append(node.text or b"")
    return b"\0".join(found) + b"\0"
