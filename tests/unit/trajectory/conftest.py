"""Rounds written by a test and read into tables, as `govern features` reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from governance_pipeline.ingest.round import read_round
from governance_pipeline.pipeline import joined
from governance_pipeline.storage.content import ContentStore

if TYPE_CHECKING:
    from pathlib import Path

CONTRACT = """
schema = "govern/round/v1"
[scope]
include = ["src/**"]
public = ["src/api/**"]
module_rule = "dir:1"
[[criterion]]
id = "C1"
"""


def change(path: str, added: int | None = 1, deleted: int | None = 0, **more: Any) -> dict[str, Any]:
    return {"path": path, "added": added, "deleted": deleted, **more}


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Write files below a folder; a list becomes JSON lines, a text or bytes is written as it is."""
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_bytes(content))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _bytes(content: Any) -> bytes:
    text = "".join(json.dumps(line) + "\n" for line in content) if isinstance(content, list) else content
    return text if isinstance(text, bytes) else text.encode()


@pytest.fixture
def contract() -> str:
    """Give a contract with a scope, a public boundary, a module rule and one required criterion."""
    return CONTRACT


@pytest.fixture
def file():
    """Give a function that makes one entry of `files`."""
    return change


@pytest.fixture
def tables(tmp_path):
    """Give a function that writes rounds (id -> files) and reads them into one set of raw and core tables."""

    def _tables(rounds: dict[str, dict[str, Any]]):
        store = ContentStore(tmp_path / "lake")
        read = [read_round(write(tmp_path / "rounds" / id_, files), id_, store).frames for id_, files in rounds.items()]
        return {table: joined(table, [frames[table] for frames in read]) for table in read[0]}

    return _tables


@pytest.fixture
def one_round(tables, contract):
    """Give a function that reads one round from its change events, a contract and more files."""

    def _one_round(changes: list[dict] | None, toml: str | None = contract, **more: Any):
        files = {name.replace("__", "."): content for name, content in more.items()}
        if changes is not None:
            files["changes.jsonl"] = changes
        if toml is not None:
            files["round.toml"] = toml
        return tables({"r-1": files})

    return _one_round


class Repository:
    """A bare git repository made by a test: commits of whole trees."""

    def __init__(self, path: Path) -> None:
        import pygit2

        self.path = path
        self.objects = pygit2.init_repository(str(path), bare=True)
        self.last: list[Any] = []

    def commit(self, files: dict[str, bytes | str], modes: dict[str, int] | None = None, *, at: int = 0) -> str:
        """Commit exactly these files on top of the last commit, and give its id."""
        import pygit2

        index = pygit2.Index()
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            index.add(pygit2.IndexEntry(path, self.objects.create_blob(data), (modes or {}).get(path, 0o100644)))
        author = pygit2.Signature("A", "a@example.org", 1_700_000_000 + (at or len(self.last)))
        tree = index.write_tree(self.objects)
        made = self.objects.create_commit("refs/heads/main", author, author, "m", tree, self.last[-1:])
        self.last.append(made)
        return str(made)


@pytest.fixture
def repository(tmp_path) -> Repository:
    """Give an empty repository to commit to."""
    return Repository(tmp_path / "repository.git")


@pytest.fixture
def graph_of(repository):
    """Give a function that makes the graph of some files."""
    from governance_pipeline.trajectory.repository_files import RepositoryFiles
    from governance_pipeline.trajectory.repository_graph import FactReader, repository_graph

    def make(files: dict[str, bytes | str], modes: dict[str, int] | None = None):
        opened = RepositoryFiles(repository.path)
        commit = opened.commit(repository.commit(files, modes))
        return repository_graph(opened, opened.tree(commit), FactReader())

    return make


def edges_of(made) -> set[tuple[str, str]]:
    """Give the distinct edges of a repository graph as pairs of ids."""
    graph = made.graph
    ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    return {(graph.ids[source], graph.ids[target]) for source, target in ends}


@pytest.fixture
def edges():
    """Give the function that lists the edges of a repository graph."""
    return edges_of
