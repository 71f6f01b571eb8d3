"""Files of registered assets: put in force, archived and moved aside, each in one step.

What belongs here: names of archived versions, and writing below the project folder so that a file is there whole or not
at all, whenever the process is killed. What does not: whether it may be done (`registry_changes`). Bytes come from the
content store of the lake, where they were copied and hashed before anybody was asked, and from nowhere else.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError, UnreadableError
from governance_pipeline.framework.folder import REGISTRY
from governance_pipeline.framework.registry import registry_text
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.strict.files import copy_and_digest, digest_file

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.registry import Registry
    from governance_pipeline.storage.content import ContentStore

NEW: Final = "03_state/.registry-new"
"""Where a file is made before it is moved to its place; whoever writes holds the lock `registry`."""
SHORT_HASH: Final = 8

_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_USUAL_MODE: Final = 0o644
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")


def archived_path(name: str, canonical_path: str, sha256: str, at: datetime) -> str:
    """Give the path below the project under which a version is archived: beside its canonical file, named for itself.

    Args:
        name: of the asset.
        canonical_path: its file.
        sha256: digest of the version.
        at: when it was put aside (UTC).
    """
    canonical = PurePosixPath(canonical_path)
    stem = _UNSAFE.sub("_", name.removesuffix(canonical.suffix) or name)
    return str(canonical.with_name(f"{stem}_HISTORIC_{at:%Y%m%d}_{sha256[:SHORT_HASH]}{canonical.suffix}"))


def digest_of(path: Path) -> str | None:
    """Hash a file; None when nothing is there or it is no regular file."""
    try:
        return digest_file(path).sha256
    except UnreadableError:
        return None


def digest_in(folder: GovernedFolder, path: str) -> str | None:
    """Hash a file of the project by its path below it; None also when a linked folder on the way leads out of it."""
    place = folder.path(path)
    return digest_of(place) if _is_inside(folder, place) else None


def _is_inside(folder: GovernedFolder, place: Path) -> bool:
    try:
        return place.parent.resolve().is_relative_to(folder.root.resolve())
    except (OSError, ValueError, RuntimeError):  # a circle of links, a name no file can have
        return False


class AssetFiles:
    """Writes files of one governed folder; the caller holds its lock `registry`."""

    def __init__(self, folder: GovernedFolder, store: ContentStore) -> None:
        self._folder = folder
        self._store = store
        self._writer = AtomicWriter(folder.root)

    def put(self, sha256: str, path: str) -> None:
        """Put the stored bytes with a digest at a path, replacing what is there; its mode stays.

        Raises:
            StorageError: the bytes are not in the store, or could not be written; the path holds what it held.
        """
        place = self._folder.path(path)
        if digest_of(place) != sha256:
            self._take_copy(self._store.verify(sha256), sha256, place, _mode_of(place))

    def archive(self, sha256: str, path: str) -> None:
        """Put the stored bytes with a digest at a path of the archive, read-only; never over something else.

        Raises:
            StorageError: something else is there, or as `put`.
        """
        place = self._folder.path(path)
        there = digest_of(place)
        if there is None and os.path.lexists(place):
            raise StorageError(f"{path} is in the way of the archive and no file; move it elsewhere")
        if there not in (None, sha256):
            raise StorageError(f"{path} holds other bytes ({there}); the archive replaces nothing, move it elsewhere")
        if there is None:
            self._take_copy(self._store.verify(sha256), sha256, place, _USUAL_MODE & ~_WRITABLE)

    def remove_archived(self, source: Path, sha256: str, archive: str) -> None:
        """Remove a file whose bytes are archived, and only while both are there with the same digest.

        Raises:
            StorageError: the archive does not hold it, or it could not be removed.
        """
        if digest_of(source) != sha256:
            return  # gone already, or it became something else meanwhile, which nobody has archived
        if digest_of(self._folder.path(archive)) != sha256:
            raise StorageError(f"{archive} does not hold the bytes of {source}; nothing was removed")
        try:
            source.unlink()
        except OSError as error:
            raise StorageError(
                f"{source} could not be removed: {error.strerror}; it is archived as {archive}"
            ) from None

    def write_registry(self, registry: Registry) -> None:
        """Replace the registry file.

        Raises:
            StorageError: it could not be written.
        """
        place, made = self._folder.path(REGISTRY), self._folder.path(NEW)
        self._writer.write(made, registry_text(registry), mode=_mode_of(place))
        self._writer.take(made, place)

    def _take_copy(self, source: Path, sha256: str, place: Path, mode: int) -> None:
        made = self._folder.path(NEW)
        if not _is_inside(self._folder, place):
            raise StorageError(f"{place} lies behind a link that leads out of the project; nothing was written there")
        try:
            made.unlink(missing_ok=True)  # what a killed process left
            descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                copied = copy_and_digest(source, descriptor).sha256
                os.fchmod(descriptor, mode)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StorageError(f"{place} could not be written: {error.strerror}; free space or rights") from error
        if copied != sha256:
            raise StorageError(f"{source} changed while it was copied to {place}; nothing was replaced")
        self._writer.take(made, place)


def _mode_of(place: Path) -> int:
    try:
        return stat.S_IMODE(place.lstat().st_mode)
    except OSError:
        return _USUAL_MODE
