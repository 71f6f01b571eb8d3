"""Flat JSON arrays as canonical text: what the digests of records and components are made of.

What belongs here: the one encoding of ``[text | integer | null, …]``. What does not: hashing, and documents.

For such arrays RFC 8785 asks for nothing but no whitespace and the shortest escapes, which is what the string encoder
of the standard library writes. It is many times faster than a general implementation, and there are millions of
component rows; a test holds both to the same bytes. Texts hold no lone surrogates: sources refuse them.
"""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def canonical_array(items: Iterable[str | int | None]) -> bytes:
    """Return the RFC 8785 form of an array of texts, integers and nulls, as UTF-8."""
    return ("[" + ",".join(map(_item, items)) + "]").encode()


def _item(item: str | int | None) -> str:
    if item is None:
        return "null"
    return str(item) if isinstance(item, int) else encode_basestring(item)
