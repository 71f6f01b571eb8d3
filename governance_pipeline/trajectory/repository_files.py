"""A git repository as objects: the commit a name means, the files of its tree, their bytes.

What belongs here: reading objects with libgit2, which runs nothing a repository names and fetches nothing (decision
0008), and what of a tree cannot be a file of the graph. What does not: what the files say. Nothing is checked out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pygit2

MOST_FILES: Final = 200_000
"""Files of a tree that become nodes; what is beyond is counted as `too_many_files`."""

MOST_DEPTH: Final = 64
"""Folders inside folders that are walked; deeper ones are counted as `too_deep`."""

_REVISION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,199}(?:[~^][0-9]{0,6}){0,8}")
"""A commit id or the name of a branch or tag, and steps back from it: no search through messages, no log of names."""

_LINK, _SUBMODULE = 0o120000, 0o160000


class RepositoryTree(NamedTuple):
    """The files of one commit.

    Attributes:
        commit: id of the commit, hex.
        tree: id of its tree: two commits with one tree have one graph.
        files: path -> id of its blob (hex), by path.
        gaps: what is in the tree and no file of the graph -> how many: symlink, submodule, path_not_utf8, too_deep,
            too_many_files.
    """

    commit: str
    tree: str
    files: Mapping[str, str]
    gaps: Mapping[str, int]


class BlobBytes(NamedTuple):
    """Bytes of a blob; None when it is not there, or too large."""

    data: bytes | None
    is_too_large: bool


class RepositoryFiles:
    """One repository, opened once.

    Args:
        path: folder of the repository, a work tree or a bare one; it is not searched for further up.

    Raises:
        UnreadableError: it is no git repository that can be read.
    """

    def __init__(self, path: Path) -> None:
        import pygit2

        try:
            self.objects = pygit2.Repository(str(path), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
        except (pygit2.GitError, KeyError, OSError) as error:
            raise UnreadableError(f"{excerpt(str(path))} is no git repository that can be read: {error}") from None

    def commit(self, revision: str) -> pygit2.Commit | None:
        """Give the commit a name means; None when it means none here."""
        import pygit2

        if not _REVISION.fullmatch(revision):
            return None
        try:
            return self.objects.revparse_single(revision).peel(pygit2.Commit)
        except (pygit2.GitError, KeyError, ValueError):
            return None

    def tree(self, commit: pygit2.Commit) -> RepositoryTree:
        """List the files of a commit.

        Raises:
            UnreadableError: an object is missing or broken, as in a partial clone.
        """
        import pygit2

        files: dict[str, str] = {}
        gaps: Counter[str] = Counter()
        try:
            waiting = [("", commit.tree, 0)]
            while waiting:
                folder, tree, depth = waiting.pop()
                waiting += [(path, below, depth + 1) for path, below in self._listed(folder, tree, depth, files, gaps)]
        except (pygit2.GitError, KeyError, OSError) as error:
            raise UnreadableError(f"commit {commit.id}: an object cannot be read: {error}; clone it whole") from None
        return RepositoryTree(str(commit.id), str(commit.tree_id), dict(sorted(files.items())), dict(gaps))

    def _listed(
        self, folder: str, tree: pygit2.Tree, depth: int, files: dict[str, str], gaps: Counter[str]
    ) -> list[tuple[str, pygit2.Tree]]:
        """Take the files of one folder; gives the folders in it."""
        import pygit2

        folders: list[tuple[str, pygit2.Tree]] = []
        for entry in tree:
            try:
                path = folder + (entry.raw_name or b"").decode("utf-8")
            except UnicodeDecodeError:
                gaps["path_not_utf8"] += 1
                continue
            if entry.filemode in (_LINK, _SUBMODULE):
                gaps["symlink" if entry.filemode == _LINK else "submodule"] += 1
            elif isinstance(entry, pygit2.Tree):
                if depth < MOST_DEPTH:
                    folders.append((f"{path}/", entry))
                else:
                    gaps["too_deep"] += 1
            elif isinstance(entry, pygit2.Blob):
                if len(files) < MOST_FILES:
                    files[path] = str(entry.id)
                else:
                    gaps["too_many_files"] += 1
        return folders

    def bytes_of(self, blob: str, most: int) -> BlobBytes:
        """Give the bytes of a blob unless it has more than `most`; a blob that is not there is a gap, not an error."""
        import pygit2

        try:
            found = self.objects[blob]
            if not isinstance(found, pygit2.Blob):
                return BlobBytes(None, False)
            is_too_large = found.size > most
            return BlobBytes(None if is_too_large else found.data, is_too_large)
        except (pygit2.GitError, KeyError, ValueError):
            return BlobBytes(None, False)
