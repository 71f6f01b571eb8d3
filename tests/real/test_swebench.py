"""Result files of SWE-bench as published: lists, reports and breakdowns of the same instances agree, but for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks, unchecked
from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "real"
OURS = {"swebench", "swebench_pro"}

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """Each unit of the two folders that hold result files, as (names of its files, tables)."""
    store = ContentStore(tmp_path_factory.mktemp("lake"))
    plan = plan_import([REAL / "swebench_experiments", REAL / "mini_swe_agent"])
    return [
        (
            {file.source.name for file in planned.files},
            read_files([f.found() for f in planned.files], planned.round_id, store),
        )
        for planned in plan
        if OURS & {file.format for file in planned.files}
    ]


def the_one(rounds, *names):
    (tables,) = [tables for found, tables in rounds if found >= set(names)]
    return tables


def records(tables):
    return cross_checks(*(tables.frame(t) for t in ("core_declared", "core_components", "raw_quarantine")))


def test_every_result_file_is_claimed_and_nothing_disappears(rounds):
    rows = [row for _, tables in rounds for row in tables.rows("raw_log_files")]
    assert len(rows) == 17
    for row in rows:
        assert row["format"] in OURS
        assert (row["quarantined"], row["reason_code"]) == (0, None)
        assert row["lines_in"] == row["accepted"] + row["blank"]


def test_the_files_of_one_folder_are_one_round_and_verdict_files_stand_alone(rounds):
    names = sorted(len(found) for found, _ in rounds)
    assert names == [1, 1, 1, 2, 3, 4, 5]


def test_a_submission_agrees_with_its_reports_but_for_one_instance_that_is_nowhere(rounds):
    tables = the_one(rounds, "resolved_by_repo.json", "results.json")
    found = records(tables)
    (row,) = found[found["status"] != "match"].to_dict("records")
    assert (row["check_id"], row["declared_raw"], row["computed"]) == ("swebench_total_by_repo", "44", "43")
    assert row["subject_id"].endswith("/sphinx-doc~1sphinx")
    by_tests = found[found["check_id"] == "swebench_resolved_by_repo_as_tested"]
    assert by_tests["declared_raw"].astype(int).sum() == 168
    assert unchecked(tables.frame("core_declared"), found).empty


def test_each_report_is_one_verdict_that_its_tests_bear_out(rounds):
    tables = the_one(rounds, "resolved_by_repo.json")
    verdicts = [row for row in tables.rows("core_approvals") if row["path"].endswith(".jsonl")]
    assert len(verdicts) == 485
    resolved = [row for row in verdicts if row["result"] == "resolved: true"]
    assert len(resolved) == 168
    with_tests = [row for row in verdicts if row["reason"] is not None]
    for row in with_tests:
        assert (row["reason"].count(": 0 failure") == 2) == (row["result"] == "resolved: true")


def test_the_counts_of_the_two_harness_reports_are_the_lengths_of_their_lists(rounds):
    for name in ("exit_statuses_1775793694.7334955.yaml", "exit_statuses_1776064224.1350648.yaml"):
        found = records(the_one(rounds, name, "report.json"))
        assert set(found["status"]) == {"match"}
        assert len(found) == 8


def test_a_resumed_batch_has_a_session_per_start_and_misspelt_ids_stay_apart(rounds):
    tables = the_one(rounds, "exit_statuses_1775793694.7334955.yaml")
    runs = list(tables.rows("core_runs"))
    with_status = [row for row in runs if row["exit_status"] is not None]
    assert len(with_status) == 13 + 3
    misspelt = [row for row in runs if "asteroid" in row["run_id"]]
    assert len(misspelt) == 5  # in the exit file only
    assert {row["model_id"] for row in misspelt} == {None}
    assert len({row["run_id"].partition("@")[0] for row in runs}) == 23 + 5


def test_empty_patches_are_predictions_without_a_step(rounds):
    tables = the_one(rounds, "exit_statuses_1776073811.3981779.yaml")
    predicted = [row for row in tables.rows("core_runs") if row["model_id"] is not None]
    steps = list(tables.rows("core_steps"))
    assert (len(predicted), len(steps)) == (15, 5)
    changed = {row["run_id"] for row in tables.rows("core_file_changes")}
    assert changed == {row["run_id"] for row in steps}


def test_the_verdict_files_hold_the_instances_counted_by_hand(rounds):
    counts = {}
    for names, tables in rounds:
        rows = list(tables.rows("core_approvals"))
        if any(name.startswith("swebench_pro") for name in names):
            counts[len(rows)] = sum(row["result"] == "resolved: true" for row in rows)
    assert counts == {730: 319, 955: 105, 729: 265}
