"""Commits cut into rounds, and the names of those.

What belongs here: the five ways to cut, and ids. What does not: reading commits and writing folders. An id says where
the round stands in time and never depends on how much of the history was asked for, unless the cut itself does.
"""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from governance_pipeline.ingest.history.commits import Commit

SHORT: Final = 10
"""Hex digits of a commit id in a round id: enough for the largest public histories."""

LONGEST: Final = 80
"""Longest round id (design §4)."""


class RoundBy(StrEnum):
    """How a history is cut into rounds.

    COMMIT: each commit alone. TAG: the commits since the tag before. DAY, WEEK: those of one UTC day or ISO week.
    PR_MERGE: the commits since the pull request before, the merge or squashed commit of it the last.
    """

    COMMIT = "commit"
    TAG = "tag"
    DAY = "day"
    WEEK = "week"
    PR_MERGE = "pr-merge"


class CommitRound(NamedTuple):
    """One round to be: its id, and its commits in the order of the history."""

    round_id: str
    commits: tuple[Commit, ...]


def rounds_of(commits: Sequence[Commit], by: RoundBy, prefix: str) -> list[CommitRound]:
    """Cut a history into rounds, in the order of their first commits. Every commit is in exactly one of them.

    Raises:
        UsageError: `prefix` makes no legal id, or the history has no tag to cut at.
    """
    if by is RoundBy.TAG and commits and not any(commit.tags for commit in commits):
        raise UsageError("there is no tag in this history (an export carries none); cut it by commit, day or week")
    parts = {
        RoundBy.COMMIT: _by_commit,
        RoundBy.TAG: _by_tag,
        RoundBy.DAY: lambda found: _by_time(found, lambda commit: f"{commit.at:%Y-%m-%d}"),
        RoundBy.WEEK: lambda found: _by_time(found, lambda commit: f"{commit.at:%G-W%V}"),
        RoundBy.PR_MERGE: _by_merge,
    }[by](commits)
    rounds = [CommitRound(_legal(f"{prefix}-{name}"), tuple(members)) for name, members in parts]
    return _told_apart(rounds)


def _by_commit(commits: Sequence[Commit]) -> Iterator[tuple[str, list[Commit]]]:
    for commit in commits:
        yield f"{commit.at:%Y%m%d}-{commit.sha[:SHORT]}", [commit]


def _by_time(commits: Sequence[Commit], name: Callable[[Commit], str]) -> Iterator[tuple[str, list[Commit]]]:
    """Group by a span of time: commits of one span are one round, wherever in the history they stand."""
    parts: dict[str, list[Commit]] = {}
    for commit in commits:
        parts.setdefault(name(commit), []).append(commit)
    yield from parts.items()


def _by_tag(commits: Sequence[Commit]) -> Iterator[tuple[str, list[Commit]]]:
    last = "start"
    for members in _cut_after(commits, lambda commit: bool(commit.tags)):
        tags = members[-1].tags
        yield (tags[0] if tags else f"after-{last}"), members
        last = tags[0] if tags else last


def _by_merge(commits: Sequence[Commit]) -> Iterator[tuple[str, list[Commit]]]:
    for members in _cut_after(commits, _is_merge):
        end = members[-1]
        if not _is_merge(end):
            yield f"open-{members[0].sha[:SHORT]}", members
        elif end.pull_request is None:
            yield f"merge-{end.sha[:SHORT]}", members
        else:
            yield f"pr-{end.pull_request}", members


def _is_merge(commit: Commit) -> bool:
    return len(commit.parents) > 1 or commit.pull_request is not None


def _cut_after(commits: Sequence[Commit], is_last: Callable[[Commit], bool]) -> Iterator[list[Commit]]:
    number = 0
    numbered = []
    for commit in commits:
        numbered.append((number, commit))
        number += is_last(commit)
    for _, members in groupby(numbered, key=lambda pair: pair[0]):
        yield [commit for _, commit in members]


def _legal(name: str) -> str:
    """Make a legal round id of a name: what an id cannot hold becomes a hyphen."""
    kept = re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9._-]", "-", name))[:LONGEST].rstrip(".")
    if not is_round_id(kept):
        raise UsageError(f"{excerpt(name)!r} makes no legal round id; give --prefix with letters and digits")
    return kept


def _told_apart(rounds: Sequence[CommitRound]) -> list[CommitRound]:
    """Add the last commit to ids that would be the same, letter case aside: two tags may differ in a sign only."""
    taken: set[str] = set()
    apart = []
    for one in rounds:
        name, digits = one.round_id, SHORT
        while name.casefold() in taken:  # ends: no commit has the whole id of another
            tail = f"-{one.commits[-1].sha[:digits]}"
            name, digits = one.round_id[: LONGEST - len(tail)] + tail, digits + 1
        taken.add(name.casefold())
        apart.append(CommitRound(name, one.commits))
    return apart
