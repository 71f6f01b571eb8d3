"""Where the keys of a TOML document stand, from its syntax tree.

What belongs here: the walk over the tree that gives each place its line. What does not: values and validity, which are
`tomllib`'s. The tree is of a document known to be TOML and not too deep, so nothing here refuses or runs away; a node
the grammar could not read is passed over.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    Place = tuple[str | int, ...]

_KEYS = {"bare_key", "quoted_key", "dotted_key"}
_HEADERS = {"table", "table_array_element"}
_VALUES = {
    "array",
    "boolean",
    "float",
    "inline_table",
    "integer",
    "local_date",
    "local_date_time",
    "local_time",
    "offset_date_time",
    "string",
}


def key_lines(document: Node) -> dict[Place, int]:
    """Line, from 1, of every key, table and list element of a document.

    A table stands where its own header is, or where its first key is when it has none; a list of tables at its first
    header. An element of a list has its own line.
    """
    return _Lines().of(document)


def statement_lines(document: Node) -> Iterator[int]:
    """First lines of all headers and key/value pairs, outside inline tables."""
    for node in document.named_children:
        if node.type in _HEADERS:
            yield node.start_point.row + 1
        for pair in [node, *node.named_children] if node.type in _HEADERS else [node]:
            if pair.type == "pair":
                yield pair.start_point.row + 1


class _Lines:
    """The walk: `lines` fills up, `lengths` counts the tables of each list of tables so far."""

    def __init__(self) -> None:
        self.lines: dict[Place, int] = {}
        self.lengths: Counter[Place] = Counter()

    def of(self, document: Node) -> dict[Place, int]:
        """Walk the document."""
        for node in document.named_children:
            if node.type == "pair":
                self._pair((), node)
            elif node.type in _HEADERS:
                table = self._header(node)
                for child in node.named_children:
                    if child.type == "pair":
                        self._pair(table, child)
        return self.lines

    def _header(self, node: Node) -> Place:
        """Note the header of a table; returns the place its pairs are in."""
        line = node.start_point.row + 1
        key = _key_of(node)
        if not key:
            return ()
        place = self._open((), key[:-1], line) + key[-1:]
        if node.type == "table":
            place = self._current(place)
            self.lines[place] = line
            return place
        self.lines.setdefault(place, line)
        self.lengths[place] += 1
        place = self._current(place)
        self.lines[place] = line
        return place

    def _pair(self, table: Place, node: Node) -> None:
        line = node.start_point.row + 1
        key = _key_of(node)
        if not key:
            return
        place = self._open(table, key[:-1], line) + key[-1:]
        self.lines[place] = line
        for child in node.named_children:
            self._value(place, child)

    def _value(self, place: Place, node: Node) -> None:
        """Note what a value holds; its own line is that of its key."""
        if node.type == "inline_table":
            for child in node.named_children:
                if child.type == "pair":
                    self._pair(place, child)
        elif node.type == "array":
            elements = [child for child in node.named_children if child.type in _VALUES]
            for position, element in enumerate(elements):
                self.lines[*place, position] = element.start_point.row + 1
                self._value((*place, position), element)

    def _open(self, place: Place, names: Place, line: int) -> Place:
        """Step into tables named on the way to a key; each stands here unless it was seen before."""
        for name in names:
            place = self._current((*place, name))
            self.lines.setdefault(place, line)
        return place

    def _current(self, place: Place) -> Place:
        """Name the last table of a list of tables by its position."""
        return (*place, self.lengths[place] - 1) if place in self.lengths else place


def _key_of(node: Node) -> Place:
    """The names of a header's or pair's key, outermost first; () when the grammar lost it."""
    key = next((child for child in node.named_children if child.type in _KEYS), None)
    if key is None or key.has_error:
        return ()
    return tuple(_names(key))


def _names(key: Node) -> Iterator[str]:
    if key.type == "dotted_key":
        for child in key.named_children:
            yield from _names(child)
        return
    written = (key.text or b"").decode("utf-8", "replace")
    if key.type == "bare_key":
        yield written
        return
    try:
        # tomllib undoes the escapes of a quoted key, so that no rule of TOML is written a second time.
        yield next(iter(tomllib.loads(f"{written} = 0")))
    except ValueError:  # the grammar cut it where tomllib did not
        yield written
