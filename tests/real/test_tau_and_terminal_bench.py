"""tau-bench, tau2-bench and Terminal-Bench over real public results: every difference found by hand found again."""

from __future__ import annotations

import csv
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks, unchecked
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[2].parent / "shared"
REAL = SHARED / "data" / "real"
FOLDERS = ("tau_bench", "tau2_bench", "reviewer_verdicts", "terminal_bench")
SUBMISSION = "ironshell/submission.json"
NOT_OURS = ("manifest.csv", "few_shot.jsonl")
OTHER_REVIEWS = ("ai_scientist_", "paperbench_", "trae_")

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """Each folder read as one round."""
    store = tmp_path_factory.mktemp("lake")
    return {name: read_files(scan(REAL / name), "r-1", ContentStore(store / name)) for name in FOLDERS}


@pytest.fixture(scope="module")
def records(rounds):
    """The cross-check records of each folder."""
    return {name: _checked(tables).astype(object).to_dict("records") for name, tables in rounds.items()}


def _checked(tables):
    return cross_checks(*(tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")))


def by_hand(format_name):
    """The numbers listed by hand of one format: (file, field) -> (declared, computed)."""
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["format"] == format_name]
    return {(row["file_or_record"], row["field"]): (row["declared"], row["computed"].split(" ")[0]) for row in rows}


def rounded(number, like):
    return str(Decimal(number).quantize(Decimal(like), ROUND_HALF_UP))


@pytest.mark.parametrize("name", FOLDERS)
def test_no_record_disappears_and_every_file_is_explained(rounds, name):
    for row in rounds[name].rows("raw_log_files"):
        assert row["lines_in"] == row["accepted"] + row["quarantined"] + row["blank"] + row["duplicates"]
        is_ours = not row["path"].endswith(NOT_OURS) and not row["path"].startswith(OTHER_REVIEWS)
        formats = {"tau_bench", "tau2_bench", "terminal_bench"}
        assert (row["format"] in formats, row["reason_code"]) == (is_ours, None if is_ours else "unsupported_format")


@pytest.mark.parametrize("name", FOLDERS)
def test_every_declared_number_is_checked_or_said_not_to_be(rounds, name):
    tables = rounds[name]
    assert unchecked(tables.frame("core_declared"), _checked(tables)).empty


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tau_bench", {"match": 116, "unverifiable": 4}),
        ("tau2_bench", {"match": 339, "mismatch": 8}),
        ("reviewer_verdicts", {"match": 28, "mismatch": 2}),
    ],
)
def test_the_records_are_these(records, name, expected):
    assert Counter(record["status"] for record in records[name]) == expected


def test_a_submission_that_is_the_best_of_several_agents_is_contradicted_by_each(records):
    expected = {
        (path, field.split(" ")[0].rpartition(".")[2]): values
        for (path, field), values in by_hand("tau2_bench").items()
    }
    found = {
        (r["subject_id"].removeprefix(f"{SUBMISSION} airline: "), r["field"]): (r["declared_raw"], r["computed"])
        for r in records["tau2_bench"]
        if r["status"] == "mismatch"
    }
    assert found.keys() == expected.keys()
    assert {key: (raw, rounded(number, expected[key][1])) for key, (raw, number) in found.items()} == expected


def test_the_words_of_a_judge_agree_more_often_than_it_counted(records):
    expected = {path: values for (path, _), values in by_hand("reviewer_verdicts").items() if path.startswith("tau2_")}
    found = {r["subject_id"]: (r["declared"], r["computed"]) for r in records["reviewer_verdicts"] if r["mismatch"]}
    assert found == expected


def test_trials_without_a_result_are_no_unresolved_ones(records):
    if not records["terminal_bench"]:
        pytest.skip("no real Terminal-Bench results here: their licence is not stated")
    expected = {path: values for (path, _), values in by_hand("terminal_bench").items()}
    found = {r["subject_id"]: (r["declared"], r["computed"]) for r in records["terminal_bench"] if r["mismatch"]}
    assert found == expected
