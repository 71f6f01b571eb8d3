"""Members of an event's body, read strictly.

What belongs here: what a text and a digest must be. What does not: which members an event has (`events`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.vocabulary import SHA256_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SHA256: Final = re.compile(SHA256_PATTERN, re.ASCII)


def text(value: Any) -> str:
    """Give a text.

    Raises:
        TypeError: it is none; a number kept as it was written is none either.
    """
    if type(value) is not str:
        raise TypeError("a text is missing")
    return value


def texts(body: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Give several texts of a body by their names.

    Raises:
        KeyError: one is missing.
        TypeError: one is no text.
    """
    return {name: text(body[name]) for name in names}


def are_digests(values: Iterable[Any]) -> bool:
    """Tell whether all values are SHA-256 digests in lower-case hex; they become names of files.

    Raises:
        TypeError: one is no text.
    """
    return all(_SHA256.fullmatch(text(value)) for value in values)
