"""One commit of a history, and its line in an export (`govern/git-log/v1`).

What belongs here: the members of a commit and the rules of its line. What does not: where commits come from
(repository, an exported file) and what becomes of them (grouping, folders, formats.git_log).
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ingest.extraction import parse_time
from governance_pipeline.ingest.history.facts import fact_members, read_facts
from governance_pipeline.ingest.native.members import (
    UnusableRecord,
    is_text,
    members_of,
    optional_integer,
    optional_text,
    required_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.change_facts.fact import ChangeFact

SCHEMA: Final = "govern/git-log/v1"
_OBJECT_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)


class FileDelta(NamedTuple):
    """One file a commit touched; counts are lines, None = a binary file, whose lines nobody can count.

    `facts` are what the contents show; None when nobody looked at them.
    """

    path: str
    added: int | None
    deleted: int | None
    renamed_from: str | None = None
    facts: tuple[ChangeFact, ...] | None = None


class Commit(NamedTuple):
    """One commit.

    `ts` is the author's time as the history has it, ISO 8601 with its offset: when the work was done, which a rebase
    does not change. `author` is an e-mail address or a pseudonym; `agents` are the coding agents among author and
    co-authors, `coauthors` those who are no listed agent. `files` are those that differ from the first parent. `tags`
    and `pull_request` are known from a repository only; an export does not carry them.
    """

    sha: str
    parents: tuple[str, ...]
    ts: str
    author: str
    agents: tuple[str, ...]
    files: tuple[FileDelta, ...]
    tags: tuple[str, ...] = ()
    pull_request: int | None = None
    coauthors: tuple[str, ...] = ()

    @property
    def at(self) -> datetime:
        """When it was made, UTC."""
        time = parse_time(self.ts)
        if time is None:  # both readers refuse such a commit
            raise ValueError(f"commit {self.sha} has no readable time: {self.ts!r}")
        return time.astimezone(UTC)

    @property
    def actor(self) -> str:
        """Who made the change: the first agent named, else the author."""
        return self.agents[0] if self.agents else self.author

    @property
    def actors(self) -> tuple[str, ...]:
        """Everybody who had a hand in it, each once: whoever validates or approves must be none of them."""
        return tuple(dict.fromkeys((*self.agents, self.author, *self.coauthors)))


def to_line(commit: Commit) -> bytes:
    """Write a commit as one line of an export, line feed included; the same commit gives the same bytes."""
    files = [
        {"path": file.path, "added": file.added, "deleted": file.deleted}
        | ({} if file.renamed_from is None else {"renamed_from": file.renamed_from})
        | ({} if file.facts is None else {"facts": list(map(fact_members, file.facts))})
        for file in commit.files
    ]
    document = {
        "schema": SCHEMA,
        "sha": commit.sha,
        "parents": list(commit.parents),
        "ts": commit.ts,
        "author": commit.author,
        "agent_coauthors": list(commit.agents),
        "files": files,
    } | ({"coauthors": list(commit.coauthors)} if commit.coauthors else {})
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"


def from_line(value: Any) -> Commit:
    """Read the parsed line of an export. Members that are not known are kept in the file and play no part.

    Raises:
        UnusableRecord: a member is missing or has a value it cannot have; `bad_<member>` names it.
    """
    members = members_of(value)
    if members.get("schema") != SCHEMA:
        raise UnusableRecord("bad_schema")
    sha, ts = required_text(members, "sha"), required_text(members, "ts")
    if not _OBJECT_ID.fullmatch(sha):
        raise UnusableRecord("bad_sha")
    if parse_time(ts) is None:
        raise UnusableRecord("bad_ts")
    return Commit(
        sha=sha,
        parents=_texts(members.get("parents"), "parents"),
        ts=ts,
        author=required_text(members, "author"),
        agents=_texts(members.get("agent_coauthors"), "agent_coauthors"),
        files=_files(members.get("files")),
        coauthors=_texts(members.get("coauthors"), "coauthors"),
    )


def _texts(value: Any, name: str) -> tuple[str, ...]:
    texts = [] if value is None else value
    if not isinstance(texts, list) or not all(is_text(text) and text for text in texts):
        raise UnusableRecord(f"bad_{name}")
    return tuple(texts)


def _files(value: Any) -> tuple[FileDelta, ...]:
    if not isinstance(value, list):
        raise UnusableRecord("bad_files")
    files = [_file(member) for member in value]
    if len({file.path for file in files}) < len(files):
        raise UnusableRecord("repeated_path")
    return tuple(files)


def _file(value: Any) -> FileDelta:
    if not isinstance(value, dict):
        raise UnusableRecord("bad_files")
    return FileDelta(
        path=required_text(value, "path"),
        added=optional_integer(value, "added", at_least=0),
        deleted=optional_integer(value, "deleted", at_least=0),
        renamed_from=optional_text(value, "renamed_from"),
        facts=read_facts(value.get("facts")),
    )


def repeated(commits: Sequence[Commit]) -> str | None:
    """Give the id of a commit that stands there twice, None when there is none."""
    seen: set[str] = set()
    for commit in commits:
        if commit.sha in seen:
            return commit.sha
        seen.add(commit.sha)
    return None
