"""ATIF over real public trajectories: every file claimed, every number checked, the mismatches found by hand found."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[2].parent / "shared"
REAL = SHARED / "data" / "real" / "atif"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return read_files(scan(REAL), "r-1", ContentStore(tmp_path_factory.mktemp("lake")))


@pytest.fixture(scope="module")
def checks(tables):
    names = ("core_declared", "core_components", "raw_quarantine")
    return cross_checks(*(tables.frame(name) for name in names)).to_dict("records")


def test_every_trajectory_is_read_and_no_record_disappears(tables):
    for row in tables.rows("raw_log_files"):
        is_list = row["path"] == "manifest.csv"
        assert (row["format"], row["reason_code"]) == ((None, "unsupported_format") if is_list else ("atif", None))
        assert row["lines_in"] == row["accepted"] + row["quarantined"] + row["blank"] + row["duplicates"] == 1


def test_the_mismatches_are_those_found_by_hand(checks):
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        by_hand = {
            (row["file_or_record"], row["field"].removeprefix("final_metrics.")): (
                row["declared"],
                float(row["computed"]),
            )
            for row in csv.DictReader(stream)
            if row["format"] == "atif"
        }
    found = {
        (row["declared_path"], row["field"]): (row["declared_raw"], float(row["computed"]))
        for row in checks
        if row["status"] == "mismatch"
    }
    assert found == by_hand
    assert len(found) == 3


def test_what_terminus_adds_is_what_its_three_sub_agents_used(checks):
    found = {r["field"]: (r["status"], r["computed"]) for r in checks if r["field"].endswith("_with_subagents")}
    assert found["total_prompt_tokens_with_subagents"] == ("match", "7802")
    assert found["total_completion_tokens_with_subagents"] == ("match", "1030")
    assert found["total_cost_usd_with_subagents"][0] == "match"
    assert found["total_cached_tokens_with_subagents"] == ("unverifiable", None)


def test_every_total_is_checked(checks):
    assert Counter(row["status"] for row in checks) == {"match": 32, "mismatch": 3, "unverifiable": 2}


def test_sub_agents_have_their_parents(tables):
    parents = Counter(row["parent_run_id"] for row in tables.rows("core_runs"))
    assert parents == {None: 5, "harbor-terminus2-summarization": 3, "sess-parent-001": 1}
