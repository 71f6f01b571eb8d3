"""Lines that are flat JSON objects of known members, judged as a set: positions of their values, no value parsed.

What belongs here: finding, in a block of lines, those that are beyond doubt one JSON object written plainly: the
members of a known shape in its order, each a text, a number, true, false or null, at most one space behind a colon or
comma. What does not: any meaning, and any judgement of the other lines; they go to the strict parser one by one.

This is an allow-list, so no leniency of a JSON library can let something in: a line is taken only when every byte of
it has been accounted for. A shape has no repeated member, hence no line of it has; nothing is nested, hence nothing
is deep. Texts are checked for UTF-8, raw control characters and escapes by looking at all bytes of the block at once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from governance_pipeline.ingest import flat_bytes
from governance_pipeline.ingest.flat_bytes import CR, FIRST_PRINTABLE, LF, QUOTE, Flags, Places, places_of
from governance_pipeline.ingest.flat_escapes import has_escapes, resolved
from governance_pipeline.ingest.flat_times import Instants, read_instants
from governance_pipeline.ingest.flat_walk import (
    FALSE,
    MEMBERS_AT_MOST,
    NULL,
    NUMBER,
    TEXT,
    TRUE,
    Cells,
    Ground,
    Lines,
    Shape,
    Walked,
    joined,
    lay,
    pattern_of,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.strict.limits import Limits
    from governance_pipeline.strict.lines import Block

__all__ = ["FALSE", "NULL", "NUMBER", "TEXT", "TRUE", "BlockIndex", "Cells", "FlatLines", "Shape", "shape_of"]

PATTERNS_AT_MOST: Final = 4
LINES_OF_A_PATTERN: Final = 64
"""Lines left below which looking for another pattern costs more than walking through them."""

LINES_OF_A_WALK: Final = 32
"""Lines that no pattern fits, below which parsing them costs less than walking through them."""

_TRIED: Final = 8  # lines looked at for a pattern
_WIDTH_AT_MOST: Final = 128
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
_PLAIN_ESCAPES: Final = np.isin(np.arange(256), list(b'"\\/bfnrt'))
_HEX: Final = np.isin(np.arange(256), list(b"0123456789abcdefABCDEF"))


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
        self._bytes = np.frombuffer(block.data + flat_bytes.PAD, np.uint8)
        body = self._bytes[: len(block.data)]
        special, kinds = flat_bytes.special_bytes(body)
        feeds = np.flatnonzero(kinds == LF)
        self.feeds = special[feeds]
        self.starts = np.concatenate([np.zeros(1, np.int32), self.feeds[:-1] + 1])
        self._ends = self.feeds - ((self._bytes[self.feeds - 1] == CR) & (self.feeds > self.starts))
        lengths = self._ends - self.starts
        self.blank = lengths == 0
        self.doubtful: Flags = lengths > limits.line_bytes
        self._doubt_controls(special[(kinds < FIRST_PRINTABLE) & (kinds != LF)])
        self._escaped = flat_bytes.escaped_bytes(special, kinds)
        self._doubt_escapes()
        self._doubt_encoding()
        quotes = special[kinds == QUOTE]
        behind = np.full(2 * MEMBERS_AT_MOST, len(body), np.int32)  # a cursor that runs off finds nothing there
        self._ground = Ground(
            block.data, self._bytes, flat_bytes.words_of(self._bytes), np.concatenate([quotes, behind])
        )
        first_quotes = np.searchsorted(quotes, np.append(self.starts, np.int32(len(body))))
        self._first_quotes: Places = first_quotes.astype(np.int32)
        self._left = places_of(~(self.doubtful | self.blank))

    def line(self, place: int) -> bytes:
        """Give the bytes of a line, without its line feed."""
        return self.block.data[self.starts[place] : self.feeds[place]]

    def take(self, shape: Shape) -> FlatLines:
        """Take the lines of this shape out of those no earlier shape has taken."""
        found = self._take_patterns(shape)
        if not found or len(self._left) >= LINES_OF_A_WALK:
            found.append(self._taken(self._left, walk(shape, self._ground, self._lines(self._left))))
        filled = [some for some in found if len(some[0])] or found[:1]
        lines, members = filled[0]
        if len(filled) > 1:
            lines = np.concatenate([places for places, _ in filled])
            order = np.argsort(lines)
            parts = zip(*(cells for _, cells in filled), strict=True)
            lines, members = lines[order], [joined(part).of(order) for part in parts]
        return FlatLines(lines, dict(zip(shape, members, strict=True)))

    def raw_texts(self, cells: Cells) -> pa.StringArray:
        """Give the texts among values as they are written, escapes and all; null where a value is something else."""
        is_text = cells.kinds == TEXT
        if not is_text.any():
            return pa.nulls(len(is_text), pa.string())
        starts, ends = self.spans(cells)
        if not is_text.all():
            return self._between(starts, ends, ~is_text)
        width = int(ends[0] - starts[0])
        if 0 < width <= _WIDTH_AT_MOST and (ends - starts == width).all():
            pieces = np.ndarray(len(self._bytes) - width + 1, np.dtype(f"V{width}"), buffer=self._bytes, strides=(1,))[
                starts
            ]
            bounds = np.arange(0, width * (len(starts) + 1), width, dtype=np.int32)
            return pa.StringArray.from_buffers(len(starts), pa.py_buffer(bounds), pa.py_buffer(pieces))
        return self._between(starts, ends, None)

    def texts(self, cells: Cells) -> pa.StringArray:
        """Give the texts among values, their escapes resolved; null where a value is something else."""
        texts = self.raw_texts(cells)
        return resolved(texts) if has_escapes(texts) else texts

    def spans(self, cells: Cells) -> tuple[Places, Places]:
        """Give where the content of each value begins and ends, if it is a text."""
        return self._ground.quotes[cells.places] + 1, self._ground.quotes[cells.places + 1]

    def written(self, lines: Places, cells: Cells) -> pa.StringArray:
        """Give the values of these lines that are numbers, true or false as written; null where a value is another."""
        is_other = (cells.kinds == TEXT) | (cells.kinds == NULL)
        starts, ends = self.spans(cells)  # from the quote of the name to the next one, which may be of another line
        between = self._between(starts, np.minimum(ends, np.maximum(self._ends[lines], starts)), is_other)
        return pc.utf8_trim(between, ": ,}")

    def instants(self, cells: Cells) -> Instants:
        """Give the times among values that are texts written in the usual ways."""
        found = read_instants(self._ground.words, *self.spans(cells))
        return Instants(found.microseconds, found.are_known & (cells.kinds == TEXT))

    def rest(self) -> Places:
        """Give the places of the lines nobody took, blank ones left out."""
        return np.sort(np.concatenate([self._left, places_of(self.doubtful & ~self.blank)]))

    def _take_patterns(self, shape: Shape) -> list[tuple[Places, list[Cells]]]:
        """Take lines of the shape that have the pattern of one of them, as long as there are many."""
        found: list[tuple[Places, list[Cells]]] = []
        counts = np.diff(self._first_quotes)
        while len(found) < PATTERNS_AT_MOST and len(self._left) >= LINES_OF_A_PATTERN:
            pattern = pattern_of(shape, self._ground, self._lines(self._left[:_TRIED]))
            if pattern is None:
                break
            fitting = self._left[counts[self._left] == pattern.quotes]
            found.append(self._taken(fitting, lay(pattern, self._ground, self._lines(fitting))))
        return found

    def _taken(self, lines: Places, walked: Walked) -> tuple[Places, list[Cells]]:
        """Take the sound ones of these lines out of those that are left."""
        if walked.is_sound.all():
            taken, members = lines, list(walked.members)
        else:
            taken, members = lines[walked.is_sound], [cells.of(walked.is_sound) for cells in walked.members]
        is_left = np.zeros(len(self.starts), np.bool_)
        is_left[self._left] = True
        is_left[taken] = False
        self._left = places_of(is_left)
        return taken, members

    def _lines(self, places: Places) -> Lines:
        return Lines(self.starts[places], self._ends[places], self._first_quotes[places])

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
            if not flat_bytes.is_utf8(self.block.data, int(self.starts[first]), int(self.feeds[behind - 1])):
                if behind - first == 1:
                    self.doubtful[first] = True
                else:
                    middle = (first + behind) // 2
                    parts += [(first, middle), (middle, behind)]

    def _between(self, starts: Places, ends: Places, nulls: Flags | None) -> pa.StringArray:
        """Give parts of the block, which follow one another, as texts."""
        bounds = np.empty(2 * len(starts), np.int32)
        bounds[::2], bounds[1::2] = starts, ends
        np.minimum(bounds, len(self.block.data), out=bounds)  # behind the last quote there is none
        if not len(bounds):
            return pa.array([], pa.string())
        parts = pa.StringArray.from_buffers(len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(self.block.data))
        return parts.take(pa.array(np.arange(0, len(bounds), 2, dtype=np.int32), mask=nulls))
