"""Commits of a git repository along its first parents.

What belongs here: reading a repository with libgit2, which runs no hook, filter, text converter or external diff that
a repository names in its configuration, and fetches nothing. What does not: what becomes of the commits.

Lines are counted as `git log --first-parent -M --numstat` does: renames of half-similar files are followed, a binary
file has no lines, a merge is what it brought to its first parent.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.ingest.history.agents import Signature, agent_of, agents_among, co_authors
from governance_pipeline.ingest.history.commits import Commit, FileDelta
from governance_pipeline.ingest.history.facts import NO_BLOB, facts_of_blobs
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pygit2

_NUMBER: Final = re.compile(r"^Merge pull request #(\d{1,9})\b|\(#(\d{1,9})\)\s*$", re.ASCII)
_SPAN: Final = ".."
_NO_TEXT: Final = (0o120000, 0o160000)  # modes git gives a symbolic link and a submodule
MOST_MOVED: Final = 2_000
"""Files that come, or go, in one commit and are compared for renames: each with each, so twice as many take four times
as long. git stops at 1,000 by default."""


def read_commits(path: Path, span: str | None = None) -> Iterator[Commit]:
    """Give the commits of a repository on the first-parent line, oldest first.

    Args:
        path: folder of the repository: a work tree or a bare one.
        span: ``A..B``: those of B that A does not have; ``B``: all up to B; None: all up to HEAD.

    Raises:
        UsageError: it is no repository, or has no such revision.
        UnreadableError: an object is missing or broken, as in a partial clone.
    """
    import pygit2

    try:
        repository = pygit2.Repository(str(path), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
    except (pygit2.GitError, KeyError) as error:
        raise UsageError(f"{excerpt(str(path))} is no git repository that can be read: {error}") from None
    try:
        tags = _tags(repository)
        for commit in _walk(repository, span):
            yield _commit(repository, commit, tags)
    except (pygit2.GitError, KeyError, OSError) as error:
        raise UnreadableError(
            f"{excerpt(str(path))}: an object cannot be read: {error}; clone it again, whole, and try that"
        ) from None


def _walk(repository: pygit2.Repository, span: str | None) -> Iterator[pygit2.Commit]:
    from pygit2.enums import SortMode

    start, _, end = (span or "HEAD").rpartition(_SPAN)
    walker = repository.walk(_revision(repository, end or "HEAD").id, SortMode.TOPOLOGICAL | SortMode.REVERSE)
    walker.simplify_first_parent()
    if start:
        walker.hide(_revision(repository, start).id)
    yield from walker


def _revision(repository: pygit2.Repository, name: str) -> pygit2.Commit:
    import pygit2

    try:
        return repository.revparse_single(name).peel(pygit2.Commit)
    except (pygit2.GitError, KeyError, ValueError):
        raise UsageError(
            f"{excerpt(name)!r} names no commit of {excerpt(repository.path)}; give --range A..B with revisions it has"
        ) from None


def _tags(repository: pygit2.Repository) -> Mapping[str, tuple[str, ...]]:
    """Give the tags of each tagged commit, by commit id, in the order of their names."""
    import pygit2

    named: dict[str, list[str]] = defaultdict(list)
    for reference in sorted(name for name in repository.references if name.startswith("refs/tags/")):
        target = repository.revparse_single(reference)
        try:
            named[str(target.peel(pygit2.Commit).id)].append(reference.removeprefix("refs/tags/"))
        except pygit2.GitError:
            continue  # a tag of a file or tree
    return {sha: tuple(names) for sha, names in named.items()}


def _commit(repository: pygit2.Repository, commit: pygit2.Commit, tags: Mapping[str, tuple[str, ...]]) -> Commit:
    author = Signature(_text(commit.author.raw_name), _text(commit.author.raw_email))
    message = _text(commit.raw_message)
    signed = list(co_authors(message))
    number = _NUMBER.search(message.partition("\n")[0])
    return Commit(
        sha=str(commit.id),
        parents=tuple(str(parent) for parent in commit.parent_ids),
        ts=_time(commit),
        author=_named(author),
        agents=agents_among((author, *signed)),
        files=tuple(_files(repository, commit)),
        tags=tags.get(str(commit.id), ()),
        pull_request=int(number[1] or number[2]) if number else None,
        coauthors=tuple(dict.fromkeys(_named(one) for one in signed if agent_of(one) is None)),
    )


def _files(repository: pygit2.Repository, commit: pygit2.Commit) -> Iterator[FileDelta]:
    """Give the files that differ from the first parent, or from nothing, by path.

    Whatever the reader's git is set to: renames are followed, copies are not. Where more files came and went than
    are compared, nobody knows which were renamed, so their lines are unknown.
    """
    from pygit2.enums import DeltaStatus, DiffFind

    if commit.parent_ids:
        diff = repository.diff(commit.parent_ids[0], commit.id, context_lines=0)
    else:
        diff = commit.tree.diff_to_tree(context_lines=0, swap=True)
    moved = Counter(delta.status for delta in diff.deltas)
    is_too_large = max(moved[DeltaStatus.ADDED], moved[DeltaStatus.DELETED]) > MOST_MOVED
    if not is_too_large:
        diff.find_similar(flags=DiffFind.FIND_RENAMES, rename_limit=MOST_MOVED)
    deltas = {}
    for delta, patch in zip(diff.deltas, diff, strict=True):
        old, new = _text(delta.old_file.raw_path), _text(delta.new_file.raw_path)
        _, added, deleted = (0, 0, 0) if patch is None else patch.line_stats  # None: renamed without any change
        renamed_from = old if old != new else None
        is_moved = delta.status in (DeltaStatus.ADDED, DeltaStatus.DELETED)
        if delta.is_binary or (is_too_large and is_moved):
            deltas[new] = FileDelta(new, None, None, renamed_from)
        else:
            found = facts_of_blobs(repository, _source(delta.old_file), _source(delta.new_file), new, old)
            one = FileDelta(new, added, deleted, renamed_from, found)
            deltas[new] = _both(deltas[new], one) if new in deltas else one
    yield from (deltas[path] for path in sorted(deltas))


def _source(side: pygit2.DiffFile) -> str:
    """Give the id of the blob whose bytes are a source text: a symbolic link and a submodule have none."""
    return NO_BLOB if int(side.mode) in _NO_TEXT else str(side.id)


def _both(gone: FileDelta, come: FileDelta) -> FileDelta:
    """Put together what libgit2 tells apart: a file that became a link, or the other way, went and came."""
    counts = ((gone.added, come.added), (gone.deleted, come.deleted))
    added, deleted = (None if None in pair else sum(filter(None, pair)) for pair in counts)
    facts = None if gone.facts is None and come.facts is None else (*(gone.facts or ()), *(come.facts or ()))
    return FileDelta(come.path, added, deleted, gone.renamed_from or come.renamed_from, facts)


def _text(raw: bytes) -> str:
    """Write bytes as text, whatever encoding a commit claims; what is no UTF-8 stays visible as escapes."""
    return raw.decode("utf-8", "backslashreplace")


def _named(signature: Signature) -> str:
    """Give the name a person is known by: the address, which is compared without its case."""
    return signature.email.strip().lower() or signature.name.strip() or "unknown"


def _time(commit: pygit2.Commit) -> str:
    author = commit.author
    try:
        return datetime.fromtimestamp(author.time, timezone(timedelta(minutes=author.offset))).isoformat()
    except (ValueError, OverflowError, OSError):
        raise UnreadableError(
            f"commit {commit.id} says it was made at second {author.time}, which is no time"
        ) from None
