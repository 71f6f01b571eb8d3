"""No value in any place of a stream or checkpoint breaks a contract, loses a record or goes beyond its file."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.builtin import cross_checks, unchecked

TABLES = ("core_runs", "core_steps", "core_usage", "core_declared", "core_components", "core_file_changes",
          "core_approvals", "raw_log_files", "raw_quarantine")  # fmt: skip
USAGE = {"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4}
STREAM = [
    {"type": "system", "subtype": "init", "session_id": "s", "permissionMode": "plan", "claude_code_version": "2"},
    {"type": "stream_event", "session_id": "s", "event": {"type": "message_start", "message": {"id": "m"}}},
    {"type": "assistant", "session_id": "s", "parent_tool_use_id": None, "message": {
        "id": "m", "model": "x", "usage": USAGE, "stop_reason": "end_turn",
        "content": [{"type": "tool_use", "id": "t", "name": "Task", "input": {"command": "ls", "file_path": "/a"}}]}},
    {"type": "stream_event", "session_id": "s", "event": {"type": "message_delta", "usage": {"output_tokens": 3}}},
    {"type": "control_request", "request_id": "r", "request": {"subtype": "can_use_tool", "tool_use_id": "t"}},
    {"type": "control_response", "response": {"request_id": "r", "response": {"behavior": "deny", "message": "no"}}},
    {"type": "assistant", "session_id": "s", "parent_tool_use_id": "t", "message": {"id": "n", "content": []}},
    {"type": "user", "session_id": "s", "tool_use_result": {"totalTokens": 4, "totalToolUseCount": 0},
     "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok", "is_error": False}]}},
    {"type": "result", "subtype": "success", "session_id": "s", "num_turns": 2, "usage": USAGE, "duration_ms": 1,
     "total_cost_usd": 0.5, "modelUsage": {"x": {"costUSD": 0.5, "inputTokens": 1}},
     "permission_denials": [{"tool_use_id": "t"}]},
]  # fmt: skip
COUNTS = {"input_tokens": 1, "cache_creation_tokens": 2, "cache_read_tokens": 3, "output_tokens": 4,
          "api_call_count": 1}  # fmt: skip
ROOT = {"checkpoint_id": "c", "checkpoints_count": 1, "sessions": [{}], "files_touched": ["a"], "token_usage": COUNTS}
SESSION = {
    "checkpoint_id": "c",
    "session_id": "s",
    "checkpoints_count": 1,
    "files_touched": ["a"],
    "token_usage": COUNTS,
    "agent": "Claude Code",
    "model": "x",
    "token_usage_version": 1,
    "token_transcript_start": 0,
    "checkpoint_transcript_start": 0,
    "initial_attribution": {"agent_lines": 1, "total_committed": 2, "agent_percentage": 50, "total_lines_changed": 2},
}
CHECKPOINT = [ROOT, SESSION]
LOGS = {"stream": STREAM, "checkpoint": CHECKPOINT}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8).filter(lambda text: text.isprintable()) | st.sampled_from(["s", "t", "m", "allow"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "id", "content"]), inner),
    max_leaves=6,
)  # fmt: skip


def places(value, path=()):
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(member, dict | list):
            yield from places(member, (*path, key))


def planted(log, path, value):
    log = copy.deepcopy(log)
    at = log
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return log


def files(name, log):
    if name == "stream":
        return {"logs/x.jsonl": "".join(json.dumps(event) + "\n" for event in log)}
    return {"logs/metadata.json": json.dumps(log[0]), "logs/0/metadata.json": json.dumps(log[1])}


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_value_in_any_place_breaks_a_contract_or_leaves_a_number_unanswered(read, name, data):
    path = data.draw(st.sampled_from(list(places(LOGS[name]))))
    tables = read(files(name, planted(LOGS[name], path, data.draw(JSON))))
    frames = {table: tables.frame(table) for table in TABLES}  # checks the contracts
    checks = cross_checks(frames["core_declared"], frames["core_components"], frames["raw_quarantine"])
    assert unchecked(frames["core_declared"], checks).empty


@pytest.mark.parametrize("name", LOGS)
def test_reading_the_same_files_twice_in_a_round_keeps_every_key_unique(read, name):
    once = files(name, LOGS[name])
    tables = read({**once, **{path.replace("logs/", "logs/again/"): text for path, text in once.items()}})
    for table in TABLES:
        tables.frame(table)
