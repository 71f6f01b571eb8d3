"""A file as records: each physical line, or the one document, is accepted, refused or blank; none is lost.

What belongs here: joining the opening of files, the cutting of lines and the judging of JSON. What does not: counting
and quarantine (ingest), which get one item per physical line from here and only have to add them up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular, open_size, refusal_of
from governance_pipeline.strict.json_text import BOM, WHITESPACE, parse_json
from governance_pipeline.strict.limits import LIMITS, Limits
from governance_pipeline.strict.lines import HEAD_BYTES, SET_BYTES, Block, Line, line_blocks, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_UNCOUNTED = len(BOM) + len(b"\r")  # what a line may hold beside its record


class Accepted(NamedTuple):
    """One record: physical line from 1 (None for a document), byte offset of `raw`, bytes without line end, value."""

    line: int | None
    offset: int
    raw: bytes
    value: Any


class Refused(NamedTuple):
    """One record that broke a rule.

    `offset` is where the record starts in the file and `stopped_at` where reading stopped (equal when the record was
    refused for its size or counts); `code` as in `parse_json`, or line_too_long; `excerpt` is the record's beginning,
    escaped, masked and cut.
    """

    line: int | None
    offset: int
    code: str
    excerpt: str
    stopped_at: int


class Blank(NamedTuple):
    """One line that holds nothing but JSON whitespace."""

    line: int
    offset: int


def read_json_lines(
    path: Path, limits: Limits = LIMITS, *, nonfinite: bool = False
) -> Iterator[Accepted | Refused | Blank]:
    """Read JSON Lines; one item per physical line, in order, in memory bounded by `limits.line_bytes`.

    The file is read up to the size it has when opened. A line ends with LF or CR LF; a last line without an end is a
    line. A UTF-8 byte order mark at the start of the file is skipped (Windows tools write it; offsets count it), a
    later one is refused. With `nonfinite` NaN and Infinity are accepted as `NonFinite`.

    Raises:
        FileRefused: the file cannot be opened (raised at the first `next`) or read on.
    """
    with open_regular(path) as stream:
        try:
            yield from json_lines(stream, limits, size=open_size(stream), nonfinite=nonfinite)
        except OSError as error:
            raise refusal_of(error, path) from None


def json_lines(
    stream: BinaryIO, limits: Limits = LIMITS, *, size: int | None = None, nonfinite: bool = False
) -> Iterator[Accepted | Refused | Blank]:
    """The same for an open stream (a member of an archive, say), at most `size` bytes of it."""
    for line in split_lines(stream, limits.line_bytes + _UNCOUNTED, size=size):
        judged = judge_line(line, limits, nonfinite=nonfinite)
        if judged is not None:
            yield judged


def json_line_blocks(
    stream: BinaryIO, limits: Limits = LIMITS, *, size: int | None = None, block_bytes: int = SET_BYTES
) -> Iterator[Block | Line]:
    """Cut a stream as `json_lines` does, into blocks of lines; whoever judges them uses `judge_line` in doubt."""
    return line_blocks(stream, limits.line_bytes + _UNCOUNTED, size=size, block_bytes=block_bytes)


def judge_line(line: Line, limits: Limits = LIMITS, *, nonfinite: bool = False) -> Accepted | Refused | Blank | None:
    """Judge one line of JSON Lines; None for a byte order mark that is all there is, which is an empty file."""
    if line.number > 1:
        return _judge(line, limits, nonfinite=nonfinite)
    if line.ended or line.data != BOM:
        return _judge(_without_mark(line), limits, nonfinite=nonfinite)
    return None


def read_text_lines(path: Path, limits: Limits = LIMITS) -> Iterator[Accepted | Refused | Blank]:
    """Read a file of plain lines (CSV, say) under the same rules; the value of a line is its text.

    Nothing is known of what a line means: one that holds only blanks is blank, and the only faults are line_too_long
    and not_utf8.

    Raises:
        FileRefused: the file cannot be opened (raised at the first `next`) or read on.
    """
    with open_regular(path) as stream:
        try:
            for line in split_lines(stream, limits.line_bytes + _UNCOUNTED, size=open_size(stream)):
                if line.number > 1:
                    yield _judge_text(line, limits)
                elif line.ended or line.data != BOM:
                    yield _judge_text(_without_mark(line), limits)
        except OSError as error:
            raise refusal_of(error, path) from None


def read_json_document(path: Path, limits: Limits = LIMITS, *, nonfinite: bool = False) -> Accepted | Refused:
    """Read a file that is one JSON text, held in memory as a whole; bounded by the `document_…` limits.

    `line` is None in the result. A byte order mark at the start is skipped. An empty file is refused as ``empty``.

    Raises:
        FileRefused: the file cannot be opened or read.
    """
    with open_regular(path) as stream:
        size = open_size(stream)
        is_too_large = size > limits.document_bytes
        try:
            data = stream.read(HEAD_BYTES if is_too_large else size)
        except OSError as error:
            raise refusal_of(error, path) from None
    if is_too_large:
        return Refused(None, 0, "document_too_large", excerpt(data), 0)
    return json_document(data, limits, nonfinite=nonfinite)


def json_document(data: bytes, limits: Limits = LIMITS, *, nonfinite: bool = False) -> Accepted | Refused:
    """The same for bytes that are already in memory."""
    offset = len(BOM) if data.startswith(BOM) else 0
    return _parse(None, offset, data[offset:], limits.of_document(), nonfinite=nonfinite)


def _without_mark(line: Line) -> Line:
    if not line.data.startswith(BOM):
        return line
    return line._replace(data=line.data[len(BOM) :], offset=line.offset + len(BOM))


def _judge(line: Line, limits: Limits, *, nonfinite: bool) -> Accepted | Refused | Blank:
    data = _record_of(line, limits)
    return _parse(line.number, line.offset, data, limits, nonfinite=nonfinite) if isinstance(data, bytes) else data


def _judge_text(line: Line, limits: Limits) -> Accepted | Refused | Blank:
    data = _record_of(line, limits)
    if not isinstance(data, bytes):
        return data
    try:
        return Accepted(line.number, line.offset, data, data.decode())
    except UnicodeDecodeError as fault:
        return Refused(line.number, line.offset, "not_utf8", excerpt(data), line.offset + fault.start)


def _record_of(line: Line, limits: Limits) -> bytes | Refused | Blank:
    """Give what a line holds without its end, or why there is nothing to read."""
    data = line.data.removesuffix(b"\r") if line.ended else line.data
    if line.too_long or len(data) > limits.line_bytes:
        return Refused(line.number, line.offset, "line_too_long", excerpt(data), line.offset)
    return data if data.strip(WHITESPACE) else Blank(line.number, line.offset)


def _parse(line: int | None, offset: int, data: bytes, limits: Limits, *, nonfinite: bool) -> Accepted | Refused:
    try:
        return Accepted(line, offset, data, parse_json(data, limits, nonfinite=nonfinite))
    except RecordRefused as refusal:
        return Refused(line, offset, refusal.code, excerpt(data), offset + refusal.offset)
