"""A TOML document as values, with the line of every key, table and list element.

What belongs here: TOML 1.0 and where things stand in it. What does not: what the keys mean (`rounds.load`).

Two kept parsers share the work. `tomllib` decides what the document says and whether it is TOML at all, so no rule of
TOML is written a second time here; it forgets where things stand. `tree-sitter-toml` knows that, but accepts
documents that are not TOML (a key twice, a table twice) and stumbles over a few that are, so it is asked for lines
only: for a place it does not see, the line of what holds that place is given. Both run under bounds, because a round
contract is written by whoever the audit is about.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

import tree_sitter_toml
from tree_sitter import Language, Parser

from governance_pipeline.errors import Fault
from governance_pipeline.rounds.toml_lines import key_lines, statement_lines
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node, Tree

    Place = tuple[str | int, ...]

DOCUMENT_BYTES = 2**18
"""Largest document that is read, 256 KiB: far above any contract a person would review, and hostile bytes of this size
are read or refused in about a second."""

# A comma stands for the list element (or pair of an inline table) before it.
_ENTRIES = {"pair", "table", "table_array_element", ","}
_BOM = "\ufeff"
_LINE = re.compile(r" \(at line (\d+), column \d+\)\Z")
_AT_END = " (at end of document)"
# Faults tomllib notices only after the statement that makes them; all others stand where it says.
_AFTERWARDS = ("Cannot ", "Duplicate ")


class TomlText(NamedTuple):
    """A document that is TOML.

    `value` is what `tomllib` reads. `lines` has one entry per place (keys and list positions from the top), counting
    from 1; ask `line`, which knows what to say about places that have none.
    """

    value: dict[str, Any]
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int:
        """Line of a key, a table (its last header), or a list element; of what would hold it where it is absent."""
        while place not in self.lines and place:
            place = place[:-1]
        return self.lines.get(place, 1)


def parse_toml(data: bytes) -> TomlText | Fault:
    """Read a document, or say why it is none.

    Codes of the fault: document_too_large, not_utf8, byte_order_mark, too_deep, too_many_keys, integer_out_of_range,
    toml_syntax.
    """
    text = _decode(data)
    if isinstance(text, Fault):
        return text
    tree = Parser(Language(tree_sitter_toml.language())).parse(data)
    fault = _excess(tree)
    if fault is not None:
        return fault
    try:
        value = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return _refusal(error, text, tree)
    return TomlText(value, key_lines(tree.root_node))


def _decode(data: bytes) -> str | Fault:
    if len(data) > DOCUMENT_BYTES:
        return Fault("document_too_large", None, f"more than {DOCUMENT_BYTES} bytes; shorten the contract")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Fault("not_utf8", line, f"byte {error.start} of the file is not UTF-8; save it as UTF-8")
    if text.startswith(_BOM):
        return Fault("byte_order_mark", 1, "the file starts with a byte order mark; save it as UTF-8 without one")
    return text


def _excess(tree: Tree) -> Fault | None:
    """Refuse what is too deep or too much, before any code that recurses or compares keys sees it."""
    entries = 0
    for depth, node in _walk(tree):
        if depth > LIMITS.depth:
            return Fault("too_deep", _row(node), f"nested deeper than {LIMITS.depth} levels; flatten it")
        entries += node.type in _ENTRIES
        if entries > LIMITS.keys:
            message = f"more than {LIMITS.keys} keys and list elements; shorten the contract"
            return Fault("too_many_keys", _row(node), message)
    return None


def _walk(tree: Tree) -> Iterator[tuple[int, Node]]:
    """Every node with its depth, in document order, without recursion."""
    cursor = tree.walk()
    depth = 0
    while cursor.node is not None:
        yield depth, cursor.node
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


def _refusal(error: Exception, text: str, tree: Tree) -> Fault:
    if isinstance(error, RecursionError):  # only for a caller close to Python's own stack limit: depth was judged
        return Fault("too_deep", None, "nested deeper than the calling stack allows; flatten it")
    if not isinstance(error, tomllib.TOMLDecodeError):  # int() of thousands of digits
        numbers = (node for _, node in _walk(tree) if node.type == "integer")
        longest = max(numbers, key=lambda node: node.end_byte - node.start_byte, default=tree.root_node)
        return Fault("integer_out_of_range", _row(longest), "an integer beyond 64 bits; write a smaller one")
    found = _LINE.search(message := str(error))
    if found:
        line, reason = int(found[1]), message[: found.start()]
    else:
        line, reason = text.count("\n") + (not text.endswith("\n")), message.removesuffix(_AT_END)
    if reason.startswith(_AFTERWARDS):
        line = max((row for row in statement_lines(tree.root_node) if row <= line), default=line)
    return Fault("toml_syntax", max(line, 1), f"not TOML 1.0: {excerpt(reason)}; correct this line")


def _row(node: Node) -> int:
    return node.start_point.row + 1
