"""One writer at a time, by a lock of the kernel that is gone when its holder is.

What belongs here: taking a lock, and refusing file systems whose locks cannot be trusted. What does not: what is
locked. Research/security.md b8: a kernel lock cannot be orphaned on a local disk; over a network it can.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError
from governance_pipeline.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

NETWORK_FILE_SYSTEMS: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ncpfs"})
"""Types in the mount table whose locks and renames are not those of a local disk (design §9, last bullet but one)."""

_MOUNTS: Final = Path("/proc/self/mountinfo")
_OCTAL_ESCAPES: Final = {"\\040": " ", "\\011": "\t", "\\012": "\n", "\\134": "\\"}


@contextmanager
def exclusive(lock_file: Path, *, wait_s: float = SETTINGS.lock_wait_s) -> Iterator[None]:
    """Hold the kernel lock on `lock_file` (made when missing, never removed) while the block runs.

    Raises:
        StorageError: it was not free within `wait_s` seconds, or cannot be a lock file here.
    """
    from filelock import Timeout, UnixFileLock  # brings asyncio along: a tenth of a second for who never locks

    lock = UnixFileLock(lock_file, timeout=wait_s, mode=0o600, fallback_to_soft=False, preserve_lock_file=True)
    try:
        lock.acquire()
    except Timeout:
        raise StorageError(
            f"{lock_file} is still held by another process after {wait_s:g} s; `fuser {lock_file}` names it. It is "
            "free again as soon as that process ends or is continued"
        ) from None
    except (OSError, ValueError) as error:
        raise StorageError(
            f"{lock_file} cannot be locked: {error}; the lake needs a local POSIX file system and a plain file there"
        ) from error
    try:
        yield
    finally:
        lock.release()


def refuse_network(folder: Path, mount_table: str | None = None) -> None:
    """Refuse a folder on a network file system; where no mount table can be read nothing is refused.

    Raises:
        StorageError: naming the folder, the type and what to do.
    """
    kind = file_system_of(folder, _mount_table() if mount_table is None else mount_table)
    if kind in NETWORK_FILE_SYSTEMS:
        raise StorageError(
            f"{folder} is on a network file system ({kind}), whose locks and renames do not protect the lake; "
            "put it on a local disk"
        )


def file_system_of(folder: Path, mount_table: str) -> str | None:
    """Give the type of the file system that holds `folder`, from the text of a Linux mount table; None if unknown."""
    best, kind = -1, None
    target = folder.absolute()
    for line in mount_table.splitlines():
        left, separator, right = line.partition(" - ")
        fields = left.split(" ")
        if not separator or len(fields) <= _MOUNT_POINT:
            continue
        point = Path(_unescaped(fields[_MOUNT_POINT]))
        if target.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), right.split(" ")[0]
    return kind


_MOUNT_POINT: Final = 4


def _unescaped(field: str) -> str:
    for escape, character in _OCTAL_ESCAPES.items():
        field = field.replace(escape, character)
    return field


def _mount_table() -> str:
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
