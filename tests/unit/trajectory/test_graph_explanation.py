"""What a repository adds to the explanation of a round: every unknown has its reason in words, every number its parts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pygit2
import pytest

from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.trajectory import explanation
from governance_pipeline.trajectory.explanation import explain_document
from governance_pipeline.trajectory.graph_explanation import compared_columns, graph_areas, graph_terms

SCHEMA = json.loads((Path(explanation.__file__).parent / "schemas" / "features-explain-v1.json").read_text("utf-8"))
FILES = {"a.py": b"import b\n\n\ndef f():\n    return b.g()\n", "b.py": b"def g():\n    return 1\n"}


@pytest.fixture
def base(tmp_path) -> str:
    """Give the commit of a repository beside the rounds."""
    objects = pygit2.init_repository(str(tmp_path / "repo"), bare=True)
    index = pygit2.Index()
    for path, data in FILES.items():
        index.add(pygit2.IndexEntry(path, objects.create_blob(data), 0o100644))
    who = pygit2.Signature("A", "a@example.org", 1)
    return str(objects.create_commit("refs/heads/main", who, who, "m", index.write_tree(objects), []))


@pytest.fixture
def explained(tables, tmp_path):
    """Give a function that explains one round of change events and a contract, held to its schema."""

    def _explained(toml: str, *changes: dict) -> dict:
        made = tables({"r-1": {"round.toml": 'schema = "govern/round/v1"\n' + toml, "changes.jsonl": list(changes)}})
        document = explain_document(made, "r-1", {"r-1": tmp_path / "rounds" / "r-1"})
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        return document

    return _explained


def words(terms: list[dict]) -> dict[str, str]:
    return {term.get("term") or term["column"]: term["words"] for term in terms}


def test_a_round_without_a_repository_says_so_for_each_term(explained):
    document = explained("", {"step": 1, "F": 1})
    said = words(document["steps"][0]["graph_terms"])
    assert said["C"] == "unknown: the contract names no repository (no_repo)"
    assert said["S"] == "unknown: L, Y, M, P, D, H, C unknown"
    assert words(document["graph_round"])["AUS"] == "unknown: S of a step is unknown (s_unknown)"
    assert words(document["compared"])["rewrite_share"].endswith("(no_repo)")


def test_a_round_without_steps_has_no_area_and_says_why(explained):
    document = explained("")
    assert words(document["graph_round"])["S_seconds"] == "unknown: the round has no step (no_steps)"
    assert {one["reason"] for one in document["compared"]} == {"no_steps", "no_repo"}


def test_terms_in_the_graph_are_said_with_what_they_are_made_of(explained, base):
    toml = f"""[scope]
include = ["**"]
public = []
objective_set = ["b.py"]
[repo]
path = "../../repo"
base = "{base}"
"""
    changed = {"path": "a.py", "added": 1, "deleted": 1, "symbols": ["f"]}
    steps = [{"step": 1, "ts": "2026-01-01T00:00:00Z", "files": [changed]}]
    steps.append({"step": 2, "ts": "2026-01-01T00:00:10Z", "files": []})
    document = explained(toml, *steps)
    said = words(document["steps"][0]["graph_terms"])
    assert said["Y"].startswith("1 symbol changed: ")
    assert said["D"] == "1 hops to the nearest of 1 objective files, mean weighted by churn"
    assert said["C"].endswith("mean PageRank percentile of 1 changed files, weighted by churn")
    assert words(document["steps"][1]["graph_terms"])["D"] == "0: nothing changed"
    areas = {term["term"]: term["value"] for term in document["graph_round"]}
    first = document["steps"][0]["graph_terms"][-1]["value"]
    assert areas == {"AUS": first, "AUS_discrete": first, "S_seconds": 0}
    assert words(document["compared"])["rewrite_share"].endswith(": 0.2")


def test_a_step_without_a_time_leaves_the_seconds_alone_unknown(explained, base):
    toml = f"""[scope]
include = ["**"]
public = []
objective_set = ["b.py"]
[repo]
path = "../../repo"
base = "{base}"
"""
    document = explained(toml, {"step": 1, "ts": "2026-01-01T00:00:00Z", "files": []}, {"step": 2, "files": []})
    areas = {term["term"]: term["value"] for term in document["graph_round"]}
    assert areas == {"AUS": 0, "AUS_discrete": 0, "S_seconds": None}
    assert words(document["graph_round"])["S_seconds"].startswith("unknown: the time")


def test_names_of_symbols_are_escaped_and_cut(explained, base):
    names = [f"f{at}\x1b[31m" for at in range(9)]
    toml = f'[repo]\npath = "../../repo"\nbase = "{base}"\n'
    changed = {"path": "a.py", "added": 1, "deleted": 1, "symbols": names}
    said = words(explained(toml, {"step": 1, "files": [changed]})["steps"][0]["graph_terms"])["Y"]
    assert "\x1b" not in said
    assert said.endswith(" and 3 more")


def test_every_reason_a_table_may_give_has_its_words():
    row = {"aus_round": None, "largest_s": None, "largest_h": 0.0, "unproven_growth": 0.0, "rewrite_share": None}
    row |= {"largest_h_reason": None, "unproven_growth_reason": None}
    columns = contract_of("features_round").to_schema().columns
    for name in ("aus_reason", "largest_h_reason", "unproven_growth_reason", "rewrite_share_reason"):
        [pattern] = [check.statistics["pattern"] for check in columns[name].checks]
        reasons = re.findall(r"[a-z]+_[a-z_]+", pattern)
        assert "no_steps" in reasons
        for reason in reasons:
            said = compared_columns({**row, "aus_reason": "no_steps", "rewrite_share_reason": reason})
            assert said[-1]["words"].endswith(f"({reason})")
    unknown = json.dumps(dict.fromkeys("YDC", "repo_incomplete"))
    nothing = {"symbols_count": None, "objective_hops": None, "centrality_share": None, "surface_sum": None}
    assert "an object of the repository is missing" in graph_terms({**nothing, "unknown": unknown})[0]["words"]
    assert graph_areas([])[0]["value"] is None
