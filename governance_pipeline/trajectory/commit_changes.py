"""What commits of a repository changed: files with their blobs before and after, and the paths each one touched.

What belongs here: differences of trees along first parents. What does not: what is in the files (`symbol_changes`) and
what follows from a frequency (`amplification`). Renames are followed for the symbols of a commit, as in the rounds that
are made from a history; the frequency of a path is that of the path.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import pygit2

    from governance_pipeline.trajectory.repository_files import RepositoryFiles

MOST_MOVED: Final = 2_000
"""Files that come, or go, in one commit and are compared for renames, as in `ingest.history.repository`."""

MOST_HISTORY: Final = 2_000
"""Commits before a round, along first parents, that its frequencies are counted in: enough for a few years of a busy
repository, and a bound on the work. What is older is left out, and said."""

_LINK, _SUBMODULE = 0o120000, 0o160000


class ChangedFile(NamedTuple):
    """One changed file: path before and after, blob before and after (None: not there), and what it is."""

    old_path: str
    path: str
    before: str | None
    after: str | None
    is_file: bool
    is_link: bool


class CommitReader:
    """Reads the commits of one repository, each once."""

    def __init__(self, files: RepositoryFiles) -> None:
        self._objects = files.objects
        self._touched: dict[str, frozenset[str]] = {}
        self._changed: dict[str, tuple[ChangedFile, ...]] = {}

    def commit(self, sha: str) -> pygit2.Commit | None:
        """Give a commit by its whole id; None when it is not there or is none."""
        import pygit2

        try:
            found = self._objects[sha]
        except (pygit2.GitError, KeyError, ValueError):
            return None
        return found if isinstance(found, pygit2.Commit) else None

    def changed(self, commit: pygit2.Commit) -> tuple[ChangedFile, ...] | None:
        """Give the files a commit changed against its first parent; None when an object is missing."""
        import pygit2

        key = str(commit.id)
        if key not in self._changed:
            try:
                self._changed[key] = tuple(self._files(commit))
            except (pygit2.GitError, KeyError, OSError):
                return None
        return self._changed[key]

    def touched(self, commit: pygit2.Commit) -> frozenset[str] | None:
        """Give the paths a commit touched, old and new name of a renamed file; None when an object is missing."""
        import pygit2

        key = str(commit.id)
        if key not in self._touched:
            try:
                diff = self._diff(commit)
            except (pygit2.GitError, KeyError, OSError):
                return None
            raw = (path for delta in diff.deltas for path in (delta.old_file.raw_path, delta.new_file.raw_path))
            self._touched[key] = frozenset(map(_text, raw))
        return self._touched[key]

    def history(self, last: pygit2.Commit) -> tuple[list[pygit2.Commit], bool]:
        """Give `last` and the commits before it along first parents, and whether that is all of them."""
        import pygit2

        found: list[pygit2.Commit] = []
        at: pygit2.Commit | None = last
        while at is not None and len(found) < MOST_HISTORY:
            found.append(at)
            try:
                at = at.parents[0] if at.parent_ids else None
            except (pygit2.GitError, KeyError):
                return found, False  # a shallow clone ends here
        return found, at is None

    def _diff(self, commit: pygit2.Commit) -> pygit2.Diff:
        if commit.parent_ids:
            return self._objects.diff(commit.parent_ids[0], commit.id, context_lines=0)
        return commit.tree.diff_to_tree(context_lines=0, swap=True)

    def _files(self, commit: pygit2.Commit) -> list[ChangedFile]:
        from pygit2.enums import DeltaStatus, DiffFind

        diff = self._diff(commit)
        moved = Counter(delta.status for delta in diff.deltas)
        if max(moved[DeltaStatus.ADDED], moved[DeltaStatus.DELETED]) <= MOST_MOVED:
            diff.find_similar(flags=DiffFind.FIND_RENAMES, rename_limit=MOST_MOVED)
        return [_changed_file(delta) for delta in diff.deltas]


def _changed_file(delta: pygit2.DiffDelta) -> ChangedFile:
    old, new = delta.old_file, delta.new_file
    modes = {int(side.mode) for side in (old, new) if int(side.mode)}
    return ChangedFile(
        old_path=_text(old.raw_path),
        path=_text(new.raw_path),
        before=_blob(old),
        after=_blob(new),
        is_file=not modes & {_LINK, _SUBMODULE},
        is_link=_LINK in modes,
    )


def _blob(side: pygit2.DiffFile) -> str | None:
    blob = str(side.id)
    return blob if blob.strip("0") else None


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
