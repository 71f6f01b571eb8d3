"""How our JSON documents are written: numbers as exact lexemes, one list item per line, in blocks.

What belongs here: the layout. What does not: the members of any document. RFC 8785 is not used: it would turn numbers
into binary floats. Every character beyond printable ASCII is escaped, so that no text of a source steers a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from governance_pipeline.strict.lexeme import Lexeme

if TYPE_CHECKING:
    from collections.abc import Iterable

_BLOCK_CHARACTERS = 2**20


class Written(str):
    """Items of a list that are JSON text already, joined by `BETWEEN_ITEMS`."""

    __slots__ = ()


BETWEEN_ITEMS = ",\n"


def json_blocks(members: dict[str, Any]) -> Iterator[bytes]:
    """Yield the text of a document in blocks; an iterator among its members is a list whose items come one by one."""
    block, size = [], 0
    for piece in _pieces(members):
        block.append(piece)
        size += len(piece)
        if size >= _BLOCK_CHARACTERS:
            yield "".join(block).encode()
            block, size = [], 0
    yield "".join(block).encode()


def compact(value: Any) -> str:
    """Return a value as JSON text on one line."""
    if isinstance(value, Lexeme | Written):
        return str(value)
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{encode_basestring_ascii(n)}:{compact(member)}" for n, member in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return json.dumps(value)


def _pieces(members: dict[str, Any]) -> Iterator[str]:
    """One list item per line, so that two reports can be compared line by line; any other member on one line."""
    before = "{\n"
    for name, value in members.items():
        yield f"{before}{encode_basestring_ascii(name)}:"
        yield from _items(value) if isinstance(value, list | Iterator) else (compact(value),)
        before = ",\n"
    yield "\n}\n" if members else "{}\n"


def _items(items: Iterable[Any]) -> Iterator[str]:
    before = "[\n"
    for item in items:
        yield before + compact(item)
        before = BETWEEN_ITEMS
    yield "[]" if before == "[\n" else "\n]"
