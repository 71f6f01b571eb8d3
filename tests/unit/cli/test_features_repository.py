"""`govern features repository`: what is no commit or no repository is told apart, and gaps are said."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pygit2
import pytest

from governance_pipeline.cli.main import run


@pytest.fixture
def bare(tmp_path):
    """Give a repository with one commit of one file that is read, one that is not and one of no language."""
    objects = pygit2.init_repository(str(tmp_path / "r.git"), bare=True)
    index = pygit2.Index()
    for path, data in {"a.py": b"import os\n", "b.py": b"def (\n", "c.md": b"#"}.items():
        index.add(pygit2.IndexEntry(path, objects.create_blob(data), 0o100644))
    who = pygit2.Signature("A", "a@example.org", 1)
    objects.create_commit("refs/heads/main", who, who, "m", index.write_tree(objects), [])
    objects.set_head("refs/heads/main")
    return str(tmp_path / "r.git")


def test_no_repository_is_unreadable_and_no_commit_a_usage_error(bare, tmp_path, capsys):
    assert run(["features", "repository", str(tmp_path)]) == 3
    assert run(["features", "repository", bare, "--base", "gone"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "names no commit" in err


def test_gaps_are_said_and_the_document_keeps_its_schema(bare, capsys):
    assert run(["features", "repository", bare, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    folder = resources.files("governance_pipeline.trajectory") / "schemas"
    jsonschema.validate(document, json.loads((folder / "repository-graph-v1.json").read_text("utf-8")))
    assert document["read_share"] == 0.5
    assert run(["features", "repository", bare]) == 0
    out = capsys.readouterr().out
    assert "python: 1 of 2 files read whole (1 syntax_error)" in out
    assert "import: 1 seen: 0 resolved, 1 external, 0 unresolved" in out
