"""Explanations of mismatches: each hypothesis where it holds and where it must not, and what none of them changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.audit_explanations import NONE_HELD
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.crosscheck.builtin import cross_checks, not_checkable
from governance_pipeline.crosscheck.catalogue import CatalogueEntry, catalogue
from governance_pipeline.crosscheck.explanations import EXPLANATION_TABLES, NONE_TRIED, explanations
from governance_pipeline.ingest.extraction import value_kind, value_raw
from governance_pipeline.pipeline import PIPELINE
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.vocabulary import Hypothesis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILE = "a" * 64


def tables_of(
    claims: Mapping[str, str],
    parts: Mapping[str, Sequence[Mapping[str, str | None]]],
    *,
    subject: str = "s",
    path_of: Mapping[str, Sequence[str]] | None = None,
    more: Sequence[tuple[str, Mapping[str, Sequence[Mapping[str, str | None]]]]] = (),
    broken: Sequence[str] = (),
) -> dict[str, pd.DataFrame]:
    """Make the tables explanations read.

    Args:
        claims: check id -> the declared number as JSON.
        parts: source -> its rows, each column -> value as JSON, None where the log does not know.
        subject: what they are about.
        path_of: source -> file of each of its rows; all are of one file otherwise.
        more: other subjects the same numbers are declared for, with their parts.
        broken: files with a quarantined record.
    """
    entries = {entry.check.id: entry for entry in catalogue().entries}
    format_name = entries[next(iter(claims))].format
    every = [(subject, parts), *more]
    declared = [
        {"round_id": "r-1", "subject_id": name, "field": entries[check].check.field, "format": format_name,
         "component_paths": json.dumps({"*": ["log"]}), "path": "claims", "file_sha256": FILE, "line": None,
         "pointer": f"/{entries[check].check.field}", **_value(value)}
        for check, value in claims.items()
        for name, _ in every
    ]  # fmt: skip
    components = [
        {"round_id": "r-1", "subject_id": name, "source": source, "row_index": index, "column": column,
         "format": format_name, "file_sha256": FILE, "line": None, "pointer": "",
         "path": (path_of or {}).get(source, ["log"] * index)[index - 1], **_value(value)}
        for name, rows_of in every
        for source, rows in rows_of.items()
        for index, row in enumerate(rows, 1)
        for column, value in row.items()
    ]  # fmt: skip
    quarantine = [
        {"round_id": "r-1", "path": path, "pointer": "", "disposition": "quarantined", "excerpt": "", "line": 1,
         "reason_code": "malformed_json"}
        for path in broken
    ]  # fmt: skip
    frames = {
        "core_declared": frame_of("core_declared", declared),
        "core_components": frame_of("core_components", components),
        "raw_quarantine": frame_of("raw_quarantine", quarantine),
    }
    return {**frames, "audit_cross_checks": cross_checks(*frames.values())}


def tried(tables: Mapping[str, pd.DataFrame], check_id: str) -> list[dict[str, Any]]:
    """Return the rows of `audit_explanations` of one check, null as None."""
    frame = explanations(tables)
    rows = frame[frame["check_id"] == check_id].astype(object)
    return rows.where(rows.notna(), None).to_dict("records")


def _value(text: str | None) -> dict[str, Any]:
    parsed = None if text is None else parse_json(text.encode())
    return {"value_raw": value_raw(parsed), "value_kind": value_kind(parsed)}


def rows(column: str, *values: str | None) -> list[dict[str, str | None]]:
    return [{column: value} for value in values]


CALLS = [{"call_id": f'"m{n}"', "cache_read_tokens": str(n * 100), "output_tokens": "1"} for n in (7, 3, 5)]
LATENCY = {"times": [{"start_us": "1000000", "end_us": "3500000"}]}
AIDER = {"results": [{"pass_num_2": "61", "test_cases": "223"}]}
TRIALS = {"trials": rows("trial_name", '"a"', '"b"', '"c"'), "resolved": rows("trial_name", '"a"'),
          "unresolved": rows("trial_name", '"b"')}  # fmt: skip
INDEX = {"instances": rows("id", '"a"', '"b"', '"c"'), "outcomes": rows("resolved", "true", "true", "false"),
         "costs": rows("cost", "1.0", "2.0", "0.0")}  # fmt: skip
SUBAGENTS = {"metrics": rows("prompt_tokens", "10"), "metrics_with_subagents": rows("prompt_tokens", "10", "7")}
REPORTS = {"calls": rows("total_tokens", "10", "20"), "reports": rows("total_tokens", "10", "10", "20")}
STEPS = {"steps": rows("action", '"x"', '"y"', '"z"'), "messages": rows("role", '"m"')}

FIXTURES = [
    (Hypothesis.DUPLICATE_EVENTS, "codex_rollout_total_tokens", REPORTS, "40", "41"),
    (Hypothesis.OTHER_DENOMINATOR, "aider_leaderboard_pass_rate_2", AIDER, "27.1", "27.0"),
    (Hypothesis.SCOPE, "atif_total_prompt_tokens", SUBAGENTS, "17", "18"),
    (Hypothesis.OTHER_DEFINITION, "swe_agent_api_calls_by_messages", STEPS, "3", "4"),
    (Hypothesis.UNIT, "langfuse_trace_latency", LATENCY, "2500", "2501"),
    (Hypothesis.NULL_AS_FALSE, "terminal_bench_n_unresolved", TRIALS, "2", "3"),
    (Hypothesis.NULL_AS_ZERO, "openhands_index_cost_per_instance", INDEX, "1.5", "1.4"),
    (Hypothesis.NOT_MEASURED, "codex_rollout_total_tokens", REPORTS, "0", "-1"),
    (Hypothesis.ROUNDING, "openhands_index_score", INDEX, "66.6", "66.5"),
    (Hypothesis.OFF_BY_ONE_CALL, "mini_swe_agent_api_calls", {"calls": rows("cost", "0.1")}, "2", "3"),
    (Hypothesis.STALE, "native_total_cost_usd", {"audit_log": rows("token_cost", "0.5", "0.25", "2")}, "0.75", "0.65"),
    (Hypothesis.NONE_HOLDS, "langfuse_trace_latency", LATENCY, "7", "2500"),
]
"""Hypothesis, check, parts, a declared number it holds for, and one it must not hold for (a mismatch both)."""


@pytest.mark.parametrize(("hypothesis", "check_id", "parts", "holds", "fails"), FIXTURES, ids=lambda v: str(v)[:30])
def test_each_hypothesis_holds_where_it_is_so_and_not_where_it_is_not(hypothesis, check_id, parts, holds, fails):
    explained = tried(tables_of({check_id: holds}, parts), check_id)
    assert any(row["hypothesis"] == hypothesis and row["holds"] is True for row in explained)
    other = tried(tables_of({check_id: fails}, parts), check_id)
    assert other, "a mismatch too"
    assert not any(row["hypothesis"] == hypothesis and row["holds"] is True for row in other)


def test_every_hypothesis_of_the_closed_list_has_its_fixtures():
    assert {fixture[0] for fixture in FIXTURES} == set(Hypothesis)


def test_all_that_were_tried_are_listed_with_value_delta_and_rows_in_the_order_of_the_catalogue():
    listed = tried(tables_of({"atif_total_prompt_tokens": "17"}, SUBAGENTS), "atif_total_prompt_tokens")
    assert [
        (r["attempt_index"], r["hypothesis"], r["value"], r["delta"], r["holds"], r["rows_read"]) for r in listed
    ] == [
        (1, "scope", "17", "0", True, "all 2 rows"),
        (2, "duplicate_events", "20", "-3", False, "all 1 rows"),
        (3, "not_measured", "0", "17", False, "all 1 rows"),
    ]
    assert listed[0]["formula"] == "sum(metrics_with_subagents.prompt_tokens)"


def test_none_holds_comes_last_and_says_so():
    *others, last = tried(tables_of({"langfuse_trace_latency": "7"}, LATENCY), "langfuse_trace_latency")
    assert [row["holds"] for row in others] == [False, False]
    assert (last["hypothesis"], last["holds"], last["reads"], last["value"]) == ("none_holds", True, NONE_HELD, None)


def test_a_match_and_an_unverifiable_record_are_not_explained():
    assert tried(tables_of({"langfuse_trace_latency": "2.5"}, LATENCY), "langfuse_trace_latency") == []
    assert tried(tables_of({"langfuse_trace_latency": "2.5"}, {}), "langfuse_trace_latency") == []


def test_a_mismatch_of_a_check_without_hypotheses_says_that_none_was_tried():
    (row,) = tried(tables_of({"tau_bench_reward": "1"}, {"reward_parts": rows("factor", "0")}), "tau_bench_reward")
    assert (row["hypothesis"], row["reads"], row["holds"]) == ("none_holds", NONE_TRIED, True)


def test_a_check_that_is_not_in_the_catalogue_gets_none_holds():
    tables = tables_of({"langfuse_trace_latency": "7"}, LATENCY)
    tables["audit_cross_checks"]["check_id"] = pd.array(["another"], dtype="string")
    assert [row["hypothesis"] for row in tried(tables, "another")] == ["none_holds"]


def test_a_number_of_a_change_event_is_left_to_the_trajectory():
    tables = tables_of({"langfuse_trace_latency": "7"}, LATENCY)
    tables["audit_cross_checks"]["check_id"] = pd.array(["changes_f"], dtype="string")
    assert tried(tables, "changes_f") == []


def test_where_a_part_of_the_other_source_was_quarantined_its_value_is_unknown():
    tables = tables_of({"codex_rollout_total_tokens": "40"}, REPORTS)
    tables["core_declared"]["component_paths"] = pd.array([json.dumps({"reports": ["log"]})], dtype="string")
    tables["raw_quarantine"] = tables_of({"codex_rollout_total_tokens": "40"}, REPORTS, broken=["log"])[
        "raw_quarantine"
    ]
    first = tried(tables, "codex_rollout_total_tokens")[0]
    assert (first["value"], first["holds"], first["reason_code"]) == (None, None, "components_incomplete")


def test_a_part_nobody_knows_makes_the_value_unknown_and_not_smaller():
    parts = {"metrics": rows("prompt_tokens", "10"), "metrics_with_subagents": rows("prompt_tokens", "10", None)}
    first = tried(tables_of({"atif_total_prompt_tokens": "10.0"}, parts) | {}, "atif_total_prompt_tokens")
    assert first == [], "10 is a match"
    row = tried(tables_of({"atif_total_prompt_tokens": "17"}, parts), "atif_total_prompt_tokens")[0]
    assert (row["value"], row["holds"], row["reason_code"]) == (None, None, "component_missing_value")


def test_a_count_is_stale_only_where_another_number_says_how_far_the_log_went():
    calls = "claude_code_entire_session_api_call_count"
    reads = "claude_code_entire_session_cache_read_tokens"
    until_two = tried(tables_of({calls: "2", reads: "1000"}, {"calls": CALLS}), calls)
    assert [(row["value"], row["holds"], row["rows_read"]) for row in until_two[:1]] == [
        ("2", True, "first 2 of 3 rows")
    ]
    elsewhere = tried(tables_of({calls: "2", reads: "999"}, {"calls": CALLS}), calls)
    assert elsewhere[0]["holds"] is False, "no first calls add up to the other number"
    whole = tried(tables_of({calls: "2", reads: "1500"}, {"calls": CALLS}), calls)
    assert (whole[0]["value"], whole[0]["holds"]) == ("3", False), "the other number is that of the whole log"
    alone = tried(tables_of({calls: "2"}, {"calls": CALLS}), calls)
    assert (alone[0]["value"], alone[0]["holds"]) == (None, None)


def test_the_last_calls_are_a_segment():
    reads = "claude_code_entire_session_cache_read_tokens"
    listed = tried(tables_of({reads: "800"}, {"calls": CALLS}), reads)
    held = [(row["hypothesis"], row["rows_read"]) for row in listed if row["holds"]]
    assert held == [("scope", "last 2 of 3 rows")]


def test_a_hypothesis_about_rows_says_nothing_where_it_leaves_none_out():
    files, check = rows("path", '"a"', '"b"'), "claude_code_entire_files_touched_vs_commit"
    parts = {"session_files": files, "commit_files": rows("path", '"a"')}
    one_file = tried(tables_of({check: "2"}, parts), check)
    assert [(r["hypothesis"], r["holds"]) for r in one_file[:2]] == [("other_definition", True), ("scope", False)]
    two = tried(tables_of({check: "1"}, {**parts, "commit_files": []}, path_of={"session_files": ["0", "1"]}), check)
    assert two == [], "nothing computed, nothing to explain"
    parts["commit_files"] = rows("path", '"a"', '"c"')
    (first, second, *_) = tried(tables_of({check: "1"}, parts, path_of={"session_files": ["0", "1"]}), check)
    assert (first["holds"], second["holds"], second["rows_read"]) == (False, True, "1 of 2 rows (those of 0)")


def test_pooled_rows_are_those_of_every_subject_the_number_is_declared_for():
    tasks = {"pass_1_tasks": [{"passing": "1", "of": "1"}, {"passing": "0", "of": "1"}]}
    others = {"pass_1_tasks": [{"passing": "1", "of": "1"}, {"passing": "1", "of": "1"}]}
    tables = tables_of({"tau2_bench_pass_1": "75.0"}, tasks, more=[("t", others)])
    held = [row for row in tried(tables, "tau2_bench_pass_1") if row["holds"]]
    assert {(row["hypothesis"], row["value"], row["rows_read"]) for row in held} == {
        ("scope", "75", "all 4 rows of all subjects it is declared for")
    }


def test_the_size_of_a_benchmark_explains_that_benchmark_only():
    parts = {"instances": rows("id", '"a"', '"b"'), "outcomes": rows("resolved", "true", "true")}
    for subject, expected in (("logs/gaia", {"100 * sum(outcomes.resolved) / 165"}), ("logs/commit0", set())):
        listed = tried(tables_of({"openhands_index_score": "1.2"}, parts, subject=subject), "openhands_index_score")
        assert {row["formula"] for row in listed if row["holds"] and row["formula"]} == expected


NUMBERS = st.integers(-3, 60).map(str)


@settings(max_examples=25, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=4), NUMBERS)
def test_explaining_changes_no_record_and_explains_mismatches_only(parts, declared):
    tables = tables_of({"native_total_cost_usd": declared}, {"audit_log": rows("token_cost", *parts)})
    before = {name: frame.copy(deep=True) for name, frame in tables.items()}
    found = explanations(tables)
    for name, frame in before.items():
        pd.testing.assert_frame_equal(tables[name], frame)
    records = tables["audit_cross_checks"]
    assert set(found["record_id"]) == set(records.loc[records["status"] == "mismatch", "record_id"])
    by_record = found.groupby("record_id")["hypothesis"].agg(set)
    held = set(found.loc[found["holds"].fillna(False), "hypothesis"])
    assert all(("none_holds" in tried) == (held == {"none_holds"}) for tried in by_record)


@pytest.mark.parametrize(("declared", "costs"), [("1", ["1"]), ("75", ["75", "3"]), ("7500", ["75"]), ("4", ["1"])])
def test_records_cases_verdicts_and_exit_codes_are_the_same_with_and_without_hypotheses(audited, declared, costs):
    said = audited(declared, costs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CatalogueEntry, "explanations", ())
        assert audited(declared, costs) == said


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Return a function: records, cases, verdicts and exit codes of a round, as the pipeline gives them."""
    from governance_pipeline.ingest.layout import scan
    from governance_pipeline.ingest.round import read_files
    from governance_pipeline.pipeline import run_in_memory
    from governance_pipeline.report.audit_document import audit_document
    from governance_pipeline.report.audit_summary import verdict
    from governance_pipeline.storage.content import ContentStore

    base = tmp_path_factory.mktemp("explained")

    def _audited(declared, costs):
        folder = base / "round"
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        claim = f'{{"subject": "run-1", "field": "total_cost_usd", "value": {declared}}}\n'
        (folder / "declared.jsonl").write_text(claim)
        lines = [{"timestamp": "2026-01-05T10:00:00Z", "agent_id": "a", "run_id": "run-1", "tool_called": "bash",
                  "output_result": str(n), "output_hash": None, "input_hash": None, "token_cost": int(cost),
                  "self_reported_status": "ok", "independently_verified": False, "verification_method": None}
                 for n, cost in enumerate(costs)]  # fmt: skip
        (folder / "audit_log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        tables = run_in_memory([read_files(scan(folder), "r-1", ContentStore(base / "lake"))])
        document = audit_document(tables, not_checkable(tables["core_declared"]))
        codes = [verdict(document, fail_on).exit_code for fail_on in ("warn", "block", "never")]
        names = ("audit_cross_checks", "audit_escalations", "verdict_findings", "verdict_rounds")
        return [tables[name].to_json() for name in names], codes

    return _audited


def test_no_step_of_the_pipeline_reads_explanations():
    assert [step.table for step in PIPELINE if "audit_explanations" in step.inputs] == []
    assert {step.table: step.inputs for step in PIPELINE}["audit_explanations"][
        : len(EXPLANATION_TABLES)
    ] == EXPLANATION_TABLES
