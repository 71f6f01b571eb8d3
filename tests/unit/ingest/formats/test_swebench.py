"""SWE-bench result files: what one folder says of its instances, in seven kinds of file."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.builtin import cross_checks, not_checkable, unchecked
from governance_pipeline.ingest.formats import swebench, swebench_pro
from governance_pipeline.ingest.formats.swebench_kinds import is_instance_id, repository_of
from governance_pipeline.ingest.logfile import Sample

PATCH = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"


def prediction(instance, patch=PATCH):
    return {"instance_id": instance, "model_name_or_path": "m-1", "model_patch": patch}


def report(instance, failure=(), is_resolved=None):
    tests = {"success": ["t1"], "failure": list(failure)}
    return {
        instance: {
            "patch_successfully_applied": True,
            "resolved": not failure if is_resolved is None else is_resolved,
            "tests_status": {"FAIL_TO_PASS": tests, "PASS_TO_PASS": {"success": [], "failure": []}},
        }
    }


RUN_REPORT = {
    "total_instances": 4,
    "submitted_instances": 3,
    "completed_instances": 2,
    "resolved_instances": 1,
    "unresolved_instances": 1,
    "empty_patch_instances": 1,
    "error_instances": 0,
    "completed_ids": ["o__r-1", "o__r-2"],
    "incomplete_ids": ["o__r-4"],
    "empty_patch_ids": ["o__r-3"],
    "submitted_ids": ["o__r-1", "o__r-2", "o__r-3"],
    "resolved_ids": ["o__r-1"],
    "unresolved_ids": ["o__r-2"],
    "error_ids": [],
    "schema_version": 2,
}
SUBMISSION = {
    "logs/results.json": {"resolved": ["o__r-1"], "no_generation": ["o__r-2"], "no_logs": []},
    "logs/resolved_by_repo.json": {"o/r": {"resolved": 1, "total": 3}, "o/s": {"resolved": 0, "total": 0}},
    "logs/resolved_by_time.json": {"2024": {"resolved": 1, "total": 3}},
    "logs/logs/o__r-1/report.json": report("o__r-1"),
    "logs/logs/o__r-3/report.json": report("o__r-3", ["t2"]),
}
STATUSES = """instances_by_exit_status:
    Submitted:
    - o__r-1
    - 'o__r-2'

    "TimeoutExpired":
    - o__r-3
"""


def texts(files):
    return {name: value if isinstance(value, str) else json.dumps(value, indent=1) for name, value in files.items()}


def checks(tables):
    frame = cross_checks(*(tables.frame(table) for table in ("core_declared", "core_components", "raw_quarantine")))
    plain = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return {(row["check_id"], row["subject_id"].rpartition("/")[2]): row for row in plain}


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"resolved": ["a__b-1"]},
        {"resolved": ["a"], "no_logs": 5},
        {"a": {"resolved": True, "cost": 1}},
        {"a": {"resolved": 1}},
        {"a__b-1": True},
        [{"instance_id": "a__b-1", "history": []}],
        {"resolved_ids": []},
    ],
)
def test_what_looks_alike_is_not_claimed(value):
    assert not swebench.detect(Sample("preds.json", "document", (value,)))


@pytest.mark.parametrize(
    "value",
    [
        prediction("a__b-1"),
        {"path": "logs/x/report.json", "report": report("a__b-1")},
    ],
)
def test_lines_of_predictions_and_reports_are_claimed(value):
    assert swebench.detect(Sample("x", "jsonl", (value,)))
    assert not swebench.detect(Sample("x", "other", ()))


def test_a_prediction_is_a_run_whose_step_is_the_submitted_patch(read):
    tables = read(texts({"logs/preds.json": {"o__r-1": prediction("o__r-1"), "o__r-2": prediction("o__r-2", "")}}))
    assert [(row["run_id"], row["model_id"]) for row in tables.rows("core_runs")] == [
        ("o__r-1", "m-1"),
        ("o__r-2", "m-1"),
    ]
    (step,) = tables.rows("core_steps")  # an empty patch is no step
    assert (step["run_id"], step["tool"], step["pointer"]) == ("o__r-1", "submission", "/o__r-1/model_patch")
    (change,) = tables.rows("core_file_changes")
    assert (change["file_path"], change["added_count"], change["deleted_count"]) == ("x.py", 2, 1)


@pytest.mark.parametrize("as_lines", [True, False])
def test_predictions_in_an_array_or_in_lines_are_the_same_and_a_repeated_one_is_a_session_of_its_own(read, as_lines):
    predictions = [prediction("o__r-1"), prediction("o__r-1", "")]
    name = "logs/all_preds.jsonl" if as_lines else "logs/all_preds.json"
    tables = read({name: predictions if as_lines else json.dumps(predictions, indent=1)})
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["o__r-1", f"o__r-1@{name}"]


def test_a_patch_that_is_no_diff_is_opaque_and_counts_nothing(read):
    tables = read(texts({"logs/preds.json": {"o__r-1": prediction("o__r-1", "I changed x.py")}}))
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [1]
    assert list(tables.rows("core_file_changes")) == []


def test_the_patch_of_a_trajectory_in_the_same_round_is_not_counted_twice(read):
    trajectory = {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {"submission": PATCH},
        "messages": [{"role": "assistant", "content": "x", "extra": {"actions": [{"command": "sh fix"}]}}],
    }
    files = {"logs/preds.json": {"o__r-1": prediction("o__r-1")}, "logs/o__r-1.traj.json": trajectory}
    assert len(list(read(texts(files)).rows("core_file_changes"))) == 1


def test_each_start_of_an_instance_is_a_session_and_the_prediction_is_that_of_the_last(read):
    files = {
        "logs/exit_statuses_1.yaml": STATUSES,
        "logs/exit_statuses_2.yaml": "instances_by_exit_status:\n  Submitted:\n  - o__r-3\n",
        "logs/preds.json": {"o__r-3": prediction("o__r-3")},
    }
    tables = read(texts(files))
    found = {row["run_id"]: (row["exit_status"], row["model_id"]) for row in tables.rows("core_runs")}
    assert found == {
        "o__r-1": ("Submitted", None),
        "o__r-2": ("Submitted", None),
        "o__r-3": ("TimeoutExpired", None),
        "o__r-3@logs/exit_statuses_2.yaml": ("Submitted", "m-1"),
    }
    (account,) = [row for row in tables.rows("raw_log_files") if row["path"].endswith("_1.yaml")]
    assert (account["lines_in"], account["accepted"], account["blank"]) == (7, 6, 1)


def test_the_same_instances_in_another_folder_are_other_runs(read):
    files = {
        "logs/a/exit_statuses_1.yaml": STATUSES,
        "logs/b/preds.json": {"o__r-1": prediction("o__r-1")},
        "logs/b/report.json": RUN_REPORT,
    }
    tables = read(texts(files))
    found = {row["run_id"]: (row["exit_status"], row["model_id"]) for row in tables.rows("core_runs")}
    assert found["o__r-1"] == ("Submitted", None)
    assert found["o__r-1@logs/b/preds.json"] == (None, "m-1")
    reviewed = {row["run_id"] for row in tables.rows("core_approvals")}
    assert reviewed == {"o__r-1@logs/b/preds.json", "o__r-2@logs/b/report.json"}


def test_a_line_that_is_no_status_is_quarantined_and_the_others_stay(read):
    tables = read(texts({"logs/e.yaml": "instances_by_exit_status:\n- orphan\n  Submitted:\n  - o__r-1\n  what\n"}))
    assert [(row["line"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [
        (2, "no_exit_status"),
        (5, "no_exit_status"),
    ]
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["o__r-1"]


def test_the_counts_of_a_report_are_the_lengths_of_its_lists(read):
    tables = read(texts({"logs/report.json": RUN_REPORT}))
    assert {row["status"] for row in checks(tables).values()} == {"match"}
    assert len(checks(tables)) == 8
    verdicts = [(row["run_id"], row["result"]) for row in tables.rows("core_approvals")]
    assert verdicts == [("o__r-1", "resolved"), ("o__r-2", "unresolved")]


def test_a_wrong_count_is_a_mismatch_and_a_missing_list_is_not_an_empty_one(read):
    wrong = {name: value for name, value in RUN_REPORT.items() if name != "error_ids"} | {"resolved_instances": 3}
    found = {check: row for (check, _), row in checks(read(texts({"logs/report.json": wrong}))).items()}
    row = found["swebench_resolved_instances"]
    assert (row["status"], row["declared_raw"], row["computed"]) == ("mismatch", "3", "1")
    for check in ("swebench_error_instances", "swebench_total_instances"):
        assert (found[check]["status"], found[check]["reason_code"]) == ("unverifiable", "component_missing_value")


def test_an_instance_that_is_in_no_list_and_no_report_is_missed(read):
    found = checks(read(texts(SUBMISSION)))
    assert {key: row["status"] for key, row in found.items() if key[1] == "o~1r"} == {
        ("swebench_resolved_by_repo_as_listed", "o~1r"): "match",
        ("swebench_resolved_by_repo_as_tested", "o~1r"): "match",
        ("swebench_total_by_repo", "o~1r"): "match",
    }
    short = {name: value for name, value in SUBMISSION.items() if "r-3" not in name}
    row = checks(read(texts(short)))["swebench_total_by_repo", "o~1r"]
    assert (row["status"], row["declared_raw"], row["computed"]) == ("mismatch", "3", "2")


def test_a_report_that_says_resolved_against_its_own_tests_does_not_count_as_passed(read):
    files = SUBMISSION | {"logs/logs/o__r-1/report.json": report("o__r-1", ["t9"], is_resolved=True)}
    tables = read(texts(files))
    assert checks(tables)["swebench_resolved_by_repo_as_tested", "o~1r"]["status"] == "mismatch"
    (row,) = [r for r in tables.rows("core_approvals") if r["path"].endswith("o__r-1/report.json")]
    assert row["result"] == "resolved: true"
    assert row["reason"] == "FAIL_TO_PASS: 1 failure, 1 success; PASS_TO_PASS: 0 failure, 0 success"


def test_without_the_files_that_list_instances_a_breakdown_is_unknown(read):
    alone = {"logs/resolved_by_repo.json": SUBMISSION["logs/resolved_by_repo.json"]}
    assert {row["reason_code"] for row in checks(read(texts(alone))).values()} == {"component_missing_value"}


def test_every_declared_number_is_checked_or_it_is_said_why_not(read):
    tables = read(texts(SUBMISSION | {"logs/run.json": RUN_REPORT}))
    declared = tables.frame("core_declared")
    records = cross_checks(declared, tables.frame("core_components"), tables.frame("raw_quarantine"))
    assert unchecked(declared, records).empty
    assert set(not_checkable(declared)["field"]) == {"resolved_by_time", "total_by_time"}


def test_a_line_that_is_no_report_is_quarantined(read):
    lines = [{"path": "p", "report": report("o__r-1")}, {"path": "p", "report": None}, 5, {"report": {}}]
    tables = read({"logs/reports.jsonl": lines})
    assert [(row["line"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [
        (2, "no_report"),
        (3, "no_report"),
        (4, "no_report"),
    ]


def test_a_report_that_cannot_be_read_makes_the_breakdown_unknown_because_it_may_be_of_any_instance(read):
    files = {name: value for name, value in SUBMISSION.items() if "/logs/" not in name}
    lines = "".join(json.dumps({"report": report(i)}) + "\n" for i in ("o__r-1", "o__r-3")) + "{\n"
    found = checks(read(texts(files) | {"logs/reports.jsonl": lines}))
    assert {row["reason_code"] for row in found.values()} == {"components_incomplete"}


def test_an_entry_that_is_no_prediction_is_quarantined(read):
    many = [prediction(f"o__r-{n}") for n in range(25)] + [None, {"instance_id": "o__r-1"}]
    tables = read({"logs/preds.json": json.dumps(many, indent=1)})
    assert [row["reason_code"] for row in tables.rows("raw_quarantine")] == ["no_prediction"] * 2


@pytest.mark.parametrize(
    ("name", "repository"),
    [
        ("django__django-11099", "django/django"),
        ("scikit-learn__scikit-learn-13439", "scikit-learn/scikit-learn"),
        ("django-11099", None),
        ("a__b-x", None),
        ("", None),
    ],
)
def test_an_instance_names_its_repository(name, repository):
    assert repository_of(name) == repository


def test_an_instance_id_is_no_word_with_blanks():
    assert is_instance_id("instance_a__b-0c1d-v2")
    assert not any(map(is_instance_id, ("report", "a__b", "a b__c-1", "")))


def test_verdicts_by_instance_are_reviews_and_declare_nothing(read):
    verdicts = {"instance_a__b-0c1d-v2": True, "instance_a__b-0c1e-v2": False}
    tables = read(texts({"logs/eval_results.json": verdicts}))
    assert [(row["run_id"], row["kind"], row["result"]) for row in tables.rows("core_approvals")] == [
        ("instance_a__b-0c1d-v2", "review", "resolved: true"),
        ("instance_a__b-0c1e-v2", "review", "resolved: false"),
    ]
    assert list(tables.rows("core_declared")) == []


@pytest.mark.parametrize("value", [{}, {"oss": True}, {"a__b-1": 1}, {"a__b-1": None}, [True]])
def test_other_objects_are_no_verdicts(value):
    assert not swebench_pro.detect(Sample("eval_results.json", "document", (value,)))


def test_a_verdict_that_is_none_far_down_takes_the_file_back(read):
    verdicts = {f"instance_a__b-{n}": True for n in range(25)} | {"instance_a__b-z": "yes"}
    (row,) = read(texts({"logs/eval_results.json": verdicts})).rows("raw_quarantine")
    assert row["reason_code"] == "bad_verdict"


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just([{}]) | st.just({"a": [None]})


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_value_in_any_member_breaks_a_contract_or_loses_a_record(read, data):
    kinds = [RUN_REPORT, SUBMISSION["logs/results.json"], prediction("o__r-1"), report("o__r-1")["o__r-1"]]
    value = dict(data.draw(st.sampled_from(kinds)))
    value[data.draw(st.sampled_from(sorted(value)))] = data.draw(VALUES)
    wrapped = data.draw(st.sampled_from([value, {"o__r-1": value}, [value]]))
    tables = read(texts(SUBMISSION | {"logs/x.json": wrapped}))
    for table in ("core_runs", "core_steps", "core_declared", "core_components", "core_approvals", "raw_quarantine"):
        tables.frame(table)
    for row in tables.rows("raw_log_files"):
        assert row["lines_in"] == row["accepted"] + row["quarantined"] + row["blank"] + row["duplicates"]
