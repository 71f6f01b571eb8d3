"""Commits of a repository as rounds, with the contents of the files they changed at hand.

What belongs here: reading a history. What does not: judging it, and planting faults in it.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pygit2
from detector_rounds import Round, judge

from governance_pipeline.errors import UnreadableError
from governance_pipeline.ingest.history.repository import read_commits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from detector_rounds import Found

    from governance_pipeline.ingest.history.commits import Commit

IN_ONE_READ = 32
AT_ONCE = 200
"""Commits judged together: their tables stay small."""


class History(NamedTuple):
    """Commits of a repository, oldest first, and how many were left out because a copy of it lacks an object."""

    commits: list[Commit]
    left_out: int


def last_commits(repository: Path, count: int, end: str = "HEAD") -> History:
    """Give the last `count` commits on the first-parent line up to `end`; the first one of a history left out.

    The first commit brings all its files, so nothing can be gone from it.
    """
    names = _git(repository, "rev-list", "--first-parent", f"--max-count={count + 1}", end).decode().split()[::-1]
    commits: list[Commit] = []
    for first in range(0, len(names) - 1, IN_ONE_READ):
        commits += _readable(repository, names[first : first + IN_ONE_READ + 1])
    return History(commits, max(0, len(names) - 1 - len(commits)))


def _readable(repository: Path, names: Sequence[str]) -> list[Commit]:
    """Read the commits after the first of `names`; one by one where an object of one of them is missing."""
    try:
        return list(read_commits(repository, f"{names[0]}..{names[-1]}"))
    except UnreadableError:
        if len(names) <= 2:  # noqa: PLR2004 - one commit and its parent
            return []
        middle = len(names) // 2
        return [*_readable(repository, names[: middle + 1]), *_readable(repository, names[middle:])]


def round_of(commit: Commit) -> Round:
    """Make the round of a commit: its text files and what their contents show."""
    return Round(commit.sha, [(file.path, file.facts or ()) for file in commit.files])


def findings(commits: Sequence[Commit]) -> Iterator[tuple[Commit, frozenset[Found]]]:
    """Give each commit with what the detectors find in it."""
    for first in range(0, len(commits), AT_ONCE):
        part = commits[first : first + AT_ONCE]
        found = judge([round_of(commit) for commit in part])
        yield from ((commit, found[commit.sha]) for commit in part)


def content(repository: pygit2.Repository, commit: str, path: str) -> bytes | None:
    """Give a file as it was in a commit; None when it was not there or is no file."""
    try:
        entry = repository[commit].peel(pygit2.Tree)[path]
    except KeyError:
        return None
    return entry.data if isinstance(entry, pygit2.Blob) else None


def _git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=True).stdout
