"""OpenHands Index: published scores beside the outcome of each instance, with all its denominators."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.builtin import cross_checks, not_checkable, unchecked
from governance_pipeline.ingest.formats import openhands_index
from governance_pipeline.ingest.logfile import Sample

SCORE = {
    "benchmark": "swt-bench",
    "score": 66.7,
    "metric": "accuracy",
    "cost_per_instance": 0.2,
    "average_runtime": 12.5,
    "agent_version": "v1.8.3",
    "submission_time": "2026-01-26T15:55:26+00:00",
}
SPLIT = {
    "benchmark": "swe-bench-multimodal",
    "score": 50.0,
    "metric": "solveable_accuracy",
    "cost_per_instance": 1.0,
    "component_scores": {
        "solveable_accuracy": 50.0,
        "unsolveable_accuracy": 0.0,
        "combined_accuracy": 1.0,
        "solveable_resolved": 1,
        "solveable_total": 2,
        "unsolveable_resolved": 0,
        "unsolveable_total": 2,
    },
}
OUTCOMES = {
    "a__a-1": {"cost": 0.2, "resolved": True},
    "a/b~c": {"cost": 0.4, "resolved": True},
    "a__a-3": {"cost": 0.0, "resolved": False},
}
AGENT = {"agent_name": "OpenHands", "agent_version": "v1", "model": "m-1", "openness": "open", "directory_name": "m-1"}


def folder(scores=(SCORE,), outcomes=None, agent=AGENT):
    files = {"logs/scores.json": json.dumps(scores, indent=1), "logs/metadata.json": json.dumps(agent, indent=1)}
    for name, found in ({"swt-bench": OUTCOMES} if outcomes is None else outcomes).items():
        files[f"logs/instance_results/{name}.json"] = found if isinstance(found, str) else json.dumps(found)
    return files


def checks(tables):
    frame = cross_checks(*(tables.frame(table) for table in ("core_declared", "core_components", "raw_quarantine")))
    plain = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return {row["field"]: row for row in plain}


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        [{"benchmark": "x"}],
        [{"benchmark": "x", "score": 1}, "text"],
        {"a": {"resolved": True}},
        {"a": {"resolved": True, "cost": 1, "more": 2}},
        {"agent_name": "x", "model": "y"},
        {"a": True},
    ],
)
def test_what_looks_alike_is_not_claimed(value):
    assert not openhands_index.detect(Sample("scores.json", "document", (value,)))
    assert not openhands_index.detect(Sample("scores.json", "jsonl", ([SCORE],)))


@pytest.mark.parametrize("value", [[SCORE], OUTCOMES, AGENT])
def test_the_three_kinds_of_file_are_claimed_by_content(value):
    assert openhands_index.detect(Sample("anything", "document", (value,)))


def test_a_score_and_a_cost_are_recomputed_over_the_instances_beside_them(read):
    found = checks(read(folder()))
    assert (found["score"]["status"], found["score"]["declared_raw"]) == ("match", "66.7")
    assert found["cost_per_instance"]["status"] == "match"
    assert found["cost_per_instance"]["computed"] == "0.2"


def test_a_score_over_other_instances_than_those_listed_is_a_mismatch_with_both_values(read):
    (row,) = [r for r in checks(read(folder([SCORE | {"score": 33.3}]))).values() if r["field"] == "score"]
    assert (row["status"], row["declared_raw"], row["computed"]) == (
        "mismatch",
        "33.3",
        "66.666666666666666667",
    )


def test_an_instance_without_an_outcome_is_divided_by_and_has_no_verdict(read):
    tables = read(folder([SCORE | {"score": 50.0}], {"swt-bench": {**OUTCOMES, "n": {"cost": None, "resolved": None}}}))
    assert checks(tables)["score"]["status"] == "match"
    verdicts = {row["call_id"]: row["result"] for row in tables.rows("core_approvals")}
    assert verdicts == {"a__a-1": "resolved: true", "a/b~c": "resolved: true", "a__a-3": "resolved: false"}
    assert {(row["kind"], row["by"], row["run_id"]) for row in tables.rows("core_approvals")} == {
        ("review", "rule", "logs/swt-bench")
    }


def test_a_file_in_which_no_instance_is_resolved_gives_zero_and_one_without_any_outcome_gives_nothing(read):
    none = {"a": {"cost": 1.0, "resolved": False}}
    found = checks(read(folder([SCORE | {"score": 7.6}], {"swt-bench": none})))["score"]
    assert (found["status"], found["computed"]) == ("mismatch", "0")
    unknown = {"a": {"cost": 1.0, "resolved": None}}
    found = checks(read(folder(outcomes={"swt-bench": unknown})))["score"]
    assert (found["status"], found["reason_code"]) == ("unverifiable", "components_missing")


def test_costs_that_are_all_zero_contradict_a_published_cost(read):
    free = {name: outcome | {"cost": 0.0} for name, outcome in OUTCOMES.items()}
    row = checks(read(folder(outcomes={"swt-bench": free})))["cost_per_instance"]
    assert (row["status"], row["computed"]) == ("mismatch", "0")


def test_without_outcomes_nothing_is_computed(read):
    found = checks(read(folder(outcomes={})))
    assert {row["reason_code"] for row in found.values()} == {"components_missing"}


def test_parts_of_a_split_benchmark_are_checked_by_their_own_counts_and_the_whole_by_all_102(read):
    found = checks(read(folder([SPLIT], {"swe-bench-multimodal": {"a": {"cost": 1.0, "resolved": True}}})))
    assert {field: row["status"] for field, row in found.items()} == {
        "score": "mismatch",  # the list does not say which instances are solvable
        "cost_per_instance": "match",
        "solveable_accuracy": "match",
        "unsolveable_accuracy": "match",
        "combined_accuracy": "match",
    }


def test_every_declared_number_is_checked_or_it_is_said_why_not(read):
    tables = read(folder([SCORE, SPLIT]))
    declared = tables.frame("core_declared")
    records = cross_checks(declared, tables.frame("core_components"), tables.frame("raw_quarantine"))
    assert unchecked(declared, records).empty
    assert sorted(not_checkable(declared)["field"]) == [
        "average_runtime",
        "solveable_resolved",
        "solveable_total",
        "unsolveable_resolved",
        "unsolveable_total",
    ]


def test_a_run_is_one_benchmark_with_its_agent_and_model(read):
    (row,) = read(folder()).rows("core_runs")
    assert (row["run_id"], row["agent_id"], row["platform"], row["model_id"]) == (
        "logs/swt-bench",
        "OpenHands",
        "OpenHands v1.8.3",
        "m-1",
    )
    assert row["ended_at"].isoformat() == "2026-01-26T15:55:26+00:00"


def test_an_agent_of_another_maker_is_named_with_its_own_version(one):
    score = SCORE | {"acp_agent_name": "codex-acp", "acp_agent_version": "v0.11.1"}
    assert one("core_runs", folder([score]))["platform"] == "codex-acp v0.11.1"


def test_a_benchmark_published_twice_has_two_subjects_and_one_verdict_per_instance(read):
    tables = read(folder([SCORE, SCORE | {"score": 1.0}]))
    frame = cross_checks(*(tables.frame(table) for table in ("core_declared", "core_components", "raw_quarantine")))
    assert sorted(frame[frame["field"] == "score"]["status"]) == ["match", "mismatch"]
    assert len(list(tables.rows("core_approvals"))) == len(OUTCOMES)


@pytest.mark.parametrize("entry", [{"score": 1.0}, {"benchmark": ""}, "text", None, []])
def test_an_entry_without_a_benchmark_is_quarantined_and_hides_no_other(read, entry):
    tables = read(folder([SCORE, entry]))
    (rejected,) = tables.rows("raw_quarantine")
    assert (rejected["reason_code"], rejected["pointer"]) == ("no_benchmark", "/1")
    assert checks(tables)["score"]["status"] == "match"


@pytest.mark.parametrize("bad", [{"resolved": "yes", "cost": 1}, {"resolved": 1, "cost": 1}, {"resolved": True}, 5])
def test_an_outcome_that_is_none_makes_the_numbers_of_its_benchmark_unknown(read, bad):
    many = {f"i-{n}": {"cost": 1.0, "resolved": True} for n in range(30)} | {"z": bad}
    tables = read(folder(outcomes={"swt-bench": many}))
    (rejected,) = tables.rows("raw_quarantine")
    assert (rejected["reason_code"], rejected["path"]) == (
        "bad_instance_result",
        "logs/instance_results/swt-bench.json",
    )
    assert {row["reason_code"] for row in checks(tables).values()} == {"components_incomplete"}


def test_a_cost_that_is_no_number_makes_the_mean_unknown(read):
    odd = {**OUTCOMES, "z": {"cost": "free", "resolved": True}}
    row = checks(read(folder(outcomes={"swt-bench": odd})))["cost_per_instance"]
    assert (row["status"], row["reason_code"]) == ("unverifiable", "component_not_a_number")


def test_outcomes_without_scores_are_a_run_that_declares_nothing(read):
    files = folder()
    del files["logs/scores.json"]
    tables = read(files)
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["logs/swt-bench"]
    assert list(tables.rows("core_declared")) == []


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["benchmark", "score", "cost_per_instance", "component_scores", "metric"]),
        st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just({"solveable_resolved": []}),
    )
)
def test_no_entry_breaks_a_contract_or_loses_a_record(read, entry):
    tables = read(folder([SCORE, entry]))
    for table in ("core_runs", "core_declared", "core_components", "core_approvals", "raw_quarantine"):
        tables.frame(table)
    for row in tables.rows("raw_log_files"):
        assert row["lines_in"] == row["accepted"] + row["quarantined"] + row["blank"] + row["duplicates"]
