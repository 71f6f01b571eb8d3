"""Members of a zip archive from hostile hands: listed, judged, and read one at a time into memory, under budgets.

What belongs here: which archives are read at all, and the bytes of one member. What does not: what a member means.
Nothing is ever extracted to disk. An archive whose directory contradicts itself (a name twice, a path that leads out,
members that overlap, a link) or leaves bytes out (a second archive before it, a member taken out of the directory) is
refused as a whole, for then nobody knows which bytes are meant; a member that breaks a bound or its own checksum is
refused alone. Sources: research/security.md (b10, row 49); Python's `zipfile` reads
overlapping members before 3.11.8 (CVE-2024-0450) and zstd ones (method 93) only since 3.14, so it reads the directory
here and nothing else. zstd is decoded by pyarrow, whose wheels carry it.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.limits import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BEGINNINGS: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of a zip archive: of its first member, or of an empty one."""

STORED, DEFLATE, ZSTD = 0, 8, 93
FREE_BYTES: Final = 2**20
"""Bytes of a member that no ratio is asked of: a short text of one letter compresses as well as a bomb (1 MiB)."""

_BLOCK: Final = 2**20
_LOCAL: Final = struct.Struct("<4s5H3I2H")
_END: Final = struct.Struct("<4s4H2IH")
_ENCRYPTED, _STREAMED = 0x1, 0x8
_DESCRIPTOR_BYTES: Final = frozenset({0, 12, 16, 20, 24})
"""Behind a member whose packer could not go back stand its checksum and sizes, of 4 or 8 bytes, perhaps with a mark."""
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    NotImplementedError,
    UnicodeDecodeError,
    struct.error,
    ValueError,
    OverflowError,
    OSError,
    EOFError,
)


class Member(NamedTuple):
    """One file of an archive: `offset` is where its local header begins, `end` where its bytes must have ended."""

    name: str
    offset: int
    end: int
    compressed: int
    size: int
    crc: int
    method: int
    is_encrypted: bool
    is_streamed: bool


class Archive:
    """An open archive: `members` in the order of their bytes."""

    def __init__(self, stream: BinaryIO, limits: Limits = LIMITS) -> None:
        """Read the directory of an archive.

        Raises:
            RecordRefused: with archive_malformed, archive_too_large, archive_too_many_members, archive_bad_name,
                archive_duplicate_name, archive_link or archive_overlap, at offset 0; with archive_hidden_bytes, at the
                offset of the first byte that belongs to no member.
        """
        self._stream = stream
        self._limits = limits
        self._left = limits.archive_bytes
        self.members: Sequence[Member] = _members(stream, limits)

    def read(self, member: Member) -> bytes:
        """Give the bytes of a member, checked against the size and the checksum the directory states.

        Raises:
            RecordRefused: with archive_encrypted, archive_method, document_too_large, archive_ratio, archive_budget,
                archive_malformed, archive_overlap, archive_corrupt, archive_size or archive_checksum; the offset is
                that of the member.
        """
        self._judge(member)
        self._left -= member.size
        data = _decoded(self._compressed(member), member)
        if len(data) != member.size:
            raise _refused(member, "archive_size", "holds more or fewer bytes than its directory says")
        if zlib.crc32(data) != member.crc:
            raise _refused(member, "archive_checksum", "its bytes are not those that were packed")
        return data

    def read_json(self, member: Member) -> Any:
        """Give the value of a member that is one JSON document.

        Raises:
            RecordRefused: as `read` and `parse_json`.
        """
        return parse_json(self.read(member), self._limits.of_document())

    def _judge(self, member: Member) -> None:
        if member.is_encrypted:
            raise _refused(member, "archive_encrypted", "is encrypted")
        if member.method not in (STORED, DEFLATE, ZSTD):
            raise _refused(
                member, "archive_method", f"is packed with method {member.method}; deflate and zstd are read"
            )
        if max(member.size, member.compressed) > self._limits.document_bytes:
            raise _refused(member, "document_too_large", f"states {member.size} bytes")
        if member.size > FREE_BYTES and member.size > self._limits.archive_ratio * member.compressed:
            raise _refused(member, "archive_ratio", f"grows from {member.compressed} to {member.size} bytes")
        if member.size > self._left:
            raise _refused(member, "archive_budget", f"exceeds the {self._limits.archive_bytes} bytes of its archive")

    def _compressed(self, member: Member) -> bytes:
        start = _data_offset(self._stream, member)
        if start is None:
            raise _refused(member, "archive_malformed", "does not begin where the directory says")
        if start + member.compressed > member.end:
            raise _refused(member, "archive_overlap", "reaches into what follows it")
        self._stream.seek(start)
        return self._stream.read(member.compressed)


@contextmanager
def open_archive(path: Path, limits: Limits = LIMITS) -> Iterator[Archive]:
    """Open an archive; a context manager.

    Raises:
        FileRefused: the file cannot be opened.
        RecordRefused: as `Archive`.
    """
    with open_regular(path) as stream:
        yield Archive(stream, limits)


class _Directory:
    """What `zipfile` reads the directory from: a stream that gives no more at once than a directory may have."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._stream = stream
        self._most = most
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(self._most + 1 if size < 0 or size > self._most else size)
        if len(data) > self._most:
            raise RecordRefused("archive_too_large", 0, f"its directory is beyond {self._most} bytes; split it")
        return data


def _members(stream: BinaryIO, limits: Limits) -> list[Member]:
    try:
        directory = zipfile.ZipFile(_Directory(stream, limits.archive_directory_bytes))
        infos, end = directory.infolist(), directory.start_dir
    except _UNREADABLE as error:
        raise RecordRefused("archive_malformed", 0, f"no zip archive: {error}; copy it again") from None
    if len(infos) > limits.archive_members:
        raise RecordRefused("archive_too_many_members", 0, f"{len(infos)} members; {limits.archive_members} are read")
    if len({info.orig_filename for info in infos}) < len(infos):
        raise RecordRefused("archive_duplicate_name", 0, "a name is there twice; nobody knows which one counts")
    infos = sorted(infos, key=lambda info: info.header_offset)
    for info in infos:
        _judge_name(info)
    ends = [*(info.header_offset for info in infos), end][1:]
    if infos and infos[0].header_offset < 0:
        raise RecordRefused("archive_malformed", 0, "a member begins before the file does; copy it again")
    members = [_member(info, end) for info, end in zip(infos, ends, strict=True)]
    if any(member.offset + _LOCAL.size + member.compressed > member.end for member in members) or any(
        one.offset == other.offset for one, other in pairwise(members)
    ):
        raise RecordRefused("archive_overlap", 0, "members share bytes; it was not written by a packer")
    _refuse_hidden(stream, members, end, len(directory.comment))
    return [member for member in members if not member.name.endswith("/")]


def _member(info: zipfile.ZipInfo, end: int) -> Member:
    flags = bool(info.flag_bits & _ENCRYPTED), bool(info.flag_bits & _STREAMED)
    sizes = info.compress_size, info.file_size, info.CRC
    return Member(info.filename, info.header_offset, end, *sizes, info.compress_type, *flags)


def _refuse_hidden(stream: BinaryIO, members: Sequence[Member], directory: int, remark: int) -> None:
    """Refuse an archive with bytes before, between or behind its members that none of them accounts for.

    A member that does not begin where it should, or reaches too far, is passed over: it is refused when it is read.
    """
    first = members[0].offset if members else directory
    if first:
        raise _hidden(0, first)
    for member in members:
        start = _data_offset(stream, member)
        gap = 0 if start is None else member.end - start - member.compressed
        if gap > 0 and not (member.is_streamed and gap in _DESCRIPTOR_BYTES):
            raise _hidden(member.end - gap, gap)
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(size - remark - _END.size, 0))
    if stream.read(4) != BEGINNINGS[1]:
        raise _hidden(directory, size - directory, "some of the")


def _hidden(offset: int, size: int, which: str = "the") -> RecordRefused:
    message = f"{which} {size} bytes from {offset} on belong to no member; pack the files again"
    return RecordRefused("archive_hidden_bytes", offset, message)


def _data_offset(stream: BinaryIO, member: Member) -> int | None:
    """Say where the bytes of a member begin, behind its local header; None when there is no such header."""
    stream.seek(member.offset)
    header = stream.read(_LOCAL.size)
    if len(header) < _LOCAL.size or header[:4] != BEGINNINGS[0]:
        return None
    *_, name, extra = _LOCAL.unpack(header)
    return member.offset + _LOCAL.size + int(name) + int(extra)


def _judge_name(info: zipfile.ZipInfo) -> None:
    name = info.orig_filename
    parts = name.removesuffix("/").split("/")
    if "\0" in name or "\\" in name or any(part in ("", ".", "..") for part in parts):
        raise RecordRefused("archive_bad_name", 0, "the name of a member leads out of the archive or is none")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise RecordRefused("archive_link", 0, "a member is a link; pack the file itself")
    if info.is_dir() and info.file_size:
        raise RecordRefused("archive_bad_name", 0, "a folder holds bytes")


def _decoded(data: bytes, member: Member) -> bytes:
    """Decode at most one byte more than the member says it has."""
    if member.method == STORED:
        return data
    decode = _inflate if member.method == DEFLATE else _decode_zstd
    try:
        return decode(data, member.size + 1)
    except (zlib.error, OSError) as error:
        raise _refused(member, "archive_corrupt", f"cannot be unpacked: {error}") from None


def _inflate(data: bytes, most: int) -> bytes:
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    decoded = decoder.decompress(data, most)
    if len(decoded) < most and not decoder.eof:
        raise zlib.error("it breaks off")
    return decoded


def _decode_zstd(data: bytes, most: int) -> bytes:
    import pyarrow as pa  # costs a third of a second; only archives that need it pay

    blocks = []
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        while most > 0 and (block := stream.read(min(most, _BLOCK))):
            blocks.append(block)
            most -= len(block)
    return b"".join(blocks)


def _refused(member: Member, code: str, why: str) -> RecordRefused:
    return RecordRefused(code, member.offset, f"member {member.name[:80]!r} {why}")
