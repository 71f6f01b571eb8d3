"""Codex rollouts over the public files: nothing lost, and the counts found by hand, naive and deduplicated."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks, unchecked
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[2].parent / "shared"
REAL = SHARED / "data" / "real" / "codex_rollout"
FORK = "archived-fork-33ce-3869"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return read_files(scan(REAL), "r-1", ContentStore(tmp_path_factory.mktemp("lake")))


@pytest.fixture(scope="module")
def checks(tables):
    found = cross_checks(*(tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")))
    return found.astype(object).where(found.notna(), None).to_dict("records")


def test_every_line_of_every_rollout_is_accepted(tables):
    rows = {r["path"]: r for r in tables.rows("raw_log_files")}
    for side_file in ("manifest.csv", f"{FORK}/manifest.json"):
        assert rows.pop(side_file)["reason_code"] == "unsupported_format"
    assert {r["format"] for r in rows.values()} == {"codex_rollout"}
    assert sum(r["lines_in"] for r in rows.values()) == sum(r["accepted"] for r in rows.values()) == 1616


def test_the_counts_found_by_hand_are_declared_and_computed_naive_and_deduplicated(tables, checks):
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        rows = [r for r in csv.DictReader(stream) if r["format"] == "codex"]
    naive: dict[tuple[str, str], int] = defaultdict(int)
    for part in tables.rows("core_components"):
        if part["source"] == "reports":
            naive[part["path"], part["column"]] += int(part["value_raw"])
    found = {(r["declared_path"], r["field"]): r for r in checks if not r["check_id"].endswith("_by_parts")}
    for row in rows:
        column = re.match(r"total_token_usage\.(\w+) vs", row["field"])[1]
        record = found[row["file_or_record"], f"total_{column.removeprefix('total_')}"]
        wrong, right = re.match(r"(\d+) \(dedup (\d+)\)", row["computed"]).groups()
        assert (record["declared_raw"], record["computed"]) == (row["declared"], right)
        assert naive[row["file_or_record"], column] == int(wrong)
    assert len(rows) == 14


def test_only_the_trimmed_fixture_contradicts_its_own_counts(tables, checks):
    wrong = {r["declared_path"] for r in checks if r["status"] == "mismatch"}
    assert wrong == {"stage0_codex_small.jsonl"}
    assert Counter(r["status"] for r in checks) == {"match": 36, "mismatch": 6}
    frames = [tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")]
    assert unchecked(frames[0], cross_checks(*frames)).empty


def test_a_forks_copies_are_counted_with_its_parent(tables):
    oracle = json.loads((REAL / FORK / "manifest.json").read_text("utf-8"))["oracle"]
    usage = [r for r in tables.rows("core_usage") if r["path"] == f"{FORK}/child.jsonl"]
    copies = [r for r in usage if (r["duplicate_of"] or "").startswith(f"{FORK}/parent.jsonl")]
    assert len(usage) == oracle["childEventCount"]
    assert len(copies) == oracle["copiedPrefixLength"] + 1  # its first own count repeats the last copied total
    parents = {r["run_id"]: r["parent_run_id"] for r in tables.rows("core_runs")}
    assert parents["child-session"] == "parent-session"


def test_a_fork_and_its_parent_are_one_round():
    rounds = {planned.round_id: [file.source.name for file in planned.files] for planned in plan_import([REAL])}
    assert rounds["parent-session"] == ["child.jsonl", "parent.jsonl"]
    assert len(rounds) == 8  # five sessions, the fork with its parent, and the side files of two folders


def test_policies_reviews_and_assessments_are_told(tables):
    kinds = Counter((r["kind"], r["by"]) for r in tables.rows("core_approvals"))
    assert kinds == {("mode", None): 8, ("review", "model"): 7}
