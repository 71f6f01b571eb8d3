"""A commit is the same after it was written and read; a line that breaks a rule names the member."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.ingest
from governance_pipeline.ingest.history.commits import FileDelta, from_line, repeated, to_line
from governance_pipeline.ingest.native.members import UnusableRecord
from governance_pipeline.strict.json_text import parse_json

SCHEMA = Path(governance_pipeline.ingest.__file__).parent / "schemas" / "git-log-v1.json"


@pytest.fixture
def line(commit):
    def _line(**members):
        return json.loads(to_line(commit(1))) | members

    return _line


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"schema": "govern/git-log/v2"}, "bad_schema"),
        ({"sha": "abc"}, "bad_sha"),
        ({"sha": None}, "bad_sha"),
        ({"ts": "yesterday"}, "bad_ts"),
        ({"ts": "2026-01-01T00:00:00"}, "bad_ts"),
        ({"author": ""}, "bad_author"),
        ({"parents": "abc"}, "bad_parents"),
        ({"agent_coauthors": [1]}, "bad_agent_coauthors"),
        ({"coauthors": ""}, "bad_coauthors"),
        ({"files": None}, "bad_files"),
        ({"files": ["a"]}, "bad_files"),
        ({"files": [{"path": ""}]}, "bad_path"),
        ({"files": [{"path": "a", "added": -1}]}, "bad_added"),
        ({"files": [{"path": "a", "deleted": True}]}, "bad_deleted"),
        ({"files": [{"path": "a", "renamed_from": 1}]}, "bad_renamed_from"),
        ({"files": [{"path": "a"}, {"path": "a"}]}, "repeated_path"),
    ],
)
def test_a_line_that_breaks_a_rule_names_the_member(line, members, code):
    with pytest.raises(UnusableRecord) as refusal:
        from_line(line(**members))
    assert refusal.value.code == code


def test_a_line_that_is_no_object_is_refused():
    with pytest.raises(UnusableRecord, match="not_an_object"):
        from_line([])


def test_a_commit_survives_its_line(commit):
    wanted = commit(
        3,
        agents=("claude",),
        coauthors=("bob@example.org",),
        files=(FileDelta("é/b.py", None, None), FileDelta("c.py", 1, 2, "old.py")),
        parents=(),
    )
    data = to_line(wanted)
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert from_line(parse_json(data)) == wanted
    jsonschema.validate(json.loads(data), json.loads(SCHEMA.read_text("utf-8")))


def test_the_actor_is_the_agent_where_one_is_named(commit):
    assert commit(1).actor == "ana@example.org"
    assert commit(1, agents=("claude", "codex")).actor == "claude"
    assert commit(1, agents=("claude",), author="claude").actors == ("claude",)
    assert commit(1, agents=("claude",), coauthors=("bob",)).actors == ("claude", "ana@example.org", "bob")


def test_a_repeated_commit_is_seen(commit):
    assert repeated([commit(1), commit(2)]) is None
    assert repeated([commit(1), commit(2), commit(1)]) == commit(1).sha
