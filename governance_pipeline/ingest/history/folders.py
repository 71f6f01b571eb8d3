"""Rounds of a history as round folders: the commits themselves, the change events they make, and what was promised.

What belongs here: the three files of such a folder. What does not: bringing them into the landing area (importing).
`logs/git-log.jsonl` holds the commits as they were read; `changes.jsonl` has one event per commit, so that the step is
the commit and keeps its place in the history. A contract says what was promised on the command line, and which
repository and commit the round started from; a history promises nothing by itself, and an export names no repository.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.ingest.history.commits import Commit, to_line
from governance_pipeline.ingest.layout import CONTRACT_FILE, LOGS_FOLDER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.ingest.history.grouping import CommitRound

LOG_FILE = "git-log.jsonl"
CHANGES_FILE = "changes.jsonl"
RUN = "git"
"""Run of a history: its commits are the steps of one run, whoever made them."""


class Promise(NamedTuple):
    """What the contract of every round says; nothing given, nothing written.

    `repository` is the path of the repository from the folder of a round, or an absolute one; the base is the first
    parent of the round's first commit, so that the first commit of all has none.
    """

    project: str | None = None
    cohort: str | None = None
    scope: tuple[str, ...] = ()
    objective: tuple[str, ...] = ()
    repository: str | None = None
    public: tuple[str, ...] = ()


def write_folder(round_to_be: CommitRound, promise: Promise, parent: Path) -> Path:
    """Write one round as a folder below `parent` and give it; the same commits give the same bytes."""
    folder = parent / round_to_be.round_id
    (folder / LOGS_FOLDER).mkdir(parents=True)
    (folder / LOGS_FOLDER / LOG_FILE).write_bytes(b"".join(map(to_line, round_to_be.commits)))
    (folder / CHANGES_FILE).write_bytes(b"".join(_events(round_to_be.commits)))
    if any(promise):
        (folder / CONTRACT_FILE).write_text(_contract(promise, round_to_be.commits[0]), "utf-8")
    return folder


def _events(commits: Sequence[Commit]) -> list[bytes]:
    return [
        json.dumps(
            {
                "step": step,
                "ts": commit.ts,
                "run_id": RUN,
                "agent_id": commit.actor,
                "commit": commit.sha,
                "files": [{"path": file.path, "added": file.added, "deleted": file.deleted} for file in commit.files],
            },
            ensure_ascii=False,
        ).encode()
        + b"\n"
        for step, commit in enumerate(commits, 1)
    ]


def _contract(promise: Promise, first: Commit) -> str:
    lines = ['schema = "govern/round/v1"', "[round]"]
    named = {"project": promise.project, "cohort": promise.cohort}
    lines += [f"{name} = {_toml(value)}" for name, value in named.items() if value is not None]
    lists = {"include": promise.scope, "public": promise.public, "objective_set": promise.objective}
    if any(lists.values()):
        lines.append("[scope]")
        lines += [f"{name} = [{', '.join(map(_toml, globs))}]" for name, globs in lists.items() if globs]
    if promise.repository is not None:
        lines += ["[repo]", f"path = {_toml(promise.repository)}"]
        lines += [f"base = {_toml(first.parents[0])}"] if first.parents else []
    return "\n".join(lines) + "\n"


def _toml(text: str) -> str:
    """Write a text as a TOML basic string, whose escapes are those of JSON."""
    return json.dumps(text).replace("\x7f", "\\u007f")
