"""Opening, hashing and copying files that somebody else wrote.

What belongs here: the one way a source file is opened, and reading it to the size it had then. What does not: where
copies are kept (storage) and what a file means (ingest). Names are literal: no globbing, no URLs, no expansion of
``~`` or variables. POSIX only: `O_NOFOLLOW` is the point.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lines import read_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _typeshed import WriteableBuffer

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # non-blocking: a FIFO must not hang the open
_NAME_CHARACTERS = 200

_ADVICE = {
    "symlink": "symbolic links are not followed; put the file itself there",
    "not_regular_file": "only regular files are read; remove it or copy its content into a file",
    "hard_link": "it has several names, so somebody may change it under another one; copy it",
    "not_found": "nothing is there; check the path",
    "permission_denied": "this user may not read it; change its mode or owner",
    "bad_name": "no file can have this name; rename it",
    "changed_while_read": "it became shorter while it was read; read it again when its writer is done",
    "io_error": "the system could not read it; check the disk",
}
_CODE_OF_ERRNO = {
    errno.ELOOP: "symlink",
    errno.ENXIO: "not_regular_file",  # a socket, or a device without a driver
    errno.ENOENT: "not_found",
    errno.ENOTDIR: "not_found",
    errno.EACCES: "permission_denied",
    errno.EPERM: "permission_denied",
    errno.ENAMETOOLONG: "bad_name",
}


class FileRefused(UnreadableError):  # noqa: N818 - a refusal is data more often than a failure
    """A file that is not read as a whole.

    `code` is one of symlink, not_regular_file, hard_link, not_found, permission_denied, bad_name,
    changed_while_read, io_error.
    """

    def __init__(self, code: str, path: Path, detail: str = "") -> None:
        self.code = code
        self.path = path
        name = excerpt(str(path), _NAME_CHARACTERS)
        # A colon after the name would make a file called "passwd" the name of a secret, and its advice be masked.
        super().__init__(f"{code}: {name}{detail and f' ({detail})'}; {_ADVICE[code]}")


class FileDigest(NamedTuple):
    """SHA-256 (lower-case hex) and number of the bytes that were read."""

    sha256: str
    size: int


def open_regular(path: Path, *, single_link: bool = False) -> BinaryIO:
    """Open a regular file for reading; nothing else, and no link in the last component of its path.

    The type is asked twice: before opening, because opening a device can already do something, and on the open
    descriptor, because the name may point elsewhere by then.

    Args:
        path: literal path; links in its folders are followed, so whoever lists folders must not enter linked ones.
        single_link: refuse a file with more than one hard link (an inbox; research/security.md row 42).

    Raises:
        FileRefused: with the code of the reason; reading from the stream raises it too.
    """
    try:
        _check(os.lstat(path), path, single_link=single_link)
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        raise refusal_of(error, path) from None
    except ValueError:  # a NUL in the name
        raise FileRefused("bad_name", path) from None
    try:
        _check(os.fstat(descriptor), path, single_link=single_link)
        return io.BufferedReader(_Source(descriptor, path))
    except BaseException:
        os.close(descriptor)
        raise


class _Source(io.FileIO):
    """An open file whose reading fails as opening it does: with the refusal of that file, wherever it is read."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor)
        self._path = path

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise refusal_of(error, self._path) from None

    def readall(self) -> bytes:
        try:
            return super().readall()
        except OSError as error:
            raise refusal_of(error, self._path) from None


def open_size(stream: BinaryIO) -> int:
    """Size in bytes that an open file has now: the snapshot up to which it is read, however it grows."""
    return os.fstat(stream.fileno()).st_size


def digest_file(path: Path, *, single_link: bool = False) -> FileDigest:
    """Hash a regular file up to the size it has when opened.

    Raises:
        FileRefused: as `open_regular`; changed_while_read when it became shorter meanwhile.
    """
    return _read_through(path, None, single_link=single_link)


def copy_and_digest(source: Path, target: int, *, single_link: bool = False) -> FileDigest:
    """Copy a regular file into an open descriptor, hashing exactly the bytes that are copied.

    A file that grows is copied up to the size it had when opened: a prefix that did exist. `target` is neither
    synced nor closed here.

    Raises:
        FileRefused: as `open_regular`; changed_while_read when the source became shorter meanwhile.
        OSError: `target` cannot be written (the caller knows what it is).
    """
    return _read_through(source, target, single_link=single_link)


def _read_through(path: Path, target: int | None, *, single_link: bool) -> FileDigest:
    digest, size = hashlib.sha256(), 0
    with open_regular(path, single_link=single_link) as stream:
        expected = open_size(stream)
        for block in _blocks(stream, expected, path):
            digest.update(block)
            size += len(block)
            if target is not None:
                _write_all(target, block)
    if size < expected:
        raise FileRefused("changed_while_read", path, f"{size} of {expected} bytes")
    return FileDigest(digest.hexdigest(), size)


def _blocks(stream: BinaryIO, size: int, path: Path) -> Iterator[bytes]:
    try:
        yield from read_blocks(stream, size)
    except OSError as error:
        raise refusal_of(error, path) from None


def _write_all(target: int, block: bytes) -> None:
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(target, rest) :]


def _check(status: os.stat_result, path: Path, *, single_link: bool) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise FileRefused("symlink", path)
    if not stat.S_ISREG(status.st_mode):
        raise FileRefused("not_regular_file", path)
    if single_link and status.st_nlink > 1:
        raise FileRefused("hard_link", path, f"{status.st_nlink} links")


def refusal_of(error: OSError, path: Path) -> FileRefused:
    """The refusal that stands for an error of the system while `path` was opened or read."""
    return FileRefused(_CODE_OF_ERRNO.get(error.errno or 0, "io_error"), path, error.strerror or "")
