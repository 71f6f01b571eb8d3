"""The repositories rounds name in their contracts, opened once each, with everything that was read of them.

What belongs here: from a contract's `[repo]` to a repository, a base commit and its graph, or why there is none. What
does not: what the graph is used for. A relative path is taken from the folder of the round. The base is a commit id or
the beginning of one: a branch names another commit tomorrow, so a number that rests on it could not be made again.
Source: spec/ingest.md §2, spec/trajectory.md §2.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UnreadableError
from governance_pipeline.rounds.landing import round_folder
from governance_pipeline.trajectory.commit_changes import CommitReader
from governance_pipeline.trajectory.repository_files import RepositoryFiles
from governance_pipeline.trajectory.repository_graph import FactReader, repository_graph
from governance_pipeline.trajectory.symbol_changes import SymbolReader
from governance_pipeline.vocabulary import ContractState

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pygit2

    from governance_pipeline.rounds.landing import RoundFolders
    from governance_pipeline.trajectory.graph_cache import GraphCache
    from governance_pipeline.trajectory.repository_files import RepositoryTree
    from governance_pipeline.trajectory.repository_graph import RepositoryGraph

COMMIT_ID: Final = re.compile(r"[0-9a-f]{7,64}", re.ASCII)
MOST_KEPT_GRAPHS: Final = 4
"""Graphs of one repository kept in memory; rounds follow each other, so few are asked for twice."""


class RepositoryReason(StrEnum):
    """Why nothing is known of the repository of a round."""

    NO_CONTRACT = "no_contract"
    CONTRACT_INVALID = "contract_invalid"
    NO_REPO = "no_repo"
    NO_BASE = "no_base"
    REPO_UNREADABLE = "repo_unreadable"
    REPO_INCOMPLETE = "repo_incomplete"
    BASE_NOT_PINNED = "base_not_pinned"
    BASE_NOT_FOUND = "base_not_found"


REPOSITORY_REASONS_IN_WORDS: Final = {
    RepositoryReason.NO_CONTRACT: "the round has no contract",
    RepositoryReason.CONTRACT_INVALID: "the contract is invalid",
    RepositoryReason.NO_REPO: "the contract names no repository",
    RepositoryReason.NO_BASE: "the contract names no base commit",
    RepositoryReason.REPO_UNREADABLE: "the repository the contract names cannot be read",
    RepositoryReason.REPO_INCOMPLETE: "an object of the repository is missing",
    RepositoryReason.BASE_NOT_PINNED: "the base is no commit id",
    RepositoryReason.BASE_NOT_FOUND: "the base commit is not in the repository",
}
"""Each reason as the end of a sentence."""


class OpenRepository:
    """One repository and what was read of it.

    Attributes:
        files: its objects.
        commits: its commits.
        symbols: the symbols of its files.
        facts: the facts of its files.
    """

    def __init__(self, path: Path, cache: GraphCache | None) -> None:
        """Open it.

        Raises:
            UnreadableError: it is no git repository that can be read.
        """
        self.files = RepositoryFiles(path)
        self.commits = CommitReader(self.files)
        self.symbols = SymbolReader(self.files)
        self.facts = FactReader()
        self._cache = cache
        self._trees: dict[str, RepositoryTree] = {}
        self._graphs: dict[str, RepositoryGraph] = {}

    def tree(self, commit: pygit2.Commit) -> RepositoryTree:
        """Give the files of a commit.

        Raises:
            UnreadableError: an object is missing.
        """
        key = str(commit.tree_id)
        if key not in self._trees:
            _make_room(self._trees)
            self._trees[key] = self.files.tree(commit)
        return self._trees[key]

    def graph(self, commit: pygit2.Commit) -> RepositoryGraph:
        """Give the graph of a commit: from memory, else as kept on disk, else made and kept.

        Raises:
            UnreadableError: an object is missing.
            StorageError: the graph cannot be kept.
        """
        key = str(commit.tree_id)
        if key not in self._graphs:
            kept = None if self._cache is None else self._cache.get(key)
            made = kept or repository_graph(self.files, self.tree(commit), self.facts)
            if kept is None and self._cache is not None:
                self._cache.put(made)
            _make_room(self._graphs)
            self._graphs[key] = made
        return self._graphs[key]


class RoundBase:
    """The repository of a round and the commit it started from."""

    def __init__(self, repository: OpenRepository, commit: pygit2.Commit) -> None:
        self.repository = repository
        self.commit = commit


class Repositories:
    """Opens the repositories of rounds.

    Args:
        landing: folder with one folder per round, or the folder of each; where that of a round is unknown, only
            absolute paths lead anywhere.
        cache: where graphs are kept; None: in memory only.
    """

    def __init__(self, landing: RoundFolders | None = None, cache: GraphCache | None = None) -> None:
        self._landing = landing
        self._cache = cache
        self._open: dict[str, OpenRepository] = {}

    def base(self, row: Mapping[str, Any]) -> RoundBase | RepositoryReason:
        """Open what the contract of a round names, a row of `core_rounds`; or say why that cannot be."""
        state = row["contract_state"]
        if state != ContractState.VALID:
            return RepositoryReason.NO_CONTRACT if state == ContractState.ABSENT else RepositoryReason.CONTRACT_INVALID
        path, base = row["repo_path"], row["repo_base_id"]
        if path is None:
            return RepositoryReason.NO_REPO
        if base is None:
            return RepositoryReason.NO_BASE
        if not COMMIT_ID.fullmatch(base):
            return RepositoryReason.BASE_NOT_PINNED
        repository = self._repository(row["round_id"], path)
        if repository is None:
            return RepositoryReason.REPO_UNREADABLE
        commit = repository.files.commit(base)
        return RepositoryReason.BASE_NOT_FOUND if commit is None else RoundBase(repository, commit)

    def _repository(self, round_id: str, written: str) -> OpenRepository | None:
        path = Path(written)
        if not path.is_absolute():
            home = round_folder(self._landing, round_id)
            if home is None:
                return None
            path = home / path
        try:
            key = str(path.resolve())
            if key not in self._open:
                self._open[key] = OpenRepository(path, self._cache)
        except (UnreadableError, OSError, ValueError, RuntimeError):  # a loop of links, a NUL in the path
            return None
        return self._open[key]


def _make_room(kept: dict[str, Any]) -> None:
    while len(kept) >= MOST_KEPT_GRAPHS:
        kept.pop(next(iter(kept)))
