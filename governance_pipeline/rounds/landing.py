"""The folders of the landing area that are rounds, those that are not, with the reason, and when one was touched.

What belongs here: which names may become a partition, and a cheap mark of a folder's state. What does not: reading a
round (ingest) and deciding whether it must be read (ingest.freshness). Nothing is opened.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    RoundFolders = Path | Mapping[str, Path]
    """The folder that holds the folders of rounds, or the folder of each round where they do not lie together."""

_NAME_CHARACTERS = 80


class RefusedFolder(NamedTuple):
    """A folder that is no round: its name, escaped and cut, and why."""

    name: str
    reason: str


class Landing(NamedTuple):
    """What the landing area holds: ids of rounds, sorted, and the folders that are none."""

    rounds: tuple[str, ...]
    refused: tuple[RefusedFolder, ...]


def round_folder(folders: RoundFolders | None, round_id: str) -> Path | None:
    """Give the folder of a round, from which its contract's relative paths are taken; None when nobody knows it."""
    if folders is None:
        return None
    return folders.get(round_id) if isinstance(folders, Mapping) else folders / round_id


def landing_rounds(landing: Path, known: Collection[str] = ()) -> Landing:
    """List the rounds of a landing area; files beside them are nobody's and left alone.

    A landing area that does not exist yet holds nothing. Of two names that differ only in case one is refused
    (design §4), because some file systems cannot tell them apart.

    Args:
        landing: folder with one folder per round.
        known: ids in use already; they keep their name against a newcomer that differs only in case.

    Raises:
        UnreadableError: the landing area exists and cannot be listed.
    """
    taken = {round_id.casefold(): round_id for round_id in sorted(known, reverse=True)}
    rounds: list[str] = []
    refused: list[RefusedFolder] = []
    for name, is_link in _folders(landing):
        reason = _reason(name, is_link=is_link, holder=taken.get(name.casefold(), name))
        if reason is None:
            taken[name.casefold()] = name
            rounds.append(name)
        else:
            refused.append(RefusedFolder(excerpt(name, _NAME_CHARACTERS), reason))
    return Landing(tuple(rounds), tuple(refused))


def fingerprint(folder: Path) -> str:
    """Return 64 hex digits that change whenever a file below `folder` is written, added, replaced or removed.

    Made of path, mode, size, inode, mtime and ctime: a file rewritten with the same size and mtime has another ctime.
    It decides whether to look again and is never evidence of content.

    Raises:
        OSError: the folder is gone, or something in it vanished while it was listed.
    """
    folder.lstat()
    parts = []
    for path in sorted(folder.rglob("*")):
        s = path.lstat()
        facts = (s.st_mode, s.st_size, s.st_ino, s.st_mtime_ns, s.st_ctime_ns)
        parts.append(b"\0".join([os.fsencode(path.relative_to(folder)), *(b"%d" % fact for fact in facts)]))
    return sha256_hex(b"\n".join(parts))


def _folders(landing: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(landing) as entries:
            return sorted((entry.name, entry.is_symlink()) for entry in entries if entry.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UnreadableError(f"{landing} cannot be listed: {error.strerror}; it must be a readable folder") from None


def _reason(name: str, *, is_link: bool, holder: str) -> str | None:
    if not is_round_id(name):
        return "not a legal round id: 1 to 80 of A-Z a-z 0-9 . _ -, starting with a letter or digit, no .. inside"
    if is_link:
        return "a symbolic link; links are not followed, copy the folder"
    if holder != name:
        return f"differs only in case from round {holder}"
    return None
