"""Inspect AI over real public logs: every member accounted for, and the mismatches found by hand found again."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[2].parent / "shared"
REAL = SHARED / "data" / "real" / "inspect_ai"
NOT_OURS = ("manifest.csv", "docent_tb_airline.json")
CHECK_OF = {"samples": "_of_samples", "events": "_of_calls"}

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    files = [file for file in scan(REAL) if file.path not in NOT_OURS]
    return read_files(files, "r-1", ContentStore(tmp_path_factory.mktemp("lake")))


@pytest.fixture(scope="module")
def checks(tables):
    names = ("core_declared", "core_components", "raw_quarantine")
    return cross_checks(*(tables.frame(name) for name in names)).to_dict("records")


def test_every_log_is_read_and_no_member_or_sample_disappears(tables):
    counted = {}
    for row in tables.rows("raw_log_files"):
        assert (row["format"], row["reason_code"], row["quarantined"]) == ("inspect_ai", None, 0)
        assert row["lines_in"] == row["accepted"] + row["quarantined"] + row["blank"] + row["duplicates"]
        counted[row["path"]] = (row["lines_in"], row["duplicates"])
    assert counted["retry-2-then-success.legacy.zstd.eval"] == (5, 2)
    assert counted["popularity_gpt-5_CuCFPd.eval"] == (59, 6)
    assert sum(lines for lines, _ in counted.values()) == 333


def test_only_what_the_journal_repeats_is_a_duplicate(tables):
    assert {row["reason_code"] for row in tables.rows("raw_quarantine")} == {"journal"}


def _by_hand():
    """Give the numbers listed by hand, as {(file, field, how computed): (declared, computed)}."""
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["format"] == "inspect_ai"]
    found = {}
    for row in rows:
        computed = re.fullmatch(r"(samples |events )?([\d.]+)( n=15| \(cache.*)?", row["computed"])
        if computed is not None:
            field = row["field"].removesuffix(" vs input+output").rpartition(".")[2]
            how = (computed[1] or "").strip() if "usage[" in row["field"] else ""
            found[row["file_or_record"], field, how] = (row["declared"], computed[2])
    return found


def test_the_mismatches_are_those_found_by_hand(checks):
    found = {}
    for row in checks:
        if row["status"] == "mismatch":
            how = next((word for word, ending in CHECK_OF.items() if row["check_id"].endswith("tokens" + ending)), "")
            found[row["declared_path"], row["field"], how] = (row["declared_raw"], row["computed"])
    assert found == _by_hand()
    assert len(found) == 16


def test_metrics_without_samples_are_unverifiable(checks):
    without = [r for r in checks if r["field"] in ("accuracy", "stderr") and r["status"] == "unverifiable"]
    assert {(r["declared_path"], r["reason_code"]) for r in without} == {
        ("log_tool_call_error.json", "components_missing"),
        ("popularity_no-samples.json", "components_missing"),
    }


def test_a_zstd_archive_is_read_like_any_other(tables):
    runs = [row for row in tables.rows("core_runs") if row["path"].startswith("retry-2")]
    assert [(row["run_id"], row["exit_status"]) for row in runs] == [
        ("EuFLNb8imQUBNnPwdm8ZC7/1/1", None),
        ("EuFLNb8imQUBNnPwdm8ZC7", "success"),
    ]


def test_every_total_is_checked(checks):
    assert Counter(row["status"] for row in checks) == {"match": 1330, "mismatch": 16, "unverifiable": 20}


def test_tool_calls_have_the_status_their_error_gives_them(tables):
    found = Counter(r["status"] for r in tables.rows("core_steps") if r["path"] == "log_tool_call_error.json")
    assert found == {"error": 10, "rejected": 1}
