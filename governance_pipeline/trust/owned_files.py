"""Files a verifier believes: nobody but their owner can write them, and nobody else can put another in their place.

What belongs here: rights and owner of such a file and of its folder, and reading one whole. What does not: what it
says. Only the folder itself is looked at, not the ones above it: who may rename those can exchange much more than this.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.strict.files import FileRefused, open_regular

if TYPE_CHECKING:
    from pathlib import Path

_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_ANY: Final = 0o077


def owned_bytes(path: Path, what: str, most: int) -> bytes:
    """Read a file that only its owner can have written: at most one byte more than `most`, which shows one too large.

    Args:
        path: the file.
        what: its name in messages, with its article left out ("configuration").
        most: bytes it may have.

    Raises:
        UsageError: it is not there, no regular file, belongs to somebody else, or others may write it or its folder.
    """
    return _checked_bytes(path, what, most, _WRITE)


def private_bytes(path: Path, what: str, most: int) -> bytes:
    """Read a file that only its owner can open; raises as `owned_bytes`, and where others may read it."""
    return _checked_bytes(path, what, most, _ANY)


def foreign_fault(status: os.stat_result, path: Path, rights: int = _WRITE) -> str | None:
    """Say why a file or folder is not its owner's alone; None when it is.

    A folder with the sticky bit (`/tmp`) keeps what is in it to its owners, so it may be open to others.
    """
    if status.st_uid not in (os.getuid(), 0):
        return f"{path} belongs to another user; use a file of your own"
    is_sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    if status.st_mode & rights and not is_sticky:
        verb = "be written" if rights == _WRITE else "be opened"
        mode = "700" if stat.S_ISDIR(status.st_mode) else "600"
        return f"{path} can {verb} by others (mode {status.st_mode & 0o777:o}); run chmod {mode} on it and check it"
    return None


def folder_fault(folder: Path) -> str | None:
    """Say why a folder is not its owner's alone; None when it is, or when there is none."""
    try:
        return foreign_fault(folder.stat(), folder)  # a link to a folder is as good as the folder it leads to
    except OSError:
        return None


def _checked_bytes(path: Path, what: str, most: int, rights: int) -> bytes:
    try:
        with open_regular(path) as stream:
            fault = foreign_fault(os.fstat(stream.fileno()), path, rights)
            if fault is None and rights == _WRITE:  # whose content is secret proves itself by opening something
                fault = folder_fault(path.parent)
            if fault is not None:
                raise UsageError(f"{what}: {fault}")
            return stream.read(most + 1)
    except FileRefused as error:
        raise UsageError(f"{what}: {error}") from None
