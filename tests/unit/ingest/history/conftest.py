"""Small repositories written with git itself, and commits made up for the tests."""

from __future__ import annotations

import os
import subprocess

import pytest

from governance_pipeline.ingest.history.commits import Commit, FileDelta

QUIET = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ana",
    "GIT_AUTHOR_EMAIL": "Ana@Example.org",
    "GIT_COMMITTER_NAME": "Ana",
    "GIT_COMMITTER_EMAIL": "ana@example.org",
}


class Repository:
    """A repository below a folder; each commit is an hour after the one before."""

    def __init__(self, folder):
        self.folder = folder
        self.hours = 0
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments, **environment):
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=os.environ | QUIET | environment, check=True, capture_output=True
        )
        return done.stdout.decode("utf-8", "replace")

    def write(self, path, content):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, message="work", **files):
        for path, content in files.items():
            self.write(path, content)
        self.git("add", "-A")
        self.hours += 1
        at = f"2026-01-{1 + self.hours // 24:02d}T{self.hours % 24:02d}:00:00+02:00"
        self.git("commit", "-q", "--allow-empty", "-m", message, GIT_AUTHOR_DATE=at, GIT_COMMITTER_DATE=at)
        return self.git("rev-parse", "HEAD").strip()

    def merge(self, branch, message):
        self.git("merge", "-q", "--no-ff", "-m", message, branch)
        return self.git("rev-parse", "HEAD").strip()


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "repo")


@pytest.fixture
def commit():
    """Make a commit up; its number is in its id, so commits of different numbers differ."""

    def _commit(number, **members):
        defaults = {
            "sha": f"{number:040x}",
            "parents": (f"{number - 1:040x}",),
            "ts": f"2026-01-{number:02d}T12:00:00+00:00",
            "author": "ana@example.org",
            "agents": (),
            "files": (FileDelta("src/a.py", number, 0),),
        }
        return Commit(**defaults | members)

    return _commit
