"""Lines of a stream in bounded memory, whatever the stream holds.

What belongs here: cutting bytes at line feeds, counting lines and bytes, giving up on a line that is too long. What
does not: what a line means; JSON Lines (`strict.records`) and CSV both read through here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK_BYTES = 2**20
"""Bytes asked of the stream at once: large enough that reading costs nothing beside parsing (1 MiB)."""

SET_BYTES = 4 * 2**20
"""Bytes of a block of lines that are judged as a set: large enough that beginning one costs nothing beside them, small
enough that several may be under way (4 MiB)."""

HEAD_BYTES = 4096
"""Bytes kept of a line that is too long: enough for an excerpt."""


_LF, _PIECE = 10, 2**16


class Line(NamedTuple):
    """One physical line.

    `number` counts from 1. `offset` is the byte where it starts. `data` is its content without the line feed (a
    carriage return before it is kept: only the reader of a format knows whether it is part of the line end); of a
    line that is `too_long`, only its first `HEAD_BYTES` bytes. `ended` is false for a last line without line feed.
    """

    number: int
    offset: int
    data: bytes
    too_long: bool
    ended: bool


class Block(NamedTuple):
    """Whole lines, each with its line feed: number of the first (from 1), byte offset of `data`, the bytes."""

    number: int
    offset: int
    data: bytes


def split_lines(
    stream: BinaryIO, line_bytes: int, *, size: int | None = None, offset: int = 0, block_bytes: int = BLOCK_BYTES
) -> Iterator[Line]:
    """Yield every line of a stream; memory stays near `line_bytes` plus one block.

    Only a line feed ends a line. A file of n line feeds has n lines, and one more when bytes follow the last.

    Args:
        stream: read from where it stands.
        line_bytes: longest line still handed out whole, line feed not counted.
        size: bytes to read at most, so that a file that grows while it is read comes to an end.
        offset: byte offset of the stream's position in its file.
        block_bytes: bytes asked of the stream at once.
    """
    number, start = 1, offset
    pending = _Unfinished(line_bytes)
    for block in read_blocks(stream, size, block_bytes):
        parts = block.split(b"\n")
        pending.add(parts[0])
        if len(parts) == 1:
            continue
        yield pending.line(number, start, ended=True)
        number += 1
        start += pending.length + 1
        for data in parts[1:-1]:
            length = len(data)
            if length <= line_bytes:
                yield Line(number, start, data, False, True)
            else:
                yield Line(number, start, data[:HEAD_BYTES], True, True)
            number += 1
            start += length + 1
        pending = _Unfinished(line_bytes)
        pending.add(parts[-1])
    if pending.length:
        yield pending.line(number, start, ended=False)


def line_blocks(
    stream: BinaryIO, line_bytes: int, *, size: int | None = None, block_bytes: int = SET_BYTES
) -> Iterator[Block | Line]:
    """Yield the same lines in blocks, and one by one those that cross the blocks the stream is read in.

    Every line comes once, in order; memory stays near `line_bytes` plus two blocks, whatever the stream holds.
    """
    number, start = 1, 0
    pending = _Unfinished(line_bytes)
    for piece in read_blocks(stream, size, block_bytes):
        begin, end = 0, piece.rfind(b"\n") + 1
        if pending.length and end:
            begin = piece.find(b"\n") + 1
            pending.add(piece[: begin - 1])
            yield pending.line(number, start, ended=True)
            number += 1
            start += pending.length + 1
        if begin < end:
            data = piece[begin:end]
            yield Block(number, start, data)
            number += _line_feeds(data)
            start += len(data)
        if end:
            pending = _Unfinished(line_bytes)
        if end < len(piece):
            pending.add(piece[end:])
    if pending.length:
        yield pending.line(number, start, ended=False)


def read_blocks(stream: BinaryIO, size: int | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Yield the bytes of a stream in blocks, at most `size` bytes in all; fewer when the stream ends before."""
    left = size
    while left is None or left > 0:
        block = stream.read(block_bytes if left is None else min(block_bytes, left))
        if not block:
            return
        if left is not None:
            left -= len(block)
        yield block


def _line_feeds(data: bytes) -> int:
    """Count line feeds, piece by piece so that the flags stay in the cache: four times as fast as counting bytes."""
    import numpy as np  # only large logs are read in blocks

    flags = (np.frombuffer(data, np.uint8, *part) == _LF for part in _parts(len(data)))
    return sum(map(int, map(np.count_nonzero, flags)))


def _parts(size: int) -> Iterator[tuple[int, int]]:
    """Cut a size into pieces: how many bytes, from where."""
    for start in range(0, size, _PIECE):
        yield min(_PIECE, size - start), start


class _Unfinished:
    """A line that crosses blocks: pieces are joined once, as appending to bytes is quadratic."""

    def __init__(self, line_bytes: int) -> None:
        self.length = 0
        self._line_bytes = line_bytes
        self._pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        """Append bytes; past the bound only the head is kept and the rest is counted."""
        self.length += len(piece)
        if self.length <= self._line_bytes:
            self._pieces.append(piece)
        else:
            self._pieces = [b"".join([*self._pieces, piece[:HEAD_BYTES]])[:HEAD_BYTES]]

    def line(self, number: int, offset: int, *, ended: bool) -> Line:
        """Hand out what was collected."""
        return Line(number, offset, b"".join(self._pieces), self.length > self._line_bytes, ended)
