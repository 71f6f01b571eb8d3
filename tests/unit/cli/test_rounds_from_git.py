"""A history becomes rounds once, and says what it would do, did, and could not do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import governance_pipeline.ingest
from governance_pipeline.cli.rounds import rounds
from governance_pipeline.errors import UsageError
from governance_pipeline.rounds.load import read_contract

SCHEMAS = Path(governance_pipeline.ingest.__file__).parent / "schemas"


@pytest.fixture
def govern(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def _govern(*arguments):
        result = CliRunner().invoke(rounds, list(arguments), standalone_mode=False)
        if result.exception is not None:
            raise result.exception
        return result.return_value, result.stdout, result.stderr

    return _govern


@pytest.fixture
def repository(tmp_path):
    """Two commits on two days."""
    folder = tmp_path / "repo"
    folder.mkdir()

    def git(*arguments, at="2026-01-01T00:00:00Z"):
        who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A"}
        when = {"GIT_COMMITTER_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        subprocess.run(["git", *arguments], cwd=folder, env=who | when | {"PATH": "/usr/bin:/bin"}, check=True)

    git("init", "-q", "-b", "main")
    for day in (1, 2):
        (folder / "a.py").write_text("x\n" * day)
        git("add", "-A")
        git("commit", "-q", "-m", "work", at=f"2026-01-0{day}T00:00:00Z")
    return folder


def document(answer, schema):
    found = json.loads(answer)
    jsonschema.validate(found, json.loads((SCHEMAS / schema).read_text("utf-8")))
    return found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name either"),
        (("repo", "--log", "x.jsonl"), "name either"),
        (("--log", "x.jsonl", "--range", "A..B"), "taken whole"),
        (("nothing",), "no git repository"),
        (("repo", "--round-by", "tag"), "no tag"),
        (("repo", "--range", "v9"), "names no commit"),
        (("repo", "--prefix", "..."), "no legal round id"),
        (("repo", "--scope", "#bad"), "#bad"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_made(govern, repository, tmp_path, arguments, message):
    assert repository.name == "repo"
    with pytest.raises(UsageError, match=message):
        govern("from-git", *arguments)
    assert not (tmp_path / "data").exists()


def test_a_dry_run_makes_nothing(govern, repository, tmp_path):
    code, out, _ = govern("from-git", str(repository), "--dry-run", "--json")
    found = document(out, "rounds-import-v1.json")
    assert (code, found["dry_run"], len(found["rounds"])) == (0, True, 2)
    assert not (tmp_path / "data").exists()


def test_rounds_are_made_once_and_a_longer_history_adds_to_them(govern, repository, tmp_path):
    first = govern("from-git", str(repository), "--range", "HEAD~1", "--landing", "l")
    assert first == (0, "1 rounds of 1 commits are in l\n", "")
    code, out, _ = govern("from-git", str(repository), "--landing", "l", "--json")
    found = document(out, "rounds-import-v1.json")["rounds"]
    assert code == 0
    assert [len(one["copied"]) for one in found] == [0, 3]
    assert len(list((tmp_path / "l").glob("repo-*/changes.jsonl"))) == 2


def test_a_round_that_exists_with_other_commits_is_not_overwritten(govern, repository, tmp_path):
    week = ("--round-by", "week", "--landing", "l")
    govern("from-git", str(repository), "--range", "HEAD~1", *week)
    before = (tmp_path / "l" / "repo-2026-W01" / "changes.jsonl").read_bytes()
    code, _, err = govern("from-git", str(repository), *week)
    assert code == 2
    assert "not imported: repo-2026-W01/changes.jsonl" in err
    dry_code, _, dry_err = govern("from-git", str(repository), "--dry-run", *week)
    assert (dry_code, dry_err) == (code, err)
    assert (tmp_path / "l" / "repo-2026-W01" / "changes.jsonl").read_bytes() == before


def test_a_promise_becomes_the_contract_of_every_round(govern, repository, tmp_path):
    govern("from-git", str(repository), "--scope", "src/**", "--cohort", "c", "--project", "p", "--landing", "l")
    [contract, _] = sorted((tmp_path / "l").glob("*/round.toml"))
    assert 'include = ["src/**"]' in contract.read_text()


def test_rounds_of_a_repository_name_it_and_the_commit_they_started_from(govern, repository, tmp_path):
    govern("from-git", str(repository), "--objective", "a.py", "--landing", "deep/l")
    first, second = (read_contract(path)[1] for path in sorted((tmp_path / "deep/l").glob("*/round.toml")))
    assert (first.repo.base, second.scope.objective_set) == (None, ("a.py",))
    assert len(second.repo.base) == 40
    [folder, _] = sorted((tmp_path / "deep/l").glob("repo-*"))
    assert (folder / second.repo.path).resolve() == repository.resolve()


def test_the_repository_can_be_left_out(govern, repository, tmp_path):
    govern("from-git", str(repository), "--no-repo", "--landing", "l")
    assert not list((tmp_path / "l").glob("*/round.toml"))


def test_an_export_makes_the_same_rounds_as_its_repository(govern, repository, tmp_path):
    code, out, _ = govern("export-git", str(repository), "--out", "repo.jsonl", "--keep-authors", "--json")
    assert (code, document(out, "git-export-v1.json")["commits"]) == (0, 2)
    govern("from-git", str(repository), "--landing", "a")
    govern("from-git", "--log", "repo.jsonl", "--landing", "b")
    files = [sorted(path.relative_to(tmp_path / side) for path in (tmp_path / side).rglob("*.jsonl")) for side in "ab"]
    assert files[0] == files[1]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files[0])


def test_an_export_is_not_overwritten_and_hides_authors(govern, repository, tmp_path):
    govern("export-git", str(repository), "--out", "x.jsonl")
    assert b"example.org" not in (tmp_path / "x.jsonl").read_bytes()
    with pytest.raises(UsageError, match="not overwritten"):
        govern("export-git", str(repository), "--out", "x.jsonl")
