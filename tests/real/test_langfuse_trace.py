"""Langfuse exports over the public files: nothing lost, and exactly the differences found by hand."""

from __future__ import annotations

import csv
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks, unchecked
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[2].parent / "shared"
REAL = SHARED / "data" / "real" / "langfuse_trace"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return read_files(scan(REAL), "r-1", ContentStore(tmp_path_factory.mktemp("lake")))


@pytest.fixture(scope="module")
def checks(tables):
    found = cross_checks(*(tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")))
    return found.astype(object).where(found.notna(), None).to_dict("records")


def test_every_observation_of_every_export_is_accepted(tables):
    rows = {r["path"]: r for r in tables.rows("raw_log_files")}
    assert rows.pop("manifest.csv")["reason_code"] == "unsupported_format"
    assert {r["format"] for r in rows.values()} == {"langfuse_trace"}
    assert sum(r["lines_in"] for r in rows.values()) == sum(r["accepted"] for r in rows.values()) == 82
    assert tables.frame("core_runs").shape[0] == len(rows) == 10


def test_the_differences_are_those_found_by_hand(checks):
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        rows = [r for r in csv.DictReader(stream) if r["format"] == "langfuse_trace"]
    by_hand = Counter(
        (
            r["file_or_record"].split(" ")[0],
            Decimal(r["declared"]),
            Decimal(r["computed"]) if r["computed"] != "(not recomputable)" else None,
        )
        for r in rows
    )
    found = Counter(
        (r["declared_path"], Decimal(r["declared_raw"]), None if r["computed"] is None else Decimal(r["computed"]))
        for r in checks
        if r["status"] != "match"
    )
    assert found == by_hand
    assert found.total() == 16


def test_what_cannot_be_checked_are_costs_without_parts_and_all_else_was_checked(checks, tables):
    assert Counter(r["status"] for r in checks) == {"match": 130, "mismatch": 13, "unverifiable": 3}
    assert {r["reason_code"] for r in checks if r["status"] == "unverifiable"} == {"components_missing"}
    frames = [tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")]
    assert unchecked(frames[0], cross_checks(*frames)).empty


def test_spans_of_agents_are_not_counted_beside_their_calls(tables):
    rows = [r for r in tables.rows("core_usage") if r["path"].startswith("pydantic")]
    assert sum(r["input_tokens"] for r in rows) == 2 * sum(r["input_tokens"] for r in rows if r["duplicate_of"] is None)
