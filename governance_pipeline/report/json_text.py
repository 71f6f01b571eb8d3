"""Documents as JSON text: exact numbers, and nothing but ASCII, so that no terminal obeys what a log says.

What belongs here: the one way reports are written as JSON. What does not: their members.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from governance_pipeline.strict.lexeme import Lexeme

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPENED_LEVELS = 2  # members of the document and items of its lists have a line each; what is below has none


def json_text(document: Mapping[str, Any]) -> str:
    """Return a document as JSON text, one line per list item; a `Lexeme` is written as the number it is.

    Every character beyond ASCII is escaped (as a surrogate pair where JSON asks for it): the text survives any encoding
    of the standard output, and control or bidi characters reach no terminal.

    Raises:
        ValueError: a float is not finite.
    """
    return _text(dict(document), _OPENED_LEVELS)


def _text(value: Any, open_levels: int) -> str:
    if isinstance(value, Lexeme):
        return str(value)
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, dict):
        members = [f"{encode_basestring_ascii(name)}: {_text(item, open_levels - 1)}" for name, item in value.items()]
        return _enclosed("{}", members, is_open=open_levels == _OPENED_LEVELS)
    if isinstance(value, list | tuple):
        return _enclosed("[]", [_text(item, open_levels - 1) for item in value], is_open=open_levels > 0)
    return json.dumps(value, allow_nan=False)


def _enclosed(brackets: str, items: list[str], *, is_open: bool) -> str:
    if is_open and items:
        return f"{brackets[0]}\n" + ",\n".join(items) + f"\n{brackets[1]}"
    return brackets[0] + ", ".join(items) + brackets[1]
