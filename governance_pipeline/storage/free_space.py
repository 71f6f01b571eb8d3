"""Room on a disk, asked before something is begun that must not stop half-way.

What belongs here: the question. What does not: what to do when a write fails nevertheless; every writer leaves what was
there (`atomic`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

RESERVE_BYTES: Final = 16 * 2**20
"""Kept free beside what is to be written: write-ahead logs of SQLite grow to some MiB before they are folded back."""


def require_free_space(folder: Path, needed: int) -> None:
    """Refuse when the file system of a folder has less room than is needed, and the reserve.

    Args:
        folder: where something is to be written; it exists.
        needed: bytes.

    Raises:
        StorageError: there is less, or nobody can tell.
    """
    try:
        found = os.statvfs(folder)
    except OSError as error:
        raise StorageError(f"nobody can tell how much room {folder} has: {error.strerror}") from error
    free = found.f_bavail * found.f_frsize
    if free < needed + RESERVE_BYTES:
        raise StorageError(
            f"{folder} has {free} bytes left and {needed + RESERVE_BYTES} are needed; nothing was begun. Make room, "
            "then run it again"
        )
