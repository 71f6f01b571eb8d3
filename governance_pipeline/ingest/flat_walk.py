"""Walking over the members of many lines at once: a cursor in each line, or the same pattern laid over all of them.

What belongs here: deciding, byte by byte, that a line is one object of the members of a shape, and where its values
are. What does not: what bytes stand out (`flat_bytes`), which lines are in doubt (`flat_records`).

A pattern is what stands between the values of one line: names, quotes, colons, commas, spaces, and which values are
texts. A log is written by one program, so most lines have the pattern of another line, and laying a pattern over
lines costs a tenth of walking through them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from governance_pipeline.ingest.flat_bytes import SPACE, Bytes, Flags, Integers, Places, Words
from governance_pipeline.ingest.flat_numbers import are_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = tuple[str, ...]
"""Names of the members of a record, in the order they are written."""

MEMBERS_AT_MOST: Final = 64
TEXT, NULL, TRUE, FALSE, NUMBER = range(1, 6)
"""Kinds of value; 0 is none of them."""

_COLON, _COMMA, _OPEN, _CLOSE = b":,{}"
_WORD: Final = 8
_WORDS: Final = {NULL: b"null", TRUE: b"true", FALSE: b"false"}
_NUMBER_STARTS: Final = np.isin(np.arange(256), list(b"-0123456789"))


class Cells(NamedTuple):
    """The values of one member: kind of each, and the quote behind which its content begins."""

    kinds: npt.NDArray[np.int8]
    places: Places

    def of(self, kept: Flags | Integers) -> Cells:
        """Give the values of some of the lines."""
        return Cells(self.kinds[kept], self.places[kept])


def joined(parts: Sequence[Cells]) -> Cells:
    """Join the values of a member in several groups of lines."""
    return Cells(np.concatenate([part.kinds for part in parts]), np.concatenate([part.places for part in parts]))


class Walked(NamedTuple):
    """Which lines are sound, and the values of each member; those of other lines mean nothing."""

    is_sound: Flags
    members: Sequence[Cells]


class Ground(NamedTuple):
    """A block to walk over: its bytes, padded, the same as words, and the places of its quotes, padded too."""

    raw: bytes
    data: Bytes
    words: Words
    quotes: Places


class Lines(NamedTuple):
    """Some lines of a block: first byte of each, the one behind its last, and its first quote."""

    starts: Places
    ends: Places
    quotes: Places

    def of(self, kept: Flags | slice) -> Lines:
        """Give some of the lines."""
        return Lines(self.starts[kept], self.ends[kept], self.quotes[kept])


class Pattern(NamedTuple):
    """What stands before each value, the quotes around the texts included, and the kind of each in one line."""

    before: tuple[bytes, ...]
    kinds: tuple[int, ...]

    @property
    def quotes(self) -> int:
        """Number of quotes of a line."""
        return 2 * (len(self.kinds) + self.kinds.count(TEXT))


def pattern_of(shape: Shape, ground: Ground, lines: Lines) -> Pattern | None:
    """Give the pattern of the first of these lines that has the shape, None when none has."""
    walked = walk(shape, ground, lines)
    sound = np.flatnonzero(walked.is_sound)
    if not len(sound):
        return None
    at = int(sound[0])
    before, kinds, end = [], [], int(lines.starts[at])
    for cells, name in zip(walked.members, shape, strict=True):
        place = int(cells.places[at])
        start, close = int(ground.quotes[place]) + 1, int(ground.quotes[place + 1])
        kinds.append(int(cells.kinds[at]))
        if kinds[-1] == TEXT:
            before.append(ground.raw[end:start])
            end = close
        else:
            start += 1 + (ground.raw[start + 1] == SPACE)  # the colon behind the name, and a space
            before.append(ground.raw[end:start])
            end = int(lines.ends[at]) - 1 if name == shape[-1] else close - 1 - (ground.raw[close - 1] == SPACE)
    return Pattern(tuple(before), tuple(kinds))


def lay(pattern: Pattern, ground: Ground, lines: Lines) -> Walked:
    """Lay a pattern over lines that have its number of quotes.

    All quotes of a line that count are known. Where the bytes between two values are those of the pattern, the quotes
    among them are the next ones, so the close of each text is the quote that many places on.
    """
    is_sound = np.ones(len(lines.starts), np.bool_)
    members, at, end = [], lines.quotes, lines.starts
    for place, (before, kind) in enumerate(zip(pattern.before, pattern.kinds, strict=True)):
        is_sound &= _stands(ground.data, end, before)
        if kind == TEXT:
            members.append(Cells(np.full(len(at), TEXT, np.int8), at + 2))
            end, at = ground.quotes[at + 3], at + 4
            continue
        start = end + len(before)
        is_last = place == len(pattern.before) - 1
        end = lines.ends - 1 if is_last else ground.quotes[at + 2] - pattern.before[place + 1].index(b'"')
        members.append(Cells(_bare_kinds(ground, start, end, kind), at + 1))
        is_sound &= members[-1].kinds > 0
        at = at + 2
    close = end + 1 if pattern.kinds[-1] == TEXT else end
    return Walked(is_sound & (ground.data[close] == _CLOSE) & (close + 1 == lines.ends), members)


def _stands(data: Bytes, start: Places, expected: bytes) -> Flags:
    """Tell where these bytes stand: as many as whole words hold are taken out at once, a look-up for each line."""
    size = -(-len(expected) // _WORD) * _WORD
    windows = np.ndarray(len(data) - size + 1, np.dtype((np.void, size)), buffer=data, strides=(1,))
    found = windows[start].view(np.uint64).reshape(len(start), size // _WORD)
    stands = np.ones(len(start), np.bool_)
    for place in range(size // _WORD):
        stands &= _begins(found[:, place], expected[place * _WORD : (place + 1) * _WORD])
    return stands


def _bare_kinds(ground: Ground, start: Places, end: Places, likely: int) -> npt.NDArray[np.int8]:
    """Judge whole values that are no text, the likely kind first: kind of each, 0 for none."""
    kinds = np.zeros(len(start), np.int8)
    words = ground.words[start]
    open_ones = np.arange(len(start))
    for kind in (likely, *(FALSE, TRUE, NULL, NUMBER)):
        if kind == NUMBER:
            found = are_numbers(ground.raw, ground.words, start[open_ones], end[open_ones])
        else:
            found = _begins(words[open_ones], _WORDS[kind]) & ((end - start)[open_ones] == len(_WORDS[kind]))
        kinds[open_ones[found]] = kind
        open_ones = open_ones[~found]
        if not len(open_ones):
            break
    return kinds


def _begins(words: Words, expected: bytes) -> Flags:
    mask = np.uint64((1 << 8 * len(expected)) - 1)
    begun = words & mask if len(expected) < _WORD else words
    begins: Flags = begun == np.uint64(int.from_bytes(expected, "little"))
    return begins


def walk(shape: Shape, ground: Ground, lines: Lines) -> Walked:
    """Walk from member to member; lines that differ from the shape drop out."""
    cursor = _Walk(ground, lines)
    members = [cursor.member(name, is_last=at == len(shape) - 1) for at, name in enumerate(shape)]
    return Walked(cursor.is_sound, members)


class _Walk:
    """A cursor in each of some lines, moved from member to member."""

    def __init__(self, ground: Ground, lines: Lines) -> None:
        self._ground = ground
        self._ends = lines.ends
        self._at = lines.quotes  # the quote each cursor stands at
        starts = lines.starts
        self.is_sound: Flags = (ground.data[starts] == _OPEN) & (ground.quotes[self._at] == starts + 1)

    def member(self, name: str, *, is_last: bool) -> Cells:
        """Walk over one member and give its value in every line."""
        at, quotes, data, sound = self._at, self._ground.quotes, self._ground.data, self.is_sound
        inside = quotes[at] + 1
        sound &= _stands(self._ground.data, inside, f'{name}":'.encode())
        start = inside + np.int32(len(name) + 2)
        start += data[start] == SPACE
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
            sound &= (data[ends] == _COMMA) & (quotes[self._at] == behind + (data[behind] == SPACE))
        return Cells(kinds, np.where(is_text, at + 2, at + 1))  # a bare value stands behind the quote of its name

    def _bare(self, start: Places, at: Integers, *, is_last: bool) -> tuple[npt.NDArray[np.int8], Places]:
        """Judge values that are no text: kind of each (0: none) and where it ends."""
        ground = self._ground
        if is_last:
            ends = self._ends - 1
        else:
            ends = ground.quotes[at + 2] - 1
            ends -= ground.data[ends] == SPACE
        words = ground.words[start]
        kinds = np.zeros(len(start), np.int8)
        numbers = np.flatnonzero(_NUMBER_STARTS[words & 0xFF] & (ends > start) & self.is_sound)
        kinds[numbers] = np.where(are_numbers(ground.raw, ground.words, start[numbers], ends[numbers]), NUMBER, 0)
        for kind, word in _WORDS.items():
            found = _begins(words, word)
            kinds[found] = kind
            ends = np.where(found, start + len(word), ends)
        return kinds, ends
