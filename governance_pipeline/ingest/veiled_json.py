"""JSON that cannot be read as it lies, told by its first bytes: packed, in a tar, or in another encoding than UTF-8.

What belongs here: the reason such a file has, because it is a log nobody could read and no file nobody asked for:
shells write UTF-16, and old logs are rotated into archives. What does not: reading it. Nothing is unpacked beyond the
first bytes, in bounded memory, and nothing is converted: what would be read then has another digest than what lies
there.
"""

from __future__ import annotations

import bz2
import codecs
import lzma
import re
import tarfile
import zlib
from typing import TYPE_CHECKING, Final

from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.json_text import BOM, WHITESPACE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PACKED: Final = "compressed"
TAR: Final = "tar_archive"
OTHER_ENCODING: Final = "not_utf8"

_PACKED_BYTES: Final = 2**20  # of bzip2 nothing comes out before a whole block is in, up to 900 kB
_TEXT_BYTES: Final = 2**16  # a tar may begin with a hundred folders
_BLOCK: Final = 512
_LZMA_MEMORY: Final = 128 * 2**20  # what unpacking `xz -9` needs is half of it; a header can ask for gigabytes

_CLOSED: Final = rb"[\]}][ \t\r]*(?:[\n,\]}]|\Z)"
_SCALAR: Final = rb"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity)[ \t\n\r]*"
_JSON_BEGINS: Final = re.compile(
    rb"(?=[\[{])(?:\[[ \t\n\r]*)*+"
    rb"(?:\Z|\"|\{[ \t\n\r]*(?:\Z|\"|" + _CLOSED + rb")|" + _CLOSED + rb"|" + _SCALAR + rb"(?:,|\Z|" + _CLOSED + rb"))"
)
"""Opening brackets up to a string, a number or literal with something after it, or a bracket that closes its line.

A bracket alone makes no JSON: `[package]`, `[draft] notes`, `[ ] a task`, `[1] a source`, `[2024-01-02 ...` and
`{{ name }}` are how other texts begin.
"""

_MARKS: Final = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED: Final = re.compile(rb"(?P<little>[ \t\n\r\[{]\0)|\0[ \t\n\r\[{]")


def begins_like_json(head: bytes) -> bool:
    """Tell by the first bytes of a file whether its author meant JSON; leading white space and a mark are skipped."""
    return _JSON_BEGINS.match(head.removeprefix(BOM).lstrip(WHITESPACE)) is not None


def veil_of(head: bytes, copy: Path) -> str | None:
    """Say why JSON in a file cannot be read: `compressed`, `tar_archive`, `not_utf8`; None where there is none.

    Raises:
        FileRefused: the file cannot be opened or read.
    """
    if _is_json_in_another_encoding(head):
        return OTHER_ENCODING
    unpack = next((unpack for magic, unpack in _PACKERS if head.startswith(magic)), None)
    if unpack is None and not is_tar(head):
        return None
    with open_regular(copy) as stream:
        packed = stream.read(_PACKED_BYTES)
    if unpack is None:
        return TAR if _is_tar_of_json(packed) else None
    try:
        inside = unpack(packed)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
        return None
    return PACKED if bool(inside) and (_is_json(inside) or _is_tar_of_json(inside)) else None


def is_tar(head: bytes) -> bool:
    """Tell whether a file begins with the header of a tar: its lines are those of several files and their headers."""
    return _member_size(head[:_BLOCK]) is not None


def _is_tar_of_json(data: bytes) -> bool:
    """Tell whether one of the files at the beginning of a tar begins like JSON."""
    at = 0
    while (size := _member_size(data[at : at + _BLOCK])) is not None:
        at += _BLOCK
        text = data[at : at + size]
        if text and _is_json(text):
            return True
        at += -(-size // _BLOCK) * _BLOCK
    return False


def _member_size(header: bytes) -> int | None:
    """Give the bytes of the file a header of a tar is of; None where it is none, as its checksum tells."""
    try:
        size = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape").size
    except (tarfile.HeaderError, ValueError, OverflowError):
        return None
    return size if size >= 0 else None


def _is_json(data: bytes) -> bool:
    return begins_like_json(data) or _is_json_in_another_encoding(data)


def _is_json_in_another_encoding(head: bytes) -> bool:
    mark, encoding = next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", ""))
    if not mark:
        unmarked = _UNMARKED.match(head)
        if unmarked is None:
            return False
        encoding = "utf-16-le" if unmarked["little"] else "utf-16-be"
    text = head[len(mark) :].decode(encoding, "ignore")
    return bool(text) and begins_like_json(text.encode(errors="replace"))


def _gzip(packed: bytes) -> bytes:
    return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, _TEXT_BYTES)


def _bzip2(packed: bytes) -> bytes:
    return bz2.BZ2Decompressor().decompress(packed, _TEXT_BYTES)


def _xz(packed: bytes) -> bytes:
    return lzma.LZMADecompressor(memlimit=_LZMA_MEMORY).decompress(packed, _TEXT_BYTES)


def _zstd(packed: bytes) -> bytes:
    import pyarrow as pa  # costs a third of a second; only files that need it pay

    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        return bytes(stream.read(_TEXT_BYTES))


_PACKERS: Final[tuple[tuple[bytes, Callable[[bytes], bytes]], ...]] = (
    (b"\x1f\x8b\x08", _gzip),
    (b"BZh", _bzip2),
    (b"\xfd7zXZ\0", _xz),
    (b"\x28\xb5\x2f\xfd", _zstd),
)
