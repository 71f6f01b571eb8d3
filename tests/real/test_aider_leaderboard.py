"""Aider leaderboards over the public files: nothing lost, and exactly the mismatches found by hand."""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks, unchecked
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[2].parent / "shared"
REAL = SHARED / "data" / "real" / "aider_leaderboard"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return read_files(scan(REAL), "r-1", ContentStore(tmp_path_factory.mktemp("lake")))


@pytest.fixture(scope="module")
def checks(tables):
    return cross_checks(*(tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")))


def test_every_row_of_every_board_is_accepted(tables):
    rows = {r["path"]: r for r in tables.rows("raw_log_files")}
    assert rows.pop("manifest.csv")["reason_code"] == "unsupported_format"
    assert {r["format"] for r in rows.values()} == {"aider_leaderboard"}
    assert sum(r["lines_in"] for r in rows.values()) == sum(r["accepted"] for r in rows.values()) == 108


def test_the_mismatches_are_those_found_by_hand(checks):
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        rows = [r for r in csv.DictReader(stream) if r["format"] == "aider"]
    by_hand = set()
    for row in rows:
        name, index = re.match(r"(\S+)\[(\d+)\]", row["file_or_record"]).groups()
        by_hand.add((name, f"/{index}/{row['field']}", row["declared"], row["computed"].split(" ")[0]))
    wrong = checks[checks["status"] == "mismatch"]
    found = {
        (r["declared_path"], r["declared_pointer"], r["declared_raw"], str(round(Decimal(r["computed"]), 2)))
        for r in wrong.to_dict("records")
    }
    assert found == by_hand
    assert len(found) == 7


def test_only_rows_without_a_count_of_solved_cases_cannot_be_checked(checks, tables):
    unknown = checks[checks["status"] == "unverifiable"]
    assert {(r["declared_path"], r["field"]) for r in unknown.to_dict("records")} == {
        ("refactor_leaderboard.yml", "pass_rate_1")
    }
    assert (len(checks), len(unknown)) == (310, 14)
    assert unchecked(tables.frame("core_declared"), checks).empty
