"""Facts of commits: read from blobs, written into a line, read back."""

import json

import pytest

from governance_pipeline.ingest.change_facts.fact import ChangeFact
from governance_pipeline.ingest.history.commits import Commit, FileDelta, from_line, to_line
from governance_pipeline.ingest.history.facts import read_facts
from governance_pipeline.ingest.native.members import UnusableRecord
from governance_pipeline.vocabulary import FactKind

FACT = ChangeFact(FactKind.ASSERTIONS_CHANGED, "test_a", "x == 1", None, ("0123456789",), (), 3)


def commit_of(*files):
    return Commit("a" * 40, (), "2026-01-01T00:00:00Z", "a@example.org", (), files)


def test_facts_survive_the_line_of_an_export():
    commit = commit_of(FileDelta("tests/test_a.py", 1, 2, None, (FACT,)), FileDelta("b.md", 1, 0))
    assert from_line(json.loads(to_line(commit))) == commit


def test_a_line_without_facts_says_that_nobody_looked():
    assert "facts" not in to_line(commit_of(FileDelta("a.py", 1, 0))).decode()
    assert read_facts(None) is None
    assert read_facts([]) == ()


@pytest.mark.parametrize(
    "value", [{}, "x", [1], [{"kind": "x", "subject": "a"}], [{"kind": "parsed"}],
              [{"kind": "parsed", "subject": "a", "line": 0}], [{"kind": "parsed", "subject": "a", "removed": [1]}],
              [{"kind": "parsed", "subject": "a", "added": "x"}]],
)  # fmt: skip
def test_a_fact_with_a_bad_member_is_refused(value):
    with pytest.raises(UnusableRecord):
        read_facts(value)
