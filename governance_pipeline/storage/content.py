"""Copies of source files, named by the digest of their bytes: `files/<aa>/<sha256>` below the root of the lake.

What belongs here: copying a file in and finding it again. What does not: what a file means. Originals are never
moved, renamed or written (design §3, law 3).
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from governance_pipeline.errors import StorageError, UnreadableError
from governance_pipeline.storage.atomic import READ_ONLY, AtomicWriter, sweep_temporaries, write_all
from governance_pipeline.strict.files import digest_file, open_regular
from governance_pipeline.strict.lines import read_blocks
from governance_pipeline.vocabulary import SHA256_PATTERN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_SHA256 = re.compile(SHA256_PATTERN, re.ASCII)


class Kept(NamedTuple):
    """Digest (lower-case hex) and size in bytes of a stored copy."""

    sha256: str
    size: int


class ContentStore:
    """The source files of a lake; `root` is the folder of the lake, `writer` how they get there."""

    def __init__(self, root: Path, writer: AtomicWriter | None = None) -> None:
        self._root = root
        self._writer = AtomicWriter(root) if writer is None else writer

    def keep(self, source: Path) -> Kept:
        """Copy a regular file into the store, read-only; bytes that are there already are not copied again.

        The first `size` bytes, those the source had when first opened, are hashed before the copy, while copying and
        after it: a live log may grow meanwhile, but what it had must not change.

        Raises:
            UnreadableError: the source is no regular file, cannot be read, or changed while it was copied.
            StorageError: the copy could not be written.
        """
        kept = Kept(*digest_file(source))
        target = self._target(kept.sha256)
        if not _holds(target, kept):
            with self._writer.locked(f"files-{kept.sha256[:2]}"):
                sweep_temporaries(target.parent)
                self._writer.fill(target, lambda descriptor: _copy(source, kept, descriptor), mode=READ_ONLY)
        return kept

    def has(self, sha256: str) -> bool:
        """Tell whether a copy with this digest is stored; its bytes are not read."""
        target = self._target(sha256)
        return target.is_file() and not target.is_symlink()

    def path(self, sha256: str) -> Path:
        """Give the path of the stored copy with this digest.

        Raises:
            StorageError: the text is no digest, or no such copy is stored.
        """
        if not self.has(sha256):
            raise StorageError(f"no file with digest {sha256} is in {self._root / 'files'}; import its source again")
        return self._target(sha256)

    def verify(self, sha256: str) -> Path:
        """Give the path of the stored copy after hashing it again.

        Raises:
            StorageError: it is missing, or its bytes have another digest.
        """
        path = self.path(sha256)
        found = digest_file(path).sha256
        if found != sha256:
            raise StorageError(
                f"{path} is damaged: its bytes have digest {found}. Import its source again, which replaces it"
            )
        return path

    def _target(self, sha256: str) -> Path:
        if not _SHA256.fullmatch(sha256):
            raise StorageError(f"{sha256!r} is no SHA-256 in lower-case hex; stored files are named by one")
        return self._root / "files" / sha256[:2] / sha256


def _holds(target: Path, kept: Kept) -> bool:
    try:
        return Kept(*digest_file(target)) == kept
    except UnreadableError:
        return False


def _copy(source: Path, kept: Kept, descriptor: int) -> None:
    copied = _digest_beginning(source, kept.size, lambda block: write_all(descriptor, block))
    if copied != kept.sha256 or _digest_beginning(source, kept.size, lambda _: None) != kept.sha256:
        raise UnreadableError(f"{source} changed while it was copied; import it again when its writer is done")


def _digest_beginning(source: Path, size: int, use: Callable[[bytes], None]) -> str:
    digest = hashlib.sha256()
    with open_regular(source) as stream:
        for block in _blocks(stream, size, source):
            digest.update(block)
            use(block)
    return digest.hexdigest()


def _blocks(stream: BinaryIO, size: int, source: Path) -> Iterator[bytes]:
    try:
        yield from read_blocks(stream, size)
    except OSError as error:
        raise UnreadableError(f"{source} could not be read: {error.strerror}; check the disk") from error
