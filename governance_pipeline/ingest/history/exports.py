"""An exported history read back, and a history written as one.

What belongs here: files of `govern/git-log/v1`. What does not: repositories.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import UnreadableError
from governance_pipeline.ingest.history.commits import Commit, from_line, repeated, to_line
from governance_pipeline.ingest.native.members import UnusableRecord
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.records import Accepted, Refused, read_json_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SHOWN_FAULTS: Final = 10
PSEUDONYM_DIGITS: Final = 8


def read_export(path: Path) -> list[Commit]:
    """Read an exported history, in the order of its lines.

    A line that cannot be used would leave a hole in a round that looks whole, so the file is refused with all of them.

    Raises:
        UnreadableError: the file cannot be opened, a line is refused, or a commit stands there twice.
    """
    commits, faults = [], []
    for entry in read_json_lines(path):
        if isinstance(entry, Refused):
            faults.append(f"line {entry.line}: {entry.code}")
        elif isinstance(entry, Accepted):
            try:
                commits.append(from_line(entry.value))
            except UnusableRecord as reason:
                faults.append(f"line {entry.line}: {reason.code}")
    twice = repeated(commits)
    if twice is not None:
        faults.append(f"commit {twice} stands there twice")
    if faults:
        more = f"; and {len(faults) - SHOWN_FAULTS} more" if len(faults) > SHOWN_FAULTS else ""
        raise UnreadableError(f"{excerpt(str(path))} is no whole history: {'; '.join(faults[:SHOWN_FAULTS])}{more}")
    return commits


def export_bytes(commits: Iterable[Commit], *, keep_authors: bool) -> bytes:
    """Write a history as JSON Lines; authors become pseudonyms unless they are to be kept."""
    return b"".join(to_line(commit if keep_authors else with_pseudonym(commit)) for commit in commits)


def with_pseudonym(commit: Commit) -> Commit:
    """Replace author and co-authors by digests of their addresses: the same person stays one, without the name.

    It hides a name from readers; whoever guesses the address can confirm it.
    """
    return commit._replace(author=_pseudonym(commit.author), coauthors=tuple(map(_pseudonym, commit.coauthors)))


def _pseudonym(address: str) -> str:
    return f"p-{hashlib.sha256(address.encode()).hexdigest()[:PSEUDONYM_DIGITS]}"
