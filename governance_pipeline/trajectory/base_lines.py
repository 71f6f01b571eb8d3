"""Lines of files at the commit a round started from, read from the repository its contract names.

What belongs here: opening a repository at a commit and counting the lines of a file in it, with libgit2, which runs no
program a repository names (decision 0008). What does not: what the lines are compared with (`rewriting`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from governance_pipeline.rounds.landing import round_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    import pygit2

    from governance_pipeline.rounds.landing import RoundFolders

    OpenBase = Callable[[str, str, str], "Base | BaseReason"]
    """Opens the base of a round: its id, path of the repository and commit as the contract writes them."""

LARGEST_FILE_BYTES: Final = 64 * 2**20
"""Files beyond this have no known number of lines: they would be held in memory whole, and nobody edits such text."""

_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}", re.ASCII)


class BaseReason(StrEnum):
    """Why the base of a round is unknown."""

    REPO_UNREADABLE = "repo_unreadable"
    BASE_NOT_PINNED = "base_not_pinned"
    BASE_NOT_FOUND = "base_not_found"


class Base:
    """The files of one commit."""

    def __init__(self, tree: pygit2.Tree) -> None:
        self._tree = tree

    def has(self, path: str) -> bool:
        """Tell whether a file (or link) is at this path in normal form; a folder or submodule is none."""
        return self._blob(path) is not None

    def lines(self, path: str) -> int | None:
        """Count the lines of a file as git does: a last one without its line end counts.

        Returns:
            None for a file that is not there, not text, too large, or missing from the repository.
        """
        import pygit2

        blob = self._blob(path)
        try:
            if blob is None or blob.size > LARGEST_FILE_BYTES or blob.is_binary:
                return None
            data = blob.data
        except (pygit2.GitError, KeyError):
            return None
        return data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))

    def _blob(self, path: str) -> pygit2.Blob | None:
        import pygit2

        try:
            found = self._tree[path]
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return found if isinstance(found, pygit2.Blob) else None


def open_base(landing: RoundFolders | None = None) -> OpenBase:
    """Give a function that opens the base of a round.

    A relative path of a repository is taken from the folder of the round. The commit is an id or the beginning of one:
    a branch or `HEAD~1` names another commit tomorrow, so a number that rests on it could not be made again.

    Args:
        landing: folder with one folder per round, or the folder of each; where that of a round is unknown, relative
            paths lead nowhere.
    """

    def opened(round_id: str, repository: str, commit: str) -> Base | BaseReason:
        import pygit2

        home = round_folder(landing, round_id)
        folder = Path(repository) if home is None else home / repository
        if not _COMMIT.fullmatch(commit):
            return BaseReason.BASE_NOT_PINNED
        if not folder.is_absolute() and home is None:
            return BaseReason.REPO_UNREADABLE
        try:
            found = pygit2.Repository(str(folder), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
        except (pygit2.GitError, KeyError, ValueError):
            return BaseReason.REPO_UNREADABLE
        try:
            return Base(found[commit].peel(pygit2.Commit).tree)
        except (pygit2.GitError, KeyError, ValueError):
            return BaseReason.BASE_NOT_FOUND

    return opened
