"""Files that are made once and never overwritten: keys, a first trust root, a first configuration.

What belongs here: creating a file that must not exist yet. What does not: replacing one (`storage.atomic`).
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.storage.atomic import PRIVATE, write_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_new(path: Path, data: bytes) -> None:
    """Write a file that did not exist, readable by its owner only, and sync it with its folder.

    Raises:
        UsageError: something is there already; it is left as it is.
        StorageError: it could not be written.
    """
    try:
        descriptor = os.open(path, _NEW, PRIVATE)
    except FileExistsError:
        raise UsageError(f"{path} exists and is never overwritten; name another place or move it away") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be made: {error.strerror}; check the folder and its rights") from error
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    except OSError as error:
        raise StorageError(f"{path} could not be written: {error.strerror}; remove it and try again") from error
    finally:
        os.close(descriptor)
    sync_folder(path.parent)


@contextmanager
def taken_back_on_failure() -> Iterator[list[Path]]:
    """Give a list for files that are made inside; when the block fails they are removed, the last one first.

    What was refused leaves nothing behind, so that it can be tried again. A file that was there before is no one's to
    remove: put a file on the list only after it was made.
    """
    made: list[Path] = []
    try:
        yield made
    except BaseException:
        for path in reversed(made):
            path.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power loss.

    Raises:
        StorageError: the system could not.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StorageError(f"folder {folder} could not be synced: {error.strerror}; check the disk") from error
