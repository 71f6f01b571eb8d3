"""Which of many values are JSON numbers, judged by their bytes.

What belongs here: the grammar of a number (RFC 8259 §6), nothing parsed. Digits with at most one point among them are
judged 24 bytes at once; what is longer, negative or has an exponent is judged by the whole grammar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from governance_pipeline.ingest.flat_bytes import Flags, Places, Words

NUMBER: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_NUMBER: Final = re.compile(NUMBER.encode())
_WORD: Final = 8
_PARTS: Final = 3  # a binary64 as most programs write it has at most 24 bytes
_ZERO, _DIGITS, _POINT = ord("0"), 10, ord(".")
_MASKS: Final = np.array([(1 << 8 * size) - 1 for size in range(_WORD + 1)], np.uint64)


def are_numbers(data: bytes, words: Words, starts: Places, ends: Places) -> Flags:
    """Tell of each part of the bytes whether it is a number; none reaches behind the bytes."""
    lengths = ends - starts
    found = _are_plain(words, starts, lengths)
    for at in np.flatnonzero(~found).tolist():
        found[at] = _NUMBER.fullmatch(data, int(starts[at]), max(int(starts[at]), int(ends[at]))) is not None
    return found


def _are_plain(words: Words, starts: Places, lengths: Places) -> Flags:
    """Tell which are digits with at most one point, not first or last, and no needless zero in front."""
    # Bytes behind the value become 0, which is neither digit nor point.
    parts_needed = min(_PARTS, -(-int(lengths.max(initial=1)) // _WORD))
    parts = np.empty((len(starts), parts_needed), np.uint64)
    for part in range(parts_needed):
        sizes = np.minimum(np.maximum(lengths - part * _WORD, 0), _WORD)
        np.bitwise_and(words[starts + part * _WORD], _MASKS[sizes], out=parts[:, part])
    letters = parts.view(np.uint8)
    is_digit = letters - np.uint8(_ZERO) < _DIGITS
    digits, points = _flagged(is_digit), _flagged(letters == _POINT)
    last = words[starts + lengths - 1] & np.uint64(0xFF)
    plain: Flags = (lengths > 0) & (lengths <= parts_needed * _WORD) & (points <= 1) & (digits + points == lengths)
    plain &= is_digit[:, 0] & (last != _POINT) & ~((letters[:, 0] == _ZERO) & is_digit[:, 1])
    return plain


def _flagged(flags: Flags) -> npt.NDArray[np.int32]:
    """Count the flagged letters of each row."""
    counts = np.bitwise_count(np.ascontiguousarray(flags).view(np.uint64)).astype(np.int32)
    total = counts[:, 0]
    for part in range(1, counts.shape[1]):
        total = total + counts[:, part]
    return total
