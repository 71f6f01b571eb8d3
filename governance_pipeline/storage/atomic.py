"""Files that appear whole or not at all, below one root folder.

What belongs here: temporary file, fsync, rename, fsync of the folder, and what to do when one of them fails. What
does not: names and contents. Whoever writes into a folder holds its lock (`lock`), so any temporary file found there
was left by a process that died.
"""

from __future__ import annotations

import itertools
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from governance_pipeline.errors import StorageError
from governance_pipeline.storage.lock import exclusive, refuse_network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Produced = TypeVar("Produced")

TEMPORARY_PREFIX: Final = ".tmp-"
PRIVATE: Final = 0o600
READ_ONLY: Final = 0o400
_PRIVATE_FOLDER: Final = 0o700
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class AtomicWriter:
    """Writes files below `root`; folders on the way are made, and refused when they are links.

    After a failed fsync the kernel may have dropped the pages and call them clean, so a repeated fsync proves nothing
    ("Can Applications Recover from fsync Failures?", USENIX ATC 2020). The writer is then poisoned: it writes nothing
    more, and a new one starts by reading back what is there.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._poison: str | None = None
        self._is_local = False
        self._numbers = itertools.count()

    def write(self, path: Path, data: bytes, *, mode: int = PRIVATE) -> None:
        """Put `data` at `path`, replacing what is there in one step.

        Raises:
            StorageError: it could not be written; `path` then holds what it held before, unless the message says that
                it was the folder that could not be synced.
        """
        self.fill(path, lambda descriptor: write_all(descriptor, data), mode=mode)

    def fill(self, path: Path, produce: Callable[[int], Produced], *, mode: int = PRIVATE) -> Produced:
        """Put at `path` what `produce` writes into the descriptor it is given, and return what it returns.

        Raises:
            StorageError: as `write`. An exception of `produce` that is no OSError passes through; nothing is kept.
        """
        with self.folder(path.parent) as folder:
            temporary = f"{TEMPORARY_PREFIX}{os.getpid()}-{next(self._numbers)}"
            try:
                result = self._produce(folder, temporary, produce, mode)
                os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException as error:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                if isinstance(error, OSError):
                    raise _unwritable(path, error) from error
                raise
            self._sync(folder, path.parent)
        return result

    def take(self, made: Path, path: Path) -> None:
        """Put at `path`, in one step, a finished file that another library made below the same root.

        Raises:
            StorageError: as `write`.
        """
        with self.folder(path.parent) as folder:
            try:
                descriptor = os.open(made, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    self._sync(descriptor, made)
                finally:
                    os.close(descriptor)
                os.replace(made, path.name, dst_dir_fd=folder)
            except OSError as error:
                raise _unwritable(path, error) from error
            self._sync(folder, path.parent)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Be the only writer of what `name` stands for while the block runs, among all processes of this machine.

        Raises:
            StorageError: as `lock.exclusive`, or the root is on a network file system.
        """
        locks = self._root / "locks"
        with self.folder(locks):
            if not self._is_local:
                refuse_network(locks)
                self._is_local = True
        with exclusive(locks / f"{name}.lock"):
            yield

    @contextmanager
    def folder(self, path: Path) -> Iterator[int]:
        """Open the folder `path` below the root, making what is missing; gives its descriptor.

        Raises:
            StorageError: the writer is poisoned, or a part of the path is no real folder.
        """
        if self._poison is not None:
            raise StorageError(
                f"{self._root}: nothing more is written because {self._poison}; what the disk holds is not known. "
                "Check the disk, then start again: reading re-hashes every table"
            )
        descriptor = self._open_folder(path)
        try:
            yield descriptor
        finally:
            with suppress(OSError):  # closing a folder writes nothing
                os.close(descriptor)

    def _open_folder(self, path: Path) -> int:
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._root, _FOLDER_FLAGS & ~os.O_NOFOLLOW)
            for part in path.relative_to(self._root).parts:
                outer = descriptor
                try:
                    descriptor = self._enter(outer, part, path)
                finally:
                    with suppress(OSError):
                        os.close(outer)
        except OSError as error:
            raise StorageError(
                f"folder {path} cannot be used: {error.strerror}; every part below {self._root} must be a real folder "
                "this user may write"
            ) from error
        return descriptor

    def _enter(self, outer: int, name: str, path: Path) -> int:
        try:
            return os.open(name, _FOLDER_FLAGS, dir_fd=outer)
        except FileNotFoundError:
            with suppress(FileExistsError):  # another process made it meanwhile
                os.mkdir(name, _PRIVATE_FOLDER, dir_fd=outer)
            self._sync(outer, path)
            return os.open(name, _FOLDER_FLAGS, dir_fd=outer)

    def _produce(self, folder: int, temporary: str, produce: Callable[[int], Produced], mode: int) -> Produced:
        descriptor = os.open(temporary, _CREATE_FLAGS, PRIVATE, dir_fd=folder)
        try:
            result = produce(descriptor)
            os.fchmod(descriptor, mode)
            self._sync(descriptor, Path(temporary))
        finally:
            os.close(descriptor)
        return result

    def _sync(self, descriptor: int, path: Path) -> None:
        try:
            os.fsync(descriptor)
        except OSError as error:
            self._poison = f"fsync of {path} failed ({error.strerror})"
            raise StorageError(
                f"{path} could not be synced to disk: {error.strerror}; it may or may not be there after a power loss. "
                "Check the disk, then start again: reading re-hashes every table"
            ) from error


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, however little the system takes at once."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sweep_temporaries(folder: Path) -> int:
    """Remove the temporary files of dead writers from a folder whose lock the caller holds; gives their number."""
    swept = 0
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(TEMPORARY_PREFIX) and not entry.is_dir(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    Path(entry.path).unlink()
                    swept += 1
    return swept


def _unwritable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path} could not be written: {error.strerror}; it holds what it held before. Free space or rights, then "
        "run the same step again"
    )
