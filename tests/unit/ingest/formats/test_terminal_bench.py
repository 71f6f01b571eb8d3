"""Terminal-Bench: a trial without a result is neither resolved nor unresolved, whatever the totals make of it."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks

LOG = "logs/results.json"


def trial(name="a.1", task="a", resolved=True, tests=None, tokens=0, **members):
    tests = {"t": "passed" if resolved else "failed"} if tests is None else tests
    return {
        "trial_name": name,
        "task_id": task,
        "is_resolved": resolved,
        "failure_mode": "unset",
        "parser_results": tests,
        "total_input_tokens": tokens,
        "total_output_tokens": 0,
        "trial_started_at": "2025-08-16T02:28:25.919476+00:00",
        "trial_ended_at": "2025-08-16T02:31:08.357726+00:00",
        **members,
    }


def results(*trials, resolved=1, unresolved=0, accuracy=1.0, pass_at_k=None):
    totals = {"n_resolved": resolved, "n_unresolved": unresolved, "accuracy": accuracy}
    return json.dumps({"results": list(trials), "pass_at_k": pass_at_k or {}, **totals}, indent=1)


@pytest.fixture
def checked(read):
    def _checked(text):
        tables = read({LOG: text})
        frames = [tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")]
        return {
            (r["check_id"].removeprefix("terminal_bench_"), r["subject_id"].removeprefix(LOG)): (
                r["declared"],
                r["computed"],
                r["reason_code"] if r["status"] == "unverifiable" else r["status"],
            )
            for r in cross_checks(*frames).astype(object).to_dict("records")
        }

    return _checked


def test_something_else_among_the_trials_is_quarantined_and_makes_the_totals_unknown(read, checked):
    text = results(trial(), {"task_id": "b"}, None)
    rows = list(read({LOG: text}).rows("raw_quarantine"))
    assert [(row["pointer"], row["reason_code"]) for row in rows] == [
        ("/results/1", "no_trial"),
        ("/results/2", "no_trial"),
    ]
    assert {reason for _, _, reason in checked(text).values()} == {"components_incomplete"}


def test_a_trial_without_a_result_is_no_unresolved_one_although_the_total_counts_it(checked):
    text = results(trial(), trial("b.1", "b", False), trial("c.1", "c", None, {}), unresolved=2, accuracy=1 / 3)
    found = checked(text)
    assert found["n_unresolved", ""] == ("2", "1", "mismatch")
    assert found["n_unresolved_with_null", ""] == ("2", "2", "match")
    assert found["n_resolved", ""] == ("1", "1", "match")
    assert found["accuracy", ""][2] == "match"


def test_a_trial_that_is_resolved_with_a_failed_test_is_found(checked):
    found = checked(results(trial(tests={"t": "passed", "u": "failed"})))
    assert found["n_resolved_by_tests", ""] == ("1", "0", "mismatch")


def test_without_any_trial_there_is_nothing_to_divide_by(checked):
    found = checked(results(resolved=0, accuracy=0.0))
    assert found["accuracy", ""][2] == "division_by_zero"
    assert found["n_resolved", ""] == ("0", "0", "match")


def test_pass_at_k_is_the_mean_over_tasks_and_a_k_that_is_no_number_unknown(checked):
    trials = [trial("a.1"), trial("a.2", resolved=False), trial("b.1", "b", False), trial("b.2", "b", None)]
    found = checked(results(*trials, unresolved=2, accuracy=0.25, pass_at_k={"2": 0.5, "1": 0.2, "many": 1, "8": None}))
    assert found["pass_at_k", " k=2"] == ("0.5", "0.5", "match")
    assert found["pass_at_k", " k=1"] == ("0.2", "0.25", "mismatch")
    assert found["pass_at_k", " k=many"][2] == "component_missing_value"
    assert found["pass_at_k", " k=8"][2] == "declared_missing"


def test_zero_tokens_of_an_installed_agent_are_no_measurement(read):
    tables = read({LOG: results(trial(), trial("b.1", "b", tokens=7))})
    assert [(row["run_id"], row["input_tokens"]) for row in tables.rows("core_usage")] == [("b.1", 7)]


def test_a_trial_is_a_run_with_its_span_and_its_verdict(read):
    tables = read({LOG: json.dumps(trial("a.1", resolved=False), indent=1)})
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["exit_status"], str(run["started_at"])[:19]) == ("a.1", "unset", "2025-08-16 02:28:25")
    (review,) = tables.rows("core_approvals")
    assert (review["run_id"], review["by"], review["result"]) == ("a.1", "rule", "is_resolved: false")
    assert not list(tables.rows("core_declared"))
