"""The base of a round: a commit is named by its id or not at all, and lines are counted as git counts them."""

from __future__ import annotations

import pygit2
import pytest

from governance_pipeline.trajectory.base_lines import Base, BaseReason, open_base

FILES = {
    "src/a.py": b"one\ntwo\nthree",
    "src/empty.py": b"",
    "src/ends.py": b"one\n",
    "logo.png": b"\x89PNG\x00\x00\n\n",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Give folder and commit id of a repository whose only commit has FILES."""
    folder = tmp_path_factory.mktemp("base") / "repo"
    repo = pygit2.init_repository(str(folder))
    for path, data in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    repo.index.add_all()
    repo.index.write()
    who = pygit2.Signature("a", "a@example.org", 1_700_000_000, 0)
    commit = repo.create_commit("refs/heads/main", who, who, "one", repo.index.write_tree(), [])
    return folder, str(commit)


def test_a_branch_or_a_relative_revision_is_no_base(repository):
    folder, commit = repository
    for name in ("main", "HEAD", "HEAD~1", commit[:6], commit.upper(), ""):
        assert open_base()("r-1", str(folder), name) is BaseReason.BASE_NOT_PINNED


def test_a_folder_without_a_repository_is_not_searched_above(repository, tmp_path):
    folder, commit = repository
    for path in (folder / "src", tmp_path, tmp_path / "none"):
        assert open_base()("r-1", str(path), commit) is BaseReason.REPO_UNREADABLE


def test_a_relative_path_leads_nowhere_without_a_landing_area_and_from_the_round_with_one(repository):
    folder, commit = repository
    assert open_base()("r-1", "../repo", commit) is BaseReason.REPO_UNREADABLE
    (folder.parent / "r-1").mkdir()
    assert isinstance(open_base(folder.parent)("r-1", "../repo", commit), Base)


def test_a_commit_that_is_not_there_and_an_object_that_is_no_commit_are_no_base(repository):
    folder, commit = repository
    blob = str(pygit2.Repository(str(folder))[commit].tree["logo.png"].id)
    for name in ("0" * 40, blob):
        assert open_base()("r-1", str(folder), name) is BaseReason.BASE_NOT_FOUND


def test_lines_are_those_git_counts_and_a_binary_file_has_none(repository):
    folder, commit = repository
    base = open_base()("r-1", str(folder), commit[:10])
    counts = {"src/a.py": 3, "src/empty.py": 0, "src/ends.py": 1, "logo.png": None}
    assert {path: base.lines(path) for path in FILES} == counts
    assert [path for path in FILES if not base.has(path)] == []


def test_a_folder_an_absolute_path_and_a_file_that_is_not_there_are_no_files(repository):
    folder, commit = repository
    base = open_base()("r-1", str(folder), commit)
    for path in ("src", "src/none.py", "/src/a.py", "../src/a.py", "", "."):
        assert not base.has(path)
        assert base.lines(path) is None


def test_a_file_too_large_to_hold_has_no_known_lines(repository, monkeypatch):
    folder, commit = repository
    monkeypatch.setattr("governance_pipeline.trajectory.base_lines.LARGEST_FILE_BYTES", 5)
    base = open_base()("r-1", str(folder), commit)
    assert (base.lines("src/a.py"), base.lines("src/ends.py")) == (None, 1)
