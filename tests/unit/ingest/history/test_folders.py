"""A round folder of a history is read like any other: one step per commit, nothing promised that was not."""

from __future__ import annotations

import pandas as pd
import pytest

from governance_pipeline.ingest.history.commits import FileDelta
from governance_pipeline.ingest.history.folders import Promise, write_folder
from governance_pipeline.ingest.history.grouping import CommitRound
from governance_pipeline.ingest.round import read_round
from governance_pipeline.rounds.load import read_contract
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.trajectory.step_surface import step_surface


@pytest.fixture
def tables(tmp_path):
    def _tables(commits, promise=Promise()):  # noqa: B008 - a tuple
        folder = write_folder(CommitRound("r-1", tuple(commits)), promise, tmp_path)
        return read_round(folder, "r-1", ContentStore(tmp_path / "store")).frames

    return _tables


def test_without_a_promise_there_is_no_contract(tables, commit):
    found = tables([commit(1)])
    assert found["core_rounds"]["contract_state"].tolist() == ["absent"]
    assert found["raw_log_files"]["reason_code"].isna().all()


def test_a_promise_is_a_valid_contract_whatever_its_texts(tmp_path, commit):
    promise = Promise('a "p"\\', "co\nhort", ("src/**", "!src/[x]"))
    folder = write_folder(CommitRound("r-1", (commit(1),)), promise, tmp_path)
    state, contract, faults = read_contract(folder / "round.toml")
    assert (state.value, faults) == ("valid", [])
    assert (contract.project, contract.cohort) == ('a "p"\\', "co\nhort")


def test_the_repository_and_the_first_parent_of_the_first_commit_are_the_base_of_a_round(tmp_path, commit):
    promise = Promise(objective=("src/*.py",), repository='../a "b"')
    first = commit(1)._replace(parents=("a" * 40, "b" * 40))
    folder = write_folder(CommitRound("r-1", (first, commit(2))), promise, tmp_path)
    state, contract, faults = read_contract(folder / "round.toml")
    assert (state.value, faults) == ("valid", [])
    assert (contract.repo.path, contract.repo.base, contract.scope.objective_set) == (
        '../a "b"', "a" * 40, ("src/*.py",)
    )  # fmt: skip


def test_the_first_commit_of_all_has_no_base(tmp_path, commit):
    first = commit(1)._replace(parents=())
    folder = write_folder(CommitRound("r-1", (first,)), Promise(repository="../a"), tmp_path)
    assert read_contract(folder / "round.toml")[1].repo.base is None


def test_a_step_is_a_commit_and_a_binary_file_makes_its_lines_unknown(tables, commit):
    binary = commit(2, files=(FileDelta("src/b.bin", None, None), FileDelta("docs/a.md", 1, 1)))
    surface = step_surface(tables([commit(1), binary, commit(3, files=())]))
    rows = surface[["step_index", "files_count", "churn_count"]].astype(object)
    assert rows.where(rows.notna(), None).values.tolist() == [[1, 1, 1], [2, 2, None], [3, 0, 0]]


def test_everybody_with_a_hand_in_it_is_a_producer(tables, commit):
    found = tables([commit(1, agents=("claude", "codex")), commit(2)])
    runs = found["core_runs"]
    assert set(runs["agent_id"].dropna()) == {"codex", "ana@example.org"}
    assert found["core_steps"]["agent_id"].tolist() == ["claude", "ana@example.org"]
    assert found["core_steps"]["call_id"].tolist() == [commit(1).sha, commit(2).sha]
    assert found["core_changes"]["agent_id"].tolist() == ["claude", "ana@example.org"]


def surface_of(frame):
    row = frame.iloc[0]
    return [None if pd.isna(row[name]) else float(row[name]) for name in ("public_count", "surface_sum")]


def test_surface_is_unknown_until_a_public_boundary_is_promised(tables, commit):
    changed = commit(1, files=(FileDelta("a.py", 3, 1),))
    assert surface_of(step_surface(tables([changed], Promise(scope=("**",))))) == [None, None]


def test_a_promised_public_boundary_is_counted_and_the_surface_known(tables, commit):
    changed = commit(1, files=(FileDelta("a.py", 3, 1),))
    promise = Promise(scope=("**",), public=("a.py",))
    assert surface_of(step_surface(tables([changed], promise))) == [1.0, 1.0 + 4.0 + 1.0 + 1.0]
