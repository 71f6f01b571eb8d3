"""Syntax trees of JavaScript, TypeScript, Go, Java and Rust, by tree-sitter.

What belongs here: a parser for each grammar and the few questions every reader asks a node. What does not: what a node
means in its language (tree_outline, the interfaces).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node, Parser

_TYPESCRIPT: Final = frozenset({"ts", "mts", "cts"})


def root_of(content: bytes, language: str, path: str) -> Node | None:
    """Parse a file; None when it has a syntax error, or one the grammar does not know."""
    ended = (
        content if content.endswith(b"\n") else content + b"\n"
    )  # a last declaration of Go needs the end of its line
    root = _parser(_grammar(language, path.rpartition(".")[2])).parse(ended).root_node
    return None if root.has_error else root


def text_of(node: Node | None) -> str:
    """Source text of a node; "" of none."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "backslashreplace")


def line_of(node: Node) -> int:
    """Line a node begins in, from 1."""
    return int(node.start_point[0]) + 1


def child_of(node: Node, *kinds: str) -> Node | None:
    """First child of one of these kinds."""
    return next((child for child in node.children if child.type in kinds), None)


def _grammar(language: str, extension: str) -> str:
    if language != "javascript":
        return language
    return "typescript" if extension in _TYPESCRIPT else "tsx"


@cache
def _parser(grammar: str) -> Parser:
    import tree_sitter
    import tree_sitter_go
    import tree_sitter_java
    import tree_sitter_rust
    import tree_sitter_typescript

    grammars: dict[str, Callable[[], object]] = {
        "typescript": tree_sitter_typescript.language_typescript,
        "tsx": tree_sitter_typescript.language_tsx,  # also reads plain JavaScript and JSX
        "go": tree_sitter_go.language,
        "java": tree_sitter_java.language,
        "rust": tree_sitter_rust.language,
    }
    return tree_sitter.Parser(tree_sitter.Language(grammars[grammar]()))
