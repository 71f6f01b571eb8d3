"""Which bytes of a block of lines stand out: quotes, backslashes, control characters, and where it is no UTF-8.

What belongs here: looking at every byte once, cheaply. What does not: what a line is made of (`flat_walk`) and which
lines are in doubt (`flat_records`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Places = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

PAD: Final = bytes(128)
"""Zeros behind the last byte, so that reading there finds nothing: longest name and longest literal fit."""

LF, CR, SPACE, QUOTE, BACKSLASH, FIRST_PRINTABLE = 10, 13, 32, 34, 92, 32
_PIECE: Final = 2**16
_QUOTE_BIT: Final = 2  # swaps the quote with the space, and control characters among themselves
_DENSITY: Final = 4


def special_bytes(body: Bytes) -> tuple[Places, Bytes]:
    """Find quotes, backslashes and control characters, piece by piece so that what is made of one stays in the cache.

    Returns:
        Their places, and the bytes there.
    """
    found, kinds = (
        np.empty(len(body) // _DENSITY + _PIECE, np.int32),
        np.empty(len(body) // _DENSITY + _PIECE, np.uint8),
    )
    swapped, flags, slashes = np.empty(_PIECE, np.uint8), np.empty(_PIECE, np.bool_), np.empty(_PIECE, np.bool_)
    count = 0
    for start in range(0, len(body), _PIECE):
        piece = body[start : start + _PIECE]
        size = len(piece)
        np.bitwise_xor(piece, _QUOTE_BIT, out=swapped[:size])
        np.less_equal(swapped[:size], FIRST_PRINTABLE, out=flags[:size])
        np.equal(piece, BACKSLASH, out=slashes[:size])
        np.bitwise_or(flags[:size], slashes[:size], out=flags[:size])
        places = np.flatnonzero(flags[:size])
        if count + len(places) > len(found):  # more than every fourth byte: rare, and then room for every byte
            found = np.concatenate([found[:count], np.empty(len(body) - count, np.int32)])
            kinds = np.concatenate([kinds[:count], np.empty(len(body) - count, np.uint8)])
        np.take(piece, places, out=kinds[count : count + len(places)], mode="clip")  # all are inside the piece
        np.add(places, start, out=found[count : count + len(places)], casting="unsafe")
        count += len(places)
    return found[:count], kinds[:count]


def escaped_bytes(special: Places, kinds: Bytes) -> Places:
    """Give the bytes that stand behind a backslash which is not itself behind one; no quote among them stays one.

    Args:
        special: the places `special_bytes` found.
        kinds: the bytes there; an escaped quote becomes 0 in it.
    """
    indices = np.flatnonzero(kinds == BACKSLASH)
    is_leading = are_leading(special[indices])
    escaped: Places = special[indices][is_leading] + 1
    behind = indices[is_leading] + 1
    is_near = behind < len(special)
    behind, near = behind[is_near], escaped[is_near]
    kinds[behind[(special[behind] == near) & (kinds[behind] == QUOTE)]] = 0
    return escaped


def are_leading(slashes: Places) -> Flags:
    """Tell which backslashes, given by their places in order, are not themselves behind one that escapes them."""
    is_new = np.diff(slashes, prepend=np.int32(-2)) > 1
    leading: Flags = is_new.copy()
    following = np.flatnonzero(~is_new)  # few: most backslashes stand alone
    run_starts = np.flatnonzero(is_new)
    run_starts = run_starts[np.searchsorted(run_starts, following) - 1]
    leading[following] = (following - run_starts) % 2 == 0
    return leading


def words_of(data: Bytes) -> Words:
    """Give the eight bytes from each byte on as one number, so that a comparison of eight bytes is one look-up."""
    return np.ndarray(len(data) - 7, np.dtype("<u8"), buffer=data, strides=(1,))


def is_utf8(data: bytes, start: int, end: int) -> bool:
    """Tell whether a part of the bytes is UTF-8, surrogates excluded."""
    bounds = pa.py_buffer(np.array([start, end], np.int32))
    try:
        pa.StringArray.from_buffers(1, bounds, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def places_of(flags: Flags) -> Places:
    """Give the places that are flagged."""
    return np.flatnonzero(flags).astype(np.int32)
