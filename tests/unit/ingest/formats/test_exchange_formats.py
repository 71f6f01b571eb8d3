"""Whatever stands in one place of a log of an exchange format, it is read or quarantined, and the account balances."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.logfile import Sample
from governance_pipeline.ingest.native.kinds import NATIVE_FORMATS

USAGE = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
ATIF = {
    "schema_version": "ATIF-v1.6",
    "session_id": "s",
    "agent": {"name": "terminus-2", "version": "2", "model_name": "m", "extra": {"parent_session_id": "p"}},
    "steps": [
        {
            "step_id": 1,
            "source": "agent",
            "timestamp": "2026-01-05T10:00:00Z",
            "tool_calls": [{"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "ls"}}],
            "observation": {
                "results": [{"source_call_id": "c", "content": "x", "subagent_trajectory_ref": [{"session_id": "s"}]}]
            },
            "metrics": {"prompt_tokens": 1, "completion_tokens": 2, "cached_tokens": 0, "cost_usd": 0.5},
        }
    ],
    "final_metrics": {"total_prompt_tokens": 1, "total_cost_usd": 0.5, "total_steps": 1, "extra": {"x": 1}},
}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {
        "eval_id": "e",
        "run_id": "r",
        "created": "2026-01-05T10:00:00+00:00",
        "task": "t",
        "model": "google/m",
        "config": {"epochs_reducer": ["mean"], "approval": {"approvers": [{"name": "human"}]}},
        "packages": {"inspect_ai": "0.3"},
    },
    "results": {
        "total_samples": 1,
        "scores": [{"name": "s", "scorer": "s", "metrics": {"accuracy": {"name": "accuracy", "value": 1.0}}}],
    },
    "stats": {"model_usage": {"google/m": {**USAGE, "reasoning_tokens": 1}}},
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "scores": {"s": {"value": "C", "explanation": "x"}},
            "model_usage": {"google/m": USAGE},
            "events": [
                {"event": "span_begin", "id": "a", "type": "agent", "name": "x"},
                {"event": "model", "model": "google/m", "output": {"usage": USAGE}},
                {"event": "tool", "id": "c", "function": "bash", "arguments": {"cmd": "ls"}, "result": "x"},
                {"event": "approval", "approver": "human", "decision": "reject", "call": {"id": "c"}},
            ],
            "error_retries": [],
            "attachments": {"d": "x"},
        }
    ],
}
OTEL = {
    "resourceSpans": [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]},
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "t",
                            "spanId": "1",
                            "startTimeUnixNano": "1767607200000000000",
                            "status": {"code": 1},
                            "attributes": [
                                {"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}},
                                {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "3"}},
                            ],
                        },
                        {
                            "traceId": "t",
                            "spanId": "2",
                            "parentSpanId": "1",
                            "attributes": [
                                {"key": "ai.usage.promptTokens", "value": {"intValue": "3"}},
                                {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "3"}},
                                {"key": "gen_ai.usage.total_tokens", "value": {"intValue": "3"}},
                                {"key": "gen_ai.usage.input_cost", "value": {"doubleValue": 0.5}},
                            ],
                        },
                    ]
                }
            ],
        }
    ]
}
TABLES = ("core_runs", "core_steps", "core_usage", "core_declared", "core_components", "core_file_changes",
          "core_approvals", "raw_log_files", "raw_quarantine")  # fmt: skip
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 2**62, 2**70, 1e300, -0.0, 1767607200]),
    st.text(max_size=8),
    st.sampled_from([[], {}, [[]], [{}], {"a": {}}, {"value": []}, ["x", 1]]),
)


def places(value, path=()):
    """Give the path of every value inside a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inner:
        yield (*path, key)
        yield from places(member, (*path, key))


def put(document, path, value):
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return document


LOGS = {"atif": ATIF, "inspect_ai": INSPECT, "otel_genai": OTEL}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_claimed_by_its_own_format_only(name):
    sample = Sample("x", "document", (LOGS[name],))
    foreign = [log_format for log_format in FORMATS if log_format not in NATIVE_FORMATS]
    assert [log_format.NAME for log_format in foreign if log_format.detect(sample)] == [name]


@pytest.mark.parametrize("document", LOGS.values(), ids=LOGS)
def test_any_value_in_any_place_is_read_or_quarantined(read, document):
    paths = list(places(document))

    @settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.sampled_from(paths), ANYTHING, st.booleans())
    def check(path, value, as_line):
        text = json.dumps(put(document, path, value))
        tables = read({"logs/x.jsonl": text + "\n" if as_line else text, "logs/y.json": json.dumps(document)})
        for table in TABLES:
            tables.frame(table)

    check()
