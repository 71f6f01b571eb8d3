"""One writer at a time, by a lock of the kernel that is gone when its holder is.

What belongs here: taking a lock, and refusing file systems whose locks cannot be trusted. What does not: what is
locked. Research/security.md b8: a kernel lock cannot be orphaned on a local disk; over a network it can.
"""

from __future__ import annotations

import os
import stat
import time
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
_OPEN_FLAGS: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_POLL_S: Final = 0.01
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


@contextmanager
def descriptor_held(lock_file: Path, *, wait_s: float = SETTINGS.lock_wait_s) -> Iterator[int | None]:
    """Hold the same kernel lock as `exclusive` and give its descriptor; None when it was not free within `wait_s`.

    A process that inherits the descriptor keeps the lock until it ends, also when the one that took it is killed.

    Raises:
        StorageError: it cannot be a lock file here.
    """
    deadline = time.monotonic() + wait_s
    descriptor = _open_locked(lock_file)
    while descriptor is None and time.monotonic() < deadline:
        time.sleep(_POLL_S)
        descriptor = _open_locked(lock_file)
    if descriptor is None:
        yield None
        return
    from filelock import unlock_descriptor

    try:
        yield descriptor
    finally:
        unlock_descriptor(descriptor)  # for every process that inherited it, too: our work is over
        os.close(descriptor)


def is_held(lock_file: Path) -> bool:
    """Tell whether any process holds the kernel lock now; a file that is not there is held by nobody.

    The lock is taken for a moment to find out, so whoever wants it at that moment must try twice.

    Raises:
        StorageError: it cannot be a lock file.
    """
    if not lock_file.is_file():
        return False
    with descriptor_held(lock_file, wait_s=0) as descriptor:
        return descriptor is None


def _open_locked(lock_file: Path) -> int | None:
    """Open the lock file and lock it, or give None when somebody else holds it."""
    try:
        descriptor = os.open(lock_file, _OPEN_FLAGS | os.O_CREAT, 0o600)
    except OSError as error:
        raise _no_lock(lock_file, str(error)) from error
    try:
        is_ours = _is_locked(descriptor, lock_file)
    except BaseException:
        os.close(descriptor)
        raise
    if is_ours:
        return descriptor
    os.close(descriptor)
    return None


def _is_locked(descriptor: int, lock_file: Path) -> bool:
    """Lock an open file, and tell whether it was free and is still the one others will open."""
    from filelock import lock_descriptor

    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise _no_lock(lock_file, "it is no plain file")
    try:
        return lock_descriptor(descriptor, blocking=False) and _is_still_there(descriptor, lock_file)
    except OSError as error:
        raise _no_lock(lock_file, str(error)) from error


def _no_lock(lock_file: Path, reason: str) -> StorageError:
    return StorageError(
        f"{lock_file} cannot be locked: {reason}; locks need a local POSIX file system and a plain file there"
    )


def _is_still_there(descriptor: int, lock_file: Path) -> bool:
    """Tell whether an open file still has its name: a lock on one that was removed guards nothing."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(lock_file))
    except FileNotFoundError:
        return False


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
