"""Langfuse exports: seconds and milliseconds, totals and their kinds, and usage that is said twice."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.formats.langfuse_observations import Observation, tree_of
from governance_pipeline.ingest.formats.langfuse_trace import detect
from governance_pipeline.ingest.logfile import Sample

LOG = "logs/t.trace.json"


def observation(name, start="0.000", end="1.000", parent=None, kind="SPAN", **members):
    return {
        "id": name,
        "type": kind,
        "name": name,
        "parentObservationId": parent,
        "startTime": f"2025-06-11T14:01:0{start}Z",
        "endTime": f"2025-06-11T14:01:0{end}Z",
        "level": "DEFAULT",
        "usageDetails": {},
        "costDetails": {},
        **members,
    }


def generation(name, usage, cost=None, **members):
    return observation(name, kind="GENERATION", model="m-1", usageDetails=usage, costDetails=cost or {}, **members)


def agent(name, inputs, outputs, **members):
    attributes = {
        "gen_ai.agent.name": name,
        "gen_ai.usage.input_tokens": inputs,
        "gen_ai.usage.output_tokens": outputs,
    }
    return observation(name, metadata={"attributes": attributes}, **members)


def export(*observations, **trace):
    return {"trace": {"id": "t-1", "projectId": "p", **trace}, "observations": list(observations)}


@pytest.fixture
def load(read):
    return lambda document: read({LOG: json.dumps(document, indent=1)})


@pytest.fixture
def checks(load):
    """Give a function that reads an export and returns [(field, status, declared, computed)] of its checks."""

    def _checks(document):
        tables = load(document)
        frames = [tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")]
        found = cross_checks(*frames)
        found = found.astype(object).where(found.notna(), None)
        return [(r["field"], r["status"], r["declared_raw"], r["computed"]) for r in found.to_dict("records")]

    return _checks


def test_latency_in_milliseconds_is_a_mismatch_with_both_values(checks):
    log = export(observation("a", "0.049", "7.473", latency=7424), observation("b", latency=1), latency=7.473)
    assert checks(log) == [
        ("latency", "mismatch", "7424", "7.424"),
        ("latency", "match", "1", "1"),
        ("trace_latency", "match", "7.473", "7.473"),
    ]


def test_an_observation_without_an_end_makes_latencies_unknown(checks):
    log = export(observation("a", latency=1, endTime=None), observation("b"), latency=1)
    assert [row[:2] for row in checks(log)] == [("latency", "unverifiable"), ("trace_latency", "unverifiable")]


@pytest.mark.parametrize(
    ("usage", "status"),
    [
        ({"input": 5, "output": 845, "total": 850}, "match"),
        ({"input": 5, "output": 845, "total": 2023}, "mismatch"),
        ({"input": 7, "total": 7}, "match"),
        ({"input": 5, "output": 1, "input_cache_read": 0, "total": 6}, "match"),
        ({"input": 5, "output": 1, "input_cache_read": 4, "total": 6}, "unverifiable"),
        ({"total": 6}, "unverifiable"),
    ],
)
def test_a_total_is_its_kinds_unless_one_may_be_inside_another(checks, usage, status):
    assert [row[1] for row in checks(export(generation("g", usage)))] == [status]


def test_a_cost_total_without_parts_cannot_be_checked(checks):
    with_parts = generation("a", {}, {"input": 0.0002352, "output": 0.0002538, "total": 0.000489})
    assert checks(export(with_parts, generation("b", {}, {"total": 3.645e-05}))) == [
        ("cost_total", "match", "0.000489", "0.000489"),
        ("cost_total", "unverifiable", "3.645e-05", None),
    ]


def test_an_agents_span_repeats_the_calls_below_it(checks, load):
    log = export(
        agent("boss", "30", "5"),
        generation("g1", {"input": 10, "output": 2}, parent="boss"),
        observation("tools", parent="boss"),
        generation("g2", {"input": 20, "output": 3}, parent="tools"),
    )
    assert checks(log) == [
        ("agent_input_tokens", "match", "30", "30"),
        ("agent_output_tokens", "match", "5", "5"),
    ]
    usage = list(load(log).rows("core_usage"))
    assert [row["duplicate_of"] for row in usage] == [f"{LOG}:/observations/1/usageDetails", None, None]
    assert sum(row["input_tokens"] for row in usage if row["duplicate_of"] is None) == 30


def test_an_agent_below_an_agent_may_or_may_not_be_inside_its_sum(checks):
    log = export(
        agent("boss", "30", "5"),
        agent("help", "10", "2", parent="boss"),
        generation("g1", {"input": 10, "output": 2}, parent="help"),
    )
    assert [row[1] for row in checks(log)] == ["unverifiable", "match", "unverifiable", "match"]


def test_a_call_traced_by_two_libraries_is_one_call(load):
    log = export(
        generation("outer", {"input": 542, "output": 235}),
        generation("inner", {"input": 163, "output": 20}, parent="outer"),
    )
    outer, inner = load(log).rows("core_usage")
    assert (outer["duplicate_of"], inner["duplicate_of"]) == (f"{LOG}:/observations/1/usageDetails", None)
    assert (inner["model_id"], inner["dedup_key"]) == ("m-1", "t-1/inner")


def test_a_trace_exported_twice_counts_its_usage_once(read):
    log = export(generation("g", {"input": 1, "output": 2}), sessionId="s")
    tables = read({"logs/a.json": json.dumps(log), "logs/b.json": json.dumps(log | {"more": 1})})
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["t-1", "t-1@logs/b.json"]
    assert [row["duplicate_of"] is None for row in tables.rows("core_usage")] == [True, False]


def test_usage_of_nothing_but_zeros_was_not_measured(load):
    assert not list(load(export(generation("g", {"input": 0, "output": 0, "total": 0}))).rows("core_usage"))


def test_tools_are_steps_of_the_agent_above_them(load):
    attributes = json.dumps({"attributes": {"gen_ai.tool.name": "bash", "gen_ai.tool.call.id": "c-1"}})
    failed = observation("y", "1.000", "1.500", "lead", level="ERROR", kind="TOOL")
    log = export(
        failed,
        observation("x", "0.500", "0.750", "lead", metadata=attributes, input={"command": "make"}, output="ok"),
        observation("lead", kind="AGENT"),
        sessionId="s-1",
    )
    tables = load(log)
    assert [
        (r["tool"], r["call_id"], r["agent_id"], r["command"], r["duration_s"], r["status"])
        for r in tables.rows("core_steps")
    ] == [("bash", "c-1", "lead", "make", 0.25, None), ("y", "y", "lead", None, 0.5, "error")]
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["session_id"], run["opaque_step_count"]) == ("t-1", "s-1", 2)


@pytest.mark.parametrize(("one", "other"), [(1, True), ("1", 1), (0, False)])
def test_an_observation_that_differs_in_the_kind_of_a_value_is_no_repetition(load, one, other):
    tables = load(export(observation("a", output=one), observation("a", output=other)))
    assert [row["reason_code"] for row in tables.rows("raw_quarantine")] == ["repeated_id"]


@pytest.mark.parametrize(
    ("level", "output", "added", "opaque"),
    [
        ("DEFAULT", None, [], 1),
        ("DEFAULT", {"content": "No replacement was performed, old_str `x` did not appear verbatim in a."}, [], 1),
        ("ERROR", None, [], 0),
        ("DEFAULT", "The file a has been edited.", [2], 0),
        ("DEFAULT", json.dumps({"content": [{"type": "text", "text": "The file a has been edited."}]}), [2], 0),
    ],
)
def test_an_edit_is_counted_where_its_output_says_that_it_worked(load, level, output, added, opaque):
    edit = {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y\nz"}
    call = observation("str_replace_editor", kind="TOOL", level=level, input=edit, output=output)
    tables = load(export(call))
    assert [row["added_count"] for row in tables.rows("core_file_changes")] == added
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [opaque]


def test_a_span_is_a_tool_where_its_instrumentation_says_so(load):
    attributes = {"tool.name": "search", "openinference.span.kind": "TOOL"}
    scope = {"name": "lib", "version": "1.2"}
    tables = load(export(observation("x", metadata={"attributes": attributes, "scope": scope})))
    assert [r["tool"] for r in tables.rows("core_steps")] == ["search"]
    assert [r["platform"] for r in tables.rows("core_runs")] == ["lib 1.2"]


def test_scores_are_reviews_by_whom_their_source_says(load):
    scores = [
        {"name": "toxicity", "value": 0.8, "source": "EVAL", "comment": "why", "timestamp": "2025-06-12T00:00:00Z"},
        {"name": "ok", "value": 1, "stringValue": "True", "source": "ANNOTATION", "authorUserId": "u"},
        {"name": "x", "value": None, "source": "API"},
        {"value": 1},
    ]
    rows = list(load(export(scores=scores)).rows("core_approvals"))
    assert [(r["kind"], r["by"], r["by_id"], r["result"], r["reason"]) for r in rows] == [
        ("review", "model", None, "toxicity: 0.8", "why"),
        ("review", "human", "u", "ok: True", None),
        ("review", None, None, "x", None),
    ]
    assert rows[0]["pointer"] == "/trace/scores/0"


def test_what_is_no_observation_is_quarantined_and_a_repetition_is_a_duplicate(load):
    same = observation("a")
    tables = load(export(same, 5, {"type": "SPAN"}, same, observation("a", level="ERROR")))
    (file,) = tables.rows("raw_log_files")
    assert (file["lines_in"], file["accepted"], file["quarantined"], file["duplicates"]) == (5, 1, 3, 1)
    assert [(r["pointer"], r["reason_code"]) for r in tables.rows("raw_quarantine")] == [
        ("/observations/1", "not_an_object"),
        ("/observations/2", "no_id"),
        ("/observations/3", "repeated_observation"),
        ("/observations/4", "repeated_id"),
    ]


def test_a_refused_observation_makes_the_numbers_of_its_file_unknown(checks):
    assert [row[1] for row in checks(export(observation("a", latency=1), 5))] == ["unverifiable"]


def test_an_export_that_breaks_off_is_left_with_its_reason(read):
    assert read({LOG: json.dumps(export(), indent=1)[:-2]}).unclaimed == {LOG: "malformed_json"}


@pytest.mark.parametrize(
    "value",
    [{}, [], {"trace": {"id": "t"}, "observations": []}, {"trace": {"id": "t", "projectId": "p"}, "observations": {}}],
)
def test_other_documents_are_not_claimed(value):
    assert not detect(Sample("x.json", "document", (value,)))
    assert not detect(Sample("x.json", "jsonl", (export(),)))


@given(parents=st.lists(st.integers(0, 5), min_size=6, max_size=6))
def test_observations_that_name_each_other_in_a_circle_still_form_a_tree(parents):
    found = [
        Observation(None, {"id": str(number), "parentObservationId": str(parent)}, {})
        for number, parent in enumerate(parents)
    ]
    tree_of(found)
    for each in found:
        below = [other.id for other in each.descendants()]
        assert len(below) == len(set(below))
        assert each.id not in below
