"""Where a lock stands: free, held by somebody who lives, left behind by somebody who died, or nobody can tell.

What belongs here: the judgement and its reason. What does not: acting on it (`locks`). Dead is only who is proven dead;
what cannot be told counts as alive, because breaking the lock of a live owner costs more than asking a person.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import FaultyFileError, StorageError, UnreadableError
from governance_pipeline.framework.lock_owner import Mode, Owner, checked_name, is_name, read_owner
from governance_pipeline.framework.processes import DEAD, Life, Look
from governance_pipeline.storage.lock import is_held
from governance_pipeline.strict.files import FileRefused

if TYPE_CHECKING:
    from pathlib import Path

OWNER_SUFFIX: Final = ".json"
KERNEL_SUFFIX: Final = ".lock"


class Standing(StrEnum):
    """Where a lock stands."""

    FREE = "free"
    LIVE = "live"
    ORPHANED = "orphaned"
    UNKNOWN = "unknown"


class Reason(StrEnum):
    """What shows it; the first that applies. The values never change their meaning."""

    KERNEL_LOCK_HELD = "kernel_lock_held"
    NO_OWNER = "no_owner"
    UNREADABLE = "owner_unreadable"
    PROCESS_ALIVE = "process_alive"
    PROCESS_GONE = "process_gone"
    PID_REUSED = "pid_reused"
    MACHINE_RESTARTED = "machine_restarted"
    KERNEL_LOCK_FREE = "kernel_lock_free"
    OTHER_MACHINE = "other_machine"
    IDENTITY_NOT_RECORDED = "identity_not_recorded"


class Judgement(NamedTuple):
    """Standing and reason; `owner` is who is recorded, None where nobody is or it cannot be read.

    `detail` says in words what could not be read.
    """

    standing: Standing
    reason: Reason
    owner: Owner | None = None
    detail: str | None = None


class LockPlace(NamedTuple):
    """The two files of one lock: whose kernel lock counts, and who holds it."""

    name: str
    kernel: Path
    record: Path


def place_in(folder: Path, name: str) -> LockPlace:
    """Give the files of a lock by its name.

    Raises:
        UsageError: it is no name of a lock.
    """
    checked_name(name)
    return LockPlace(name, folder / f"{name}{KERNEL_SUFFIX}", folder / f"{name}{OWNER_SUFFIX}")


def place_of(path: Path) -> LockPlace:
    """Give the files of a lock by one of them, or by the lock file of another program, which is its own record."""
    if path.suffix == OWNER_SUFFIX:
        return LockPlace(path.stem, path.with_suffix(KERNEL_SUFFIX), path)
    record = path.with_suffix(OWNER_SUFFIX)
    is_ours = path.suffix == KERNEL_SUFFIX and (record.exists() or not _has_content(path))
    return LockPlace(path.stem, path, record if is_ours else path)


def standing_of(place: LockPlace, look: Look, *, is_kernel_held: bool | None = None) -> Judgement:
    """Judge a lock.

    Args:
        place: its files.
        look: how processes are looked at.
        is_kernel_held: whether somebody else holds the kernel lock; None: find out, which takes it for a moment.

    Raises:
        StorageError: what should be the lock file is none.
    """
    owner, detail = _recorded(place)
    if is_held(place.kernel) if is_kernel_held is None else is_kernel_held:
        return Judgement(Standing.LIVE, Reason.KERNEL_LOCK_HELD, owner, detail)
    if detail is not None:
        return Judgement(Standing.UNKNOWN, Reason.UNREADABLE, None, detail)
    if owner is None:
        return Judgement(Standing.FREE, Reason.NO_OWNER)
    return _judged(owner, place, look)


def _judged(owner: Owner, place: LockPlace, look: Look) -> Judgement:
    """Judge a recorded owner whose kernel lock nobody holds."""
    life = look.life_of(owner.process)
    if life in DEAD:
        return Judgement(Standing.ORPHANED, Reason(str(life)), owner)
    # Whoever holds a lock as a process holds the kernel lock of the very file it recorded, and nobody does; only of
    # this machine's living processes the word of the kernel alone is not taken, for the file may have been exchanged.
    is_let_go = owner.mode is Mode.PROCESS and owner.lock_inode == _inode(place.kernel)
    if is_let_go and (life is not Life.ALIVE or owner.process == look.this()):
        return Judgement(Standing.ORPHANED, Reason.KERNEL_LOCK_FREE, owner)
    return Judgement(Standing.LIVE if life is Life.ALIVE else Standing.UNKNOWN, Reason(str(life)), owner)


def names_in(folder: Path) -> list[str]:
    """List the names of all locks of a folder that were ever taken and not cleared away, sorted."""
    found = set()
    if folder.is_dir():
        for path in folder.iterdir():
            if path.suffix in (OWNER_SUFFIX, KERNEL_SUFFIX) and is_name(path.stem):
                found.add(path.stem)
    return sorted(found)


def _recorded(place: LockPlace) -> tuple[Owner | None, str | None]:
    try:
        return read_owner(place.record, place.name), None
    except FileRefused as error:
        return None, None if error.code == "not_found" else str(error)
    except (FaultyFileError, UnreadableError, StorageError) as error:
        return None, str(error)


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except OSError:
        return None


def _has_content(path: Path) -> bool:
    try:
        return path.lstat().st_size > 0
    except OSError:
        return False
