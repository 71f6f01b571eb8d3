"""Aider leaderboards: rates over the cases that were finished, prices nobody knew, and runs listed twice."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.formats.aider_leaderboard import detect
from governance_pipeline.ingest.logfile import Sample

BOARD = "logs/board.yml"


def row(dirname="2025-01-01-00-00-00--a", **members):
    return {
        "dirname": dirname,
        "test_cases": 224,
        "model": "m (high)",
        "pass_rate_1": 25.0,
        "pass_num_1": 56,
        "pass_rate_2": 61.7,
        "pass_num_2": 139,
        "percent_cases_well_formed": 99.1,
        "num_with_malformed_responses": 2,
        "total_tests": 225,
        "versions": "0.69.2.dev",
        "total_cost": 14.4063,
        **members,
    }


def board(*rows):
    lines = []
    for members in rows:
        for number, (name, value) in enumerate(members.items()):
            lines.append(f"{'  ' if number else '- '}{name}: {value}")
        lines.append("")
    return "\n".join(lines)


@pytest.fixture
def checks(read):
    """Give a function that reads a board and returns {field: (status, declared, computed)} of its checks."""

    def _checks(*rows):
        tables = read({BOARD: board(*rows)})
        frames = [tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")]
        found = cross_checks(*frames).to_dict("records")
        return {r["field"]: (r["status"], r["declared_raw"], r["computed"]) for r in found}

    return _checks


def test_a_rate_over_all_tests_instead_of_the_finished_ones_is_a_mismatch(checks):
    found = checks(row())
    assert found["pass_rate_2"] == ("mismatch", "61.7", "62.053571428571428571")
    assert found["pass_rate_1"] == ("match", "25.0", "25")
    assert found["percent_cases_well_formed"][0] == "match"


def test_a_rate_without_its_count_is_unknown(checks):
    old = row()
    del old["pass_num_1"]
    assert checks(old)["pass_rate_1"] == ("unverifiable", "25.0", None)


def test_old_rows_counted_cases_under_another_name(checks):
    old = row(test_cases=89, percent_cases_well_formed=7.9, num_malformed_responses=82)
    del old["num_with_malformed_responses"]
    assert checks(old)["percent_cases_well_formed"][0] == "match"


def test_no_finished_case_has_no_rate(checks):
    assert checks(row(test_cases=0))["pass_rate_1"] == ("unverifiable", "25.0", None)


def test_totals_without_parts_are_declared_as_written_and_a_cost_of_zero_is_no_price(read):
    tables = read({BOARD: board(row(total_cost="0.0000", prompt_tokens=10, completion_tokens=4))})
    assert {r["field"]: r["value_raw"] for r in tables.rows("core_declared")}["total_cost"] == "0.0000"
    (usage,) = tables.rows("core_usage")
    assert (usage["cost_usd"], usage["cost_lexeme"], usage["input_tokens"]) == (None, "0.0000", 10)


def test_a_row_is_a_run_of_its_model_and_version(read):
    (run,) = read({BOARD: board(row(editor_model="e", reasoning_effort="high"))}).rows("core_runs")
    assert (run["run_id"], run["model_id"], run["platform"], run["thinking"]) == (
        "2025-01-01-00-00-00--a",
        "m (high), e",
        "aider 0.69.2.dev",
        "high",
    )
    assert (run["started_at"], run["opaque_step_count"]) == (None, 0)


def test_a_run_listed_in_two_boards_is_one_run_whose_claims_are_all_kept(read):
    tables = read({"logs/a.yml": board(row()), "logs/b.yml": board(row(model="other", pass_rate_2=62.1))})
    assert len(list(tables.rows("core_runs"))) == 1
    claims = [r["value_raw"] for r in tables.rows("core_declared") if r["field"] == "pass_rate_2"]
    assert claims == ["61.7", "62.1"]
    first, second = tables.rows("core_usage")
    assert (first["duplicate_of"], second["duplicate_of"]) == (None, "logs/a.yml:/0")
    assert second["dedup_reason"]
    assert second["run_id"] == first["run_id"]


def test_the_same_list_as_json_is_read_too(read):
    tables = read({"logs/board.json": json.dumps([row()], indent=1)})
    assert [r["accepted"] for r in tables.rows("raw_log_files")] == [1]


def test_rows_that_are_no_results_are_quarantined_one_by_one(read):
    text = board(row()) + "\n- just text\n- model: m\n- dirname: d\n"
    tables = read({BOARD: text})
    assert [(r["pointer"], r["reason_code"]) for r in tables.rows("raw_quarantine")] == [
        ("/1", "not_an_object"),
        ("/2", "no_dirname"),
        ("/3", "no_test_cases"),
    ]
    (file,) = tables.rows("raw_log_files")
    assert (file["lines_in"], file["accepted"], file["quarantined"]) == (4, 1, 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (board(row()) + "  x: [\n", "malformed_yaml"),
        (board(row()).replace("  model:", "  test_cases:"), "duplicate_member"),
        (board(row()).replace("m (high)", "&a m"), "yaml_indirection"),
        ("- name: x\n  value: 1\n", "unsupported_format"),
    ],
)
def test_a_board_that_cannot_be_read_strictly_is_left_with_its_reason(read, text, reason):
    assert read({BOARD: text}).unclaimed == {BOARD: reason}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    name=st.sampled_from(sorted(row())), value=st.text(max_size=12) | st.sampled_from(["[1]", "{a: 1}", "-1", "1e999"])
)
def test_no_value_in_any_place_breaks_a_contract_or_loses_a_row(read, name, value):
    tables = read({BOARD: board(row(), row(**{name: value})), "logs/b.yml": board(row(**{name: value}))})
    for table in ("core_runs", "core_usage", "core_declared", "core_components", "raw_log_files", "raw_quarantine"):
        tables.frame(table)  # checks the contract


@pytest.mark.parametrize("values", [([],), ([[]],), ({"dirname": 1},), ([{"dirname": 1, "test_cases": 2}],)])
def test_other_lists_are_not_claimed(values):
    assert not detect(Sample("x.yml", "document", values))
    assert not detect(Sample("x.yml", "jsonl", ([row()],)))
