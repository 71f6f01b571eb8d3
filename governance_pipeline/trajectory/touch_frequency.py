"""How often the history changed each unit: its commits that touch one of the unit's files.

What belongs here: counting. What does not: reading a history. A commit of very many files (a rename, a reformat, an
import of vendored code) says nothing about how often a unit changes, so it is left out, and counted as left out: the
common convention, and the one of spec/trajectory.md §6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


@dataclass(frozen=True, slots=True)
class History:
    """Commits that count for frequency.

    Attributes:
        commits_of: path -> ordinals of the commits that touch it.
        commits_used: commits that count.
        commits_left_out: commits of more than the allowed number of distinct files.
    """

    commits_of: dict[str, list[int]]
    commits_used: int
    commits_left_out: int

    def frequency(self, files: Collection[str]) -> int:
        """Count the commits that touch at least one of `files`, each commit once."""
        return len({commit for path in files for commit in self.commits_of.get(path, ())})


def read_history(commits: Iterable[Collection[str]], max_files: int) -> History:
    """Index the files of each commit by path.

    Args:
        commits: the files of each commit; a path listed twice counts once.
        max_files: most distinct files of a commit that counts.
    """
    commits_of: dict[str, list[int]] = {}
    used = left_out = 0
    for files in map(frozenset, commits):
        if len(files) > max_files:
            left_out += 1
            continue
        for path in files:
            commits_of.setdefault(path, []).append(used)
        used += 1
    return History(commits_of, used, left_out)
