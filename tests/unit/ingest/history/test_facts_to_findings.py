"""From a commit to a finding: what the blobs show is in the round a history becomes."""

import pytest

from governance_pipeline.ingest.history.folders import Promise, write_folder
from governance_pipeline.ingest.history.grouping import RoundBy, rounds_of
from governance_pipeline.ingest.history.repository import read_commits
from governance_pipeline.ingest.round import read_round
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.vocabulary import FactKind

TEST = "def test_a():\n    assert x == 1\n    assert y\n"
OTHER = "def test_parse_numbers():\n    assert z\n    assert w\n"


@pytest.fixture
def facts_of(repository, tmp_path):
    """Facts of the last commit as a round: (kind, subject, line of the log)."""

    def tell():
        last = rounds_of(list(read_commits(repository.folder)), RoundBy.COMMIT, "r")[-1]
        folder = write_folder(last, Promise(), tmp_path / "rounds")
        rows = read_round(folder, last.round_id, ContentStore(tmp_path / "store")).rows("core_change_facts")
        shown = [row for row in rows if row["origin"] == "log" and row["kind"] != FactKind.PARSED]
        return [(row["kind"], row["subject"], row["path"], row["line"]) for row in shown]

    return tell


def test_a_deleted_test_file_is_in_the_round_with_the_line_of_its_commit(repository, facts_of):
    repository.commit(**{"tests/test_a.py": TEST, "tests/test_b.py": OTHER})
    (repository.folder / "tests/test_b.py").unlink()
    repository.commit()
    assert facts_of() == [("test_removed", "test_parse_numbers", "logs/git-log.jsonl", 1)]


def test_a_renamed_file_keeps_its_tests(repository, facts_of):
    repository.commit(**{"tests/test_a.py": TEST})
    repository.git("mv", "tests/test_a.py", "tests/test_c.py")
    repository.commit()
    assert facts_of() == []


def test_a_rename_that_drops_an_assertion_shows_it(repository, facts_of):
    repository.commit(**{"tests/test_a.py": TEST + OTHER})
    repository.git("mv", "tests/test_a.py", "tests/test_c.py")
    repository.commit(**{"tests/test_c.py": TEST.replace("    assert y\n", "") + OTHER})
    assert [fact[:2] for fact in facts_of()] == [("assertions_changed", "test_a")]


def test_a_file_nobody_asks_about_has_no_facts(repository, facts_of):
    repository.commit(**{"README.md": "a\n"})
    assert facts_of() == []


def test_a_link_with_the_name_of_a_source_file_is_not_parsed(repository, facts_of):
    repository.commit(**{"a.py": "x = 1\n"})
    (repository.folder / "link.py").symlink_to("no python( at all")
    repository.commit()
    assert facts_of() == []


def test_a_test_file_that_became_a_link_took_its_tests_with_it(repository, facts_of):
    repository.commit(**{"tests/test_a.py": TEST, "tests/test_b.py": OTHER})
    (repository.folder / "tests/test_b.py").unlink()
    (repository.folder / "tests/test_b.py").symlink_to("test_a.py")
    repository.commit()
    assert facts_of() == [("test_removed", "test_parse_numbers", "logs/git-log.jsonl", 1)]
    *_, last = read_commits(repository.folder)
    assert [(file.path, file.added, file.deleted) for file in last.files] == [("tests/test_b.py", 1, 3)]
    assert repository.git("log", "-1", "--numstat", "--format=").split() == ["1", "3", "tests/test_b.py"]


def test_a_submodule_with_the_name_of_a_source_file_is_not_looked_for(repository, facts_of):
    repository.commit(**{"a.py": "x = 1\n"})
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor.py")
    repository.git("commit", "-q", "-m", "a submodule")
    assert facts_of() == []
