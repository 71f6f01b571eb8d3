"""The files of a folder, as they lie on disk: every one of them, hidden ones included, in one order.

What belongs here: which entries there are, under which name they are accounted for, and which of them may not be
opened and why. What does not: opening one (strict.files) and what is inside (detection).

Names are literal: nothing here expands a pattern or follows a link. The order is that of the UTF-8 bytes of the path,
so it does not depend on how the file system lists a folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from governance_pipeline.errors import UnreadableError

CONTRACT_FILE: Final = "round.toml"

LOGS_FOLDER: Final = "logs"

_KINDS: Final = (
    (stat.S_ISLNK, "symlink"),
    (stat.S_ISFIFO, "fifo"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISCHR, "device"),
)


class FoundFile(NamedTuple):
    """One entry of a folder that is no folder.

    `path` is the name it is accounted for, below the scanned folder, with POSIX separators; `source` is what to open;
    `size` is in bytes; `reason` says why it must not be opened (symlink, fifo, socket, device, unreadable), None for
    a regular file.
    """

    path: str
    source: Path
    size: int
    reason: str | None


def scan(folder: Path) -> list[FoundFile]:
    """List every file below `folder`, ordered by path. Nothing is opened and no link is followed.

    A folder that cannot be listed is one entry with the reason `unreadable`: what is in it is unknown, not absent.

    Raises:
        UnreadableError: `folder` itself is no folder, is a link to one, or cannot be listed.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise UnreadableError(f"{folder} is not a folder; give the folder itself, not a link to it")
    found: list[FoundFile] = []
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            with os.scandir(current) as listing:
                entries = list(listing)
        except OSError as error:
            if current == folder:
                raise UnreadableError(f"{folder} cannot be listed: {error.strerror}; check its permissions") from None
            found.append(FoundFile(_name(current, folder), current, 0, "unreadable"))
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            else:
                found.append(found_file(Path(entry.path), folder))
    return sorted(found, key=lambda file: file.path.encode())


def scan_inbox(folder: Path) -> list[FoundFile]:
    """List a round folder of the landing area, as `scan`; a file with a second hard link has the reason `hard_link`.

    Agents may drop files there, and one that has another name elsewhere may be no work of theirs, or be rewritten under
    it (research/security.md row 42). Files a user names are read whatever links they have: backups are made of links.

    Raises:
        UnreadableError: as `scan`.
    """
    return [
        file._replace(size=0, reason="hard_link") if file.reason is None and _has_another_name(file.source) else file
        for file in scan(folder)
    ]


def _has_another_name(source: Path) -> bool:
    try:
        return source.lstat().st_nlink > 1
    except OSError:
        return False  # gone since it was listed: whoever opens it says so


def found_file(source: Path, folder: Path) -> FoundFile:
    """Look at one path below `folder` without opening it."""
    path = _name(source, folder)
    try:
        status = source.lstat()
    except OSError:
        return FoundFile(path, source, 0, "unreadable")
    if stat.S_ISREG(status.st_mode):
        return FoundFile(path, source, status.st_size, None)
    reason = next((word for is_kind, word in _KINDS if is_kind(status.st_mode)), "not_a_regular_file")
    return FoundFile(path, source, 0, reason)


def _name(source: Path, folder: Path) -> str:
    r"""Give the name a file is accounted for.

    A name that is not UTF-8 cannot be stored as text: its bytes are shown as \xNN, and 8 hex of their digest keep it
    apart from a file that is really called that.
    """
    raw = os.fsencode(source.relative_to(folder))
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = f"{raw.decode(errors='backslashreplace')}~{hashlib.sha256(raw).hexdigest()[:8]}"
    return text.replace(os.sep, "/")
