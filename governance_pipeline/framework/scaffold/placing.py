"""Folders and files below one open folder, reached without following a link and never overwritten.

What belongs here: what is at a path, making a folder, and making a file that appears whole or not at all. What does
not: which ones (`plan`). Every part of a path is opened by itself with O_NOFOLLOW, so a link put there meanwhile is an
error and never a way out of the project. Modes follow the umask: a team shares the folder.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from governance_pipeline.storage.atomic import TEMPORARY_PREFIX, write_all

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPORARY: Final = f"{TEMPORARY_PREFIX}init-"
"""Start of the name of a file that is not finished; whoever holds the lock of the project folder may remove it."""

FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_MODE: Final = 0o666
_FOLDER_MODE: Final = 0o777
_NO_HARD_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})


class Kind(StrEnum):
    """What is at a path."""

    ABSENT = "nothing"
    FILE = "a file"
    FOLDER = "a folder"
    LINK = "a symbolic link"
    OTHER = "a special file"


def kind_at(root: int, path: str) -> Kind:
    """Tell what is at a path; below something that is no folder there is nothing.

    Raises:
        OSError: a folder on the way cannot be entered.
    """
    pure = PurePosixPath(path)
    try:
        with opened_folder(root, str(pure.parent)) as parent:
            mode = os.stat(pure.name, dir_fd=parent, follow_symlinks=False).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return Kind.ABSENT
    except OSError as error:
        if error.errno == errno.ELOOP:
            return Kind.ABSENT
        raise
    kinds = {stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.FOLDER, stat.S_IFLNK: Kind.LINK}
    return kinds.get(stat.S_IFMT(mode), Kind.OTHER)


@contextmanager
def opened_folder(root: int, path: str) -> Iterator[int]:
    """Give the descriptor of a folder below `root`, entering each part by itself.

    Raises:
        OSError: a part is missing, a link, or no folder.
    """
    descriptor = os.dup(root)
    try:
        for part in PurePosixPath(path).parts:
            inner = os.open(part, FOLDER_FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def make_folder(root: int, path: str) -> None:
    """Make one folder in a folder that is there, and sync its name.

    Raises:
        OSError: it could not be made; FileExistsError: something is there already.
    """
    pure = PurePosixPath(path)
    with opened_folder(root, str(pure.parent)) as parent:
        os.mkdir(pure.name, _FOLDER_MODE, dir_fd=parent)
        os.fsync(parent)


def make_file(root: int, path: str, data: bytes) -> None:
    """Make one file that was not there: whole under its name, or not at all, whenever the power fails.

    Raises:
        OSError: it could not be made; FileExistsError: something is there already, and is left as it is.
    """
    pure = PurePosixPath(path)
    with opened_folder(root, str(pure.parent)) as parent:
        temporary = f"{TEMPORARY}{secrets.token_hex(8)}"
        try:
            _write(parent, temporary, data)
            _name_it(parent, temporary, pure.name, data)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=parent)
        os.fsync(parent)


def sweep(root: int, path: str) -> None:
    """Remove what an interrupted `make_file` left in a folder; only for who holds the lock of the project folder.

    Raises:
        OSError: the folder cannot be listed or changed.
    """
    with opened_folder(root, path) as folder:
        with os.scandir(folder) as entries:
            left = [e.name for e in entries if e.name.startswith(TEMPORARY) and e.is_file(follow_symlinks=False)]
        for name in left:
            os.unlink(name, dir_fd=folder)


def _write(parent: int, name: str, data: bytes) -> None:
    descriptor = os.open(name, _NEW, _FILE_MODE, dir_fd=parent)
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _name_it(parent: int, temporary: str, name: str, data: bytes) -> None:
    """Give a finished file its name; a link, unlike a rename, never replaces what is there."""
    try:
        os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        _write(parent, name, data)  # a file system without hard links: not atomic, but never over anything
