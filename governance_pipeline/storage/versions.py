"""One folder of files named by the digest of their bytes, and the pointer `current` to the one in force.

What belongs here: put by digest, read by digest, replace the pointer: the whole of what storage asks of a disk, so
that an object store with conditional writes could take its place. What does not: what the bytes mean.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError, UnreadableError
from governance_pipeline.storage.atomic import AtomicWriter, sweep_temporaries
from governance_pipeline.storage.making import InForce
from governance_pipeline.strict.files import FileRefused, digest_file, open_regular
from governance_pipeline.vocabulary import SHA256_PATTERN

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from governance_pipeline.storage.making import Making

POINTER: Final = "current"
_SHA256: Final = re.compile(SHA256_PATTERN, re.ASCII)
_TRIES: Final = 3


class Versions:
    """The versions of one Parquet file in one folder; the folder need not exist to be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def digest(self) -> str | None:
        """Give the digest in force, None when there is none; the bytes are not read.

        Raises:
            StorageError: the pointer is no plain file or holds no digest.
        """
        in_force = self.in_force()
        return None if in_force is None else in_force.digest

    def in_force(self) -> InForce | None:
        """Give the digest in force and the stamp of what made it, None when there is none; raises as `digest`."""
        try:
            text = bytes_of(self.folder / POINTER).decode("ascii", "replace")
        except FileNotFoundError:
            return None
        digest, _, stamp = text.removesuffix("\n").partition("\n")
        if not _SHA256.fullmatch(digest) or not (stamp == "" or _SHA256.fullmatch(stamp)):
            raise StorageError(f"{self.folder / POINTER} holds no digest; remove it and make the table again")
        return InForce(digest, stamp or None)

    def path(self, digest: str) -> Path:
        """Give the path a version has, or would have."""
        return self.folder / f"{digest}.parquet"

    def holds(self, digest: str) -> bool:
        """Tell whether a version is there and its bytes still have its digest."""
        try:
            return digest_file(self.path(digest)).sha256 == digest
        except UnreadableError:
            return False

    def read(self, digest: str) -> bytes:
        """Read a version and hash it again.

        Raises:
            FileNotFoundError: it is not there.
            StorageError: its bytes have another digest; the message names both.
        """
        data = bytes_of(self.path(digest))
        found = hashlib.sha256(data).hexdigest()
        if found != digest:
            raise StorageError(
                f"{self.path(digest)} is damaged: its name is the digest {digest}, its bytes have {found}. Make the "
                "table again, which replaces the file"
            )
        return data

    def read_in_force(self) -> tuple[Path, bytes] | None:
        """Read the version in force, with its path; None when there is none.

        Raises:
            StorageError: as `digest` and `read`, or the file the pointer names is not there.
        """
        for _ in range(_TRIES):  # a sweep may remove a replaced version between the pointer and the file
            digest = self.digest()
            if digest is None:
                return None
            try:
                return self.path(digest), self.read(digest)
            except FileNotFoundError:
                continue
        raise StorageError(f"{self.path(str(digest))} is in force but not there; make the table again, which writes it")

    def put(self, data: bytes, digest: str, writer: AtomicWriter, made_by: str | None = None) -> None:
        """Store a version and put it in force, in this order; the caller holds the lock of the folder.

        `made_by` is the stamp of what made it.

        Raises:
            StorageError: it could not be written; the version in force is then the old one or this one, whole.
        """
        sweep_temporaries(self.folder)
        if not self.holds(digest):
            writer.write(self.path(digest), data)
        self.point(digest, writer, made_by)

    def is_due(self, table: str, digest: str, making: Making | None) -> bool:
        """Tell whether something is to be written, after asking whether what is in force may be replaced.

        Raises:
            StorageError: as `digest`.
            Whatever the question of `making` raises; nothing may be written then.
        """
        in_force = self.in_force()
        if making is not None:
            making.ask(table, in_force, digest)
        is_other = in_force is None or in_force.digest != digest or (making and in_force.made_by != making.made_by)
        return bool(is_other) or not self.holds(digest)

    def point(self, digest: str, writer: AtomicWriter, made_by: str | None = None) -> None:
        """Put a version in force that is already there; raises as `put`."""
        if self.in_force() != InForce(digest, made_by):
            stamp = "" if made_by is None else f"{made_by}\n"
            writer.write(self.folder / POINTER, f"{digest}\n{stamp}".encode())

    def replaced(self) -> list[str]:
        """List the digests of the versions that are kept and not in force, sorted; the bytes are not read.

        Raises:
            StorageError: as `digest`.
        """
        stems = sorted(path.stem for path in self.folder.glob("*.parquet"))
        in_force = self.digest()
        return [stem for stem in stems if _SHA256.fullmatch(stem) and stem != in_force]

    def remove_older(self, before: float, pinned: Collection[str]) -> list[Path]:
        """Remove versions that are neither in force nor pinned and were written before an epoch second.

        The caller holds the lock of the folder. Temporary files of dead writers go too.
        """
        sweep_temporaries(self.folder)
        kept = {*pinned, self.digest()}
        old = [
            path
            for path in sorted(self.folder.glob("*.parquet"))
            if _SHA256.fullmatch(path.stem) and path.stem not in kept and path.lstat().st_mtime < before
        ]
        for path in old:
            path.unlink()
        return old


def bytes_of(path: Path) -> bytes:
    """Read a file of the lake.

    Raises:
        FileNotFoundError: nothing is there.
        StorageError: what is there is no plain file, or cannot be read.
    """
    try:
        with open_regular(path) as stream:
            return stream.read()
    except FileRefused as error:
        if error.code == "not_found":
            raise FileNotFoundError(path) from None
        raise StorageError(f"the lake holds something it did not write: {error}") from error
