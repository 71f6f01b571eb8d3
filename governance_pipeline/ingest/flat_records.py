"""Lines that are flat JSON objects of known members, judged as a set: positions of their values, no value parsed.

What belongs here: finding, in a block of lines, those that are beyond doubt one JSON object written plainly: the
members of a known shape in its order, each a text, a number, true, false or null, at most one space behind a colon or
comma. What does not: any meaning, and any judgement of the other lines; they go to the strict parser one by one.

This is an allow-list, so no leniency of a JSON library can let something in: a line is taken only when every byte of
it has been accounted for. A shape has no repeated member, hence no line of it has; nothing is nested, hence nothing
is deep. Texts are checked for UTF-8, raw control characters and escapes by looking at all bytes of the block at once.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.strict.limits import Limits
    from governance_pipeline.strict.lines import Block

Places = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
Shape = tuple[str, ...]
"""Names of the members of a record, in the order they are written."""

MEMBERS_AT_MOST: Final = 64
TEXT, NULL, TRUE, FALSE, NUMBER = range(1, 6)
"""Kinds of value; 0 is none of them."""

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
_NUMBER: Final = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
_PIECE: Final = 2**17
_PAD: Final = bytes(128)  # reading behind the last byte gives zeros: longest name and longest literal fit
_LF, _CR, _SPACE, _QUOTE, _BACKSLASH, _FIRST_PRINTABLE = 10, 13, 32, 34, 92, 32
_COLON, _COMMA, _OPEN, _CLOSE = b":,{}"
_WORDS: Final = {NULL: b"null", TRUE: b"true", FALSE: b"false"}
_PLAIN_ESCAPES: Final = np.isin(np.arange(256), list(b'"\\/bfnrt'))
_HEX: Final = np.isin(np.arange(256), list(b"0123456789abcdefABCDEF"))
_NUMBER_STARTS: Final = np.isin(np.arange(256), list(b"-0123456789"))


class Cells(NamedTuple):
    """The values of one member: kind of each, and the quote behind which its content begins."""

    kinds: npt.NDArray[np.int8]
    places: Places

    def of(self, kept: Flags) -> Cells:
        """Give the values of some of the lines."""
        return Cells(self.kinds[kept], self.places[kept])


class FlatLines(NamedTuple):
    """The lines of a block that have one shape: their places in the block (from 0), and the cells by member."""

    lines: Places
    cells: Mapping[str, Cells]


def shape_of(value: Any, limits: Limits) -> Shape | None:
    """Give the shape of a parsed record, None when lines like it cannot be judged as a set."""
    if not isinstance(value, dict) or not 0 < len(value) <= min(MEMBERS_AT_MOST, limits.keys, limits.values):
        return None
    is_flat = not any(isinstance(member, dict | list) for member in value.values())
    return tuple(value) if is_flat and limits.depth > 0 and all(map(_NAME.fullmatch, value)) else None


class BlockIndex:
    """Where the lines, quotes and faults of a block are."""

    def __init__(self, block: Block, limits: Limits) -> None:
        self.block = block
        self._bytes = np.frombuffer(block.data + _PAD, np.uint8)
        body = self._bytes[: len(block.data)]
        special = _special_bytes(body)
        kinds = body[special]
        self.feeds = special[kinds == _LF]
        self.starts = np.concatenate([np.zeros(1, np.int32), self.feeds[:-1] + 1])
        self._ends = self.feeds - ((self._bytes[self.feeds - 1] == _CR) & (self.feeds > self.starts))
        lengths = self._ends - self.starts
        self.blank = lengths == 0
        self.doubtful: Flags = lengths > limits.line_bytes
        self._doubt_controls(special[(kinds < _FIRST_PRINTABLE) & (kinds != _LF)])
        self._escaped = _escaped(special, kinds)
        self._doubt_escapes()
        self._doubt_encoding()
        behind = np.full(2 * MEMBERS_AT_MOST, len(body), np.int32)  # a cursor that runs off finds nothing there
        self._quotes = np.concatenate([special[kinds == _QUOTE], behind])
        self._left = _places(~(self.doubtful | self.blank))

    def line(self, place: int) -> bytes:
        """Give the bytes of a line, without its line feed."""
        return self.block.data[self.starts[place] : self.feeds[place]]

    def take(self, shape: Shape) -> FlatLines:
        """Take the lines of this shape out of those no earlier shape has taken."""
        walk = _Walk(self._bytes, self._quotes, self.starts[self._left], self._ends[self._left])
        members = [walk.member(name, is_last=at == len(shape) - 1) for at, name in enumerate(shape)]
        kept = walk.is_sound
        for cells in members:
            self._check_numbers(kept, cells)
        taken = self._left[kept]
        self._left = self._left[~kept]
        return FlatLines(taken, {name: cells.of(kept) for name, cells in zip(shape, members, strict=True)})

    def raw_texts(self, cells: Cells) -> pa.StringArray:
        """Give the texts among values as they are written, escapes and all; null where a value is something else."""
        return self._between.take(pa.array(2 * cells.places + 1, mask=cells.kinds != TEXT))

    def texts(self, cells: Cells) -> pa.StringArray:
        """Give the texts among values, their escapes resolved; null where a value is something else."""
        is_escaped = self._has_escape[cells.places] & (cells.kinds == TEXT)
        texts = self.raw_texts(cells)
        if not is_escaped.any():
            return texts
        written = texts.filter(pa.array(is_escaped)).to_pylist()
        resolved = pa.array(json.loads('["' + '","'.join(written) + '"]'), pa.string())
        return pc.replace_with_mask(texts, pa.array(is_escaped), resolved)

    def written(self, cells: Cells) -> pa.StringArray:
        """Give the values that are numbers, true or false as they are written; null where a value is another."""
        is_other = (cells.kinds == TEXT) | (cells.kinds == NULL)
        return pc.utf8_trim(self._between.take(pa.array(2 * cells.places + 1, mask=is_other)), ": ,}\r\n")

    def rest(self) -> Places:
        """Give the places of the lines nobody took, blank ones left out."""
        return np.sort(np.concatenate([self._left, _places(self.doubtful & ~self.blank)]))

    def _doubt(self, places: Places) -> None:
        """Leave the lines these bytes are in to the strict parser."""
        self.doubtful[np.searchsorted(self.feeds, places)] = True

    def _doubt_controls(self, places: Places) -> None:
        """Raw control characters are no part of a text; a carriage return before the line feed ends the line."""
        if len(places):
            self._doubt(places[places != self._ends[np.searchsorted(self.feeds, places)]])

    def _doubt_escapes(self) -> None:
        letters = self._bytes[self._escaped]
        is_code = letters == ord("u")
        self._doubt(self._escaped[~(_PLAIN_ESCAPES[letters] | is_code)])
        codes = self._escaped[is_code]
        digits = self._bytes[codes[:, None] + np.arange(1, 5)]
        is_surrogate = np.isin(digits[:, 0], list(b"dD")) & np.isin(digits[:, 1], list(b"89abcdefABCDEF"))
        self._doubt(codes[~_HEX[digits].all(axis=1) | is_surrogate])  # a pair of surrogates is rare: left to others

    def _doubt_encoding(self) -> None:
        """Leave the lines that are no UTF-8 to the strict parser, found by halving: Arrow says whether, not where."""
        parts = [(0, len(self.feeds))]
        while parts:
            first, behind = parts.pop()
            if not _is_utf8(self.block.data, int(self.starts[first]), int(self.feeds[behind - 1])):
                if behind - first == 1:
                    self.doubtful[first] = True
                else:
                    middle = (first + behind) // 2
                    parts += [(first, middle), (middle, behind)]

    def _check_numbers(self, kept: Flags, cells: Cells) -> None:
        numbers = np.flatnonzero(kept & (cells.kinds == NUMBER))
        if len(numbers):
            written = self.written(Cells(cells.kinds[numbers], cells.places[numbers]))
            kept[numbers] = pc.match_substring_regex(written, _NUMBER).to_numpy(zero_copy_only=False)

    @cached_property
    def _has_escape(self) -> Flags:
        """Whether an escape stands between a quote and the next."""
        found = np.zeros(len(self._quotes), np.bool_)
        found[np.searchsorted(self._quotes, self._escaped) - 1] = True
        return found

    @cached_property
    def _between(self) -> pa.StringArray:
        """Each quote, and what stands between it and the next: the one at 2 i + 1 begins behind quote i."""
        bounds = np.repeat(self._quotes, 2)
        bounds[1::2] += 1
        np.minimum(bounds, len(self.block.data), out=bounds)
        return pa.StringArray.from_buffers(len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(self.block.data))


def _is_utf8(data: bytes, start: int, end: int) -> bool:
    bounds = pa.py_buffer(np.array([start, end], np.int32))
    try:
        pa.StringArray.from_buffers(1, bounds, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _special_bytes(body: Bytes) -> Places:
    """Find quotes, backslashes and control characters, piece by piece so that the flags stay in the cache."""
    found = []
    for start in range(0, len(body), _PIECE):
        piece = body[start : start + _PIECE]
        flags = (piece == _QUOTE) | (piece == _BACKSLASH) | (piece < _FIRST_PRINTABLE)
        found.append(np.flatnonzero(flags) + start)
    return np.concatenate(found).astype(np.int32)


def _escaped(special: Places, kinds: Bytes) -> Places:
    """Give the bytes that stand behind a backslash which is not itself behind one; no quote among them stays one."""
    indices = np.flatnonzero(kinds == _BACKSLASH)
    slashes = special[indices]
    is_new = np.diff(slashes, prepend=np.int32(-2)) > 1
    run_starts = slashes[is_new][np.cumsum(is_new) - 1]
    is_leading = (slashes - run_starts) % 2 == 0
    escaped: Places = slashes[is_leading] + 1
    behind = indices[is_leading] + 1
    is_near = behind < len(special)
    behind, near = behind[is_near], escaped[is_near]
    kinds[behind[(special[behind] == near) & (kinds[behind] == _QUOTE)]] = 0
    return escaped


def _places(flags: Flags) -> Places:
    return np.flatnonzero(flags).astype(np.int32)


class _Walk:
    """A cursor in each of some lines, moved from member to member; lines that differ from the shape drop out."""

    def __init__(self, data: Bytes, quotes: Places, starts: Places, ends: Places) -> None:
        self._data = data
        # The eight bytes from each byte on, as one number: a comparison of eight bytes is one look-up.
        self._words = np.ndarray(len(data) - 7, np.dtype("<u8"), buffer=data, strides=(1,))
        self._quotes = quotes
        self._ends = ends
        self._at = np.searchsorted(quotes, starts)  # the quote each cursor stands at
        self.is_sound: Flags = (data[starts] == _OPEN) & (quotes[self._at] == starts + 1)

    def member(self, name: str, *, is_last: bool) -> Cells:
        """Walk over one member and give its value in every line."""
        at, quotes, data, sound = self._at, self._quotes, self._data, self.is_sound
        inside = quotes[at] + 1
        self._expect(inside, f'{name}":'.encode())
        start = inside + len(name) + 2
        start += data[start] == _SPACE
        is_text = quotes[at + 2] == start
        kinds, ends, following = np.full(len(start), TEXT, np.int8), quotes[at + 3] + 1, at + 4
        if not is_text.all():
            bare_kinds, bare_ends = self._bare(start, at, is_last=is_last)
            kinds, ends = np.where(is_text, kinds, bare_kinds), np.where(is_text, ends, bare_ends)
            following = np.where(is_text, following, at + 2)
            sound &= kinds > 0
        if is_last:
            sound &= (data[ends] == _CLOSE) & (ends + 1 == self._ends)
        else:
            self._at = np.minimum(following, len(quotes) - MEMBERS_AT_MOST)
            behind = ends + 1
            sound &= (data[ends] == _COMMA) & (quotes[self._at] == behind + (data[behind] == _SPACE))
        return Cells(kinds, np.where(is_text, at + 2, at + 1))  # a bare value stands behind the quote of its name

    def _expect(self, start: Places, expected: bytes) -> None:
        for first in range(0, len(expected), 8):
            part = expected[first : first + 8]
            self.is_sound &= self._begins(self._words[start + first], part)

    def _bare(self, start: Places, at: Integers, *, is_last: bool) -> tuple[npt.NDArray[np.int8], Places]:
        """Judge values that are no text: kind of each (0: none) and where it ends."""
        if is_last:
            ends = self._ends - 1
        else:
            ends = self._quotes[at + 2] - 1
            ends -= self._data[ends] == _SPACE
        words = self._words[start]
        kinds = np.where(_NUMBER_STARTS[words & 0xFF] & (ends > start), NUMBER, 0).astype(np.int8)
        for kind, word in _WORDS.items():
            found = self._begins(words, word)
            kinds[found] = kind
            ends = np.where(found, start + len(word), ends)
        return kinds, ends

    @staticmethod
    def _begins(words: npt.NDArray[np.uint64], expected: bytes) -> Flags:
        mask = np.uint64((1 << 8 * len(expected)) - 1)
        begins: Flags = (words & mask) == np.uint64(int.from_bytes(expected, "little"))
        return begins
