"""What holds for every foreign format: its names, its detection, and that no log can break it."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.logfile import Sample
from governance_pipeline.ingest.native.kinds import NATIVE_FORMATS

FOREIGN = FORMATS[len(NATIVE_FORMATS) :]
TABLES = (
    "core_runs",
    "core_steps",
    "core_usage",
    "core_declared",
    "core_components",
    "core_file_changes",
    "core_approvals",
)
USAGE = {"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4}
EDIT = {"filePath": "/a", "structuredPatch": [{"lines": ["+a"]}], "totalTokens": 5, "agentId": "a1"}
CLAUDE = [
    {
        "type": "assistant",
        "isSidechain": False,
        "sessionId": "s",
        "uuid": "u1",
        "timestamp": "2026-01-05T10:00:00Z",
        "message": {
            "id": "m",
            "model": "x",
            "usage": USAGE,
            "content": [
                {
                    "type": "tool_use",
                    "id": "t",
                    "name": "Edit",
                    "input": {"file_path": "/a", "old_string": "a", "new_string": "b"},
                }
            ],
        },
    },
    {
        "type": "user",
        "isSidechain": True,
        "sessionId": "s",
        "uuid": "u2",
        "parentUuid": "u1",
        "agentId": "a1",
        "toolUseResult": EDIT,
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok", "is_error": False}]},
    },
]
SWE = {
    "trajectory": [
        {
            "action": "edit 1:1\nx\nend_of_edit",
            "observation": "File updated.",
            "state": {"open_file": "/a"},
            "execution_time": 1.5,
        }
    ],
    "history": [{"role": "assistant", "agent": "main", "is_demo": False}],
    "info": {
        "exit_status": "submitted",
        "submission": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        "model_stats": {"instance_cost": 0.5, "tokens_sent": 1, "api_calls": 1},
    },
    "replay_config": {"agent": {"model": {"name": "m"}}},
}
MINI = {
    "trajectory_format": "mini-swe-agent-1.1",
    "info": {
        "model_stats": {"instance_cost": 0.5, "api_calls": 1},
        "submission": SWE["info"]["submission"],
        "config": {"model": {"model_name": "m"}},
    },
    "messages": [
        {
            "role": "assistant",
            "content": "x",
            "extra": {
                "cost": 0.5,
                "timestamp": 1,
                "actions": [{"command": "ls", "tool_call_id": "c"}],
                "response": {"id": "r", "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}},
            },
        },
        {
            "role": "tool",
            "tool_call_id": "c",
            "content": "x",
            "extra": {"returncode": 0, "raw_output": "x", "exception_info": ""},
        },
    ],
}
HANDS = {
    "instance_id": "i",
    "history": [
        {
            "id": 1,
            "action": "edit",
            "source": "agent",
            "timestamp": "t",
            "args": {"path": "/a"},
            "tool_call_metadata": {"function_name": "f", "model_response": {"id": "r", "usage": {"prompt_tokens": 1}}},
        },
        {
            "id": 2,
            "observation": "edit",
            "cause": 1,
            "content": "x",
            "extras": {"path": "/a", "old_content": "a", "new_content": "b", "metadata": {"exit_code": 0}},
        },
    ],
    "metrics": {
        "accumulated_cost": 0.5,
        "accumulated_token_usage": {"prompt_tokens": 1},
        "costs": [{"cost": 0.5, "model": "m", "timestamp": 1}],
        "token_usages": [{"model": "m", "prompt_tokens": 1, "response_id": "r"}],
    },
    "test_result": {"git_patch": SWE["info"]["submission"]},
}
STATE = {
    "id": "c",
    "agent": {"llm": {"model": "m"}},
    "execution_status": "finished",
    "stats": {"usage_to_metrics": {"agent": HANDS["metrics"]}},
}
EVENTS = [
    {
        "id": "1",
        "kind": "ActionEvent",
        "source": "agent",
        "timestamp": "t",
        "tool_name": "terminal",
        "tool_call_id": "c",
        "action": {"command": "ls"},
    },
    {
        "id": "2",
        "kind": "ObservationEvent",
        "source": "environment",
        "timestamp": "t",
        "action_id": "1",
        "observation": {"content": [{"text": "x"}], "exit_code": 0},
    },
    {
        "id": "3",
        "kind": "ConversationStateUpdateEvent",
        "source": "environment",
        "timestamp": "t",
        "key": "stats",
        "value": STATE["stats"],
    },
]
CALL = {
    "response": {
        "id": "r",
        "usage": {"prompt_tokens": 1},
        "choices": [
            {
                "message": {
                    "tool_calls": [{"id": "c", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}]
                }
            }
        ],
    },
    "cost": 0.5,
    "latency_sec": 1,
    "timestamp": 1,
}
COUNTED = {"input_tokens": 2, "cached_input_tokens": 1, "output_tokens": 1, "total_tokens": 3}
CODEX = [
    {"timestamp": "2026-02-23T11:40:00Z", "type": kind, "payload": payload}
    for kind, payload in (
        ("session_meta", {"id": "s", "forked_from_id": "p", "source": {"subagent": {"thread_spawn": {"depth": 0}}}}),
        ("turn_context", {"model": "m", "effort": "high", "approval_policy": "never", "approvals_reviewer": "x"}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": '{"cmd": "ls"}', "call_id": "c"}),
        ("response_item", {"type": "function_call_output", "call_id": "c", "output": "Exit code: 0\nOutput:\n"}),
        ("response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": "x", "call_id": "d"}),
        ("event_msg", {"type": "patch_apply_end", "call_id": "d", "success": True,
                       "changes": {"/a": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": None}}}),
        ("event_msg", {"type": "exec_command_end", "call_id": "e", "command": ["ls"], "exit_code": 0,
                       "duration": {"secs": 1, "nanos": 5}, "status": "declined", "stderr": "x"}),
        ("event_msg", {"type": "mcp_tool_call_end", "call_id": "f", "invocation": {"tool": "t"},
                       "result": {"Ok": {"isError": False}}}),
        ("event_msg", {"type": "guardian_assessment", "status": "approved", "target_item_id": "c", "rationale": "y"}),
        ("event_msg", {"type": "exited_review_mode", "review_output": {"overall_correctness": "good"}}),
        ("event_msg", {"type": "token_count", "info": {"total_token_usage": COUNTED, "last_token_usage": COUNTED}}),
        ("event_msg", {"type": "task_complete", "turn_id": "t", "duration_ms": 5}),
        ("event_msg", {"type": "item_completed", "item": {"type": "FileChange", "id": "g", "changes": {}}}),
    )
]  # fmt: skip
LANGFUSE = {
    "trace": {"id": "t", "projectId": "p", "latency": 1.5, "scores": [{"name": "n", "value": 1, "source": "EVAL"}]},
    "observations": [
        {
            "id": "a",
            "type": "GENERATION",
            "startTime": "2026-01-05T10:00:00Z",
            "endTime": "2026-01-05T10:00:01Z",
            "latency": 1,
            "usageDetails": {"input": 1, "output": 2, "total": 3},
            "costDetails": {"input": 0.5, "total": 0.5},
        },
        {
            "id": "b",
            "type": "TOOL",
            "parentObservationId": "a",
            "input": {"command": "ls"},
            "metadata": {"attributes": {"gen_ai.usage.input_tokens": "1", "gen_ai.tool.name": "bash"}},
        },
    ],
}
LOGS = {
    "codex_rollout": CODEX,
    "langfuse_trace": LANGFUSE,
    "claude_code": CLAUDE,
    "swe_agent": SWE,
    "mini_swe_agent": MINI,
    "openhands record": HANDS,
    "openhands stream": [HANDS["history"]],
    "openhands state": STATE,
    "openhands events": EVENTS,
    "openhands call": CALL,
    "openhands_index outcomes": {"a": {"resolved": True, "cost": 0.5}, "b": {"resolved": None, "cost": None}},
    "swebench report": {"a__b-1": {"patch_successfully_applied": True, "resolved": True, "tests_status": {}}},
    "swebench predictions": [{"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": ""}],
    "swebench_pro": {"instance_a__b-1": True, "instance_a__b-2": False},
}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5).filter(str.isprintable),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["id", "content", "usage", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value, path=()):
    """Give the path of every value inside a log."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield from places(child, (*path, name))


def planted(value, path, new):
    if not path:
        return new
    value = copy.deepcopy(value)
    inner = value
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = new
    return value


def as_text(log):
    return "".join(json.dumps(line) + "\n" for line in log) if isinstance(log, list) else json.dumps(log, indent=1)


def test_every_format_is_listed_once_and_recomputes_only_what_it_declares():
    names = [log_format.NAME for log_format in FORMATS]
    assert len(set(names)) == len(names)
    assert FORMATS[: len(NATIVE_FORMATS)] == NATIVE_FORMATS
    assert all(set(log_format.RECOMPUTABLE) <= set(log_format.DECLARES) for log_format in FOREIGN)
    assert all(log_format.__doc__ and log_format.VERSIONS for log_format in FORMATS)


@pytest.mark.parametrize("log_format", FOREIGN, ids=lambda log_format: log_format.NAME)
def test_every_check_of_the_catalogue_is_of_a_field_its_format_declares(log_format):
    checked = {entry.check.field for entry in catalogue().entries if entry.format == log_format.NAME}
    assert checked <= set(log_format.RECOMPUTABLE)


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_claimed_by_its_own_format_only(name):
    log = LOGS[name]
    sample = Sample("x", "jsonl", tuple(log)) if isinstance(log, list) else Sample("x", "document", (log,))
    assert [f.NAME for f in FOREIGN if f.detect(sample)] == [name.split(" ")[0]]


@pytest.mark.parametrize("values", [(), ({},), ([],), ([[]],), ([None],), ([5],), ({"a": 1}, []), ({"type": "user"},)])
def test_a_file_of_nothing_known_is_claimed_by_nobody(values):
    for shape in ("jsonl", "document", "other"):
        assert not any(log_format.detect(Sample("x.traj", shape, values)) for log_format in FOREIGN)


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_value_in_any_place_breaks_a_contract_or_loses_a_record(read, name, data):
    log = LOGS[name]
    path = data.draw(st.sampled_from(list(places(log))))
    tables = read({"logs/x": as_text(planted(log, path, data.draw(JSON)))})
    for table in (*TABLES, "raw_log_files", "raw_quarantine"):
        tables.frame(table)  # checks the contract


@pytest.mark.parametrize("name", LOGS)
def test_reading_the_same_log_twice_in_a_round_keeps_every_key_unique(read, name):
    text = as_text(LOGS[name])
    tables = read({"logs/a/x": text, "logs/b/x": text})
    for table in TABLES:
        tables.frame(table)
    assert len(list(tables.rows("raw_log_files"))) == 2
