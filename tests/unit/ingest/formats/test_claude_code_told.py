"""A session whose stream or result lies beside its own file is one round, and each of its calls counts once."""

from __future__ import annotations

import json

import pytest

SESSION = "0b6e6f1e-52d5-4f0f-9d3c-3f1a4b1f7c11"
OTHER = "11111111-52d5-4f0f-9d3c-3f1a4b1f7c11"
USAGE = {"input_tokens": 3, "output_tokens": 90, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 7}
EDIT = {"type": "tool_use", "id": "t1", "name": "Edit"}
EDIT["input"] = {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


def answer(name, session, **more):
    message = {"id": "m1", "model": "m", "role": "assistant", "content": [EDIT], "usage": USAGE} | more
    return {"type": "assistant", name: session, "uuid": "u1", "isSidechain": False, "message": message}


def outcome(name, session, content="ok"):
    block = {"type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": content != "ok"}
    message = {"role": "user", "content": [block]}
    return {"type": "user", name: session, "uuid": "u2", "isSidechain": False, "message": message}


def own(session=SESSION, content="ok"):
    return [answer("sessionId", session), outcome("sessionId", session, content)]


def streamed(session=SESSION, content="ok"):
    events = [{"type": "system", "subtype": "init", "session_id": session, "model": "m"}]
    events += [answer("session_id", session, stop_reason=None, usage=USAGE | {"output_tokens": 1})]
    events += [outcome("session_id", session, content)]
    events += [{"type": "result", "subtype": "success", "session_id": session, "num_turns": 2, "total_cost_usd": 0.1}]
    return [{name: value for name, value in event.items() if name not in ("uuid", "isSidechain")} for event in events]


def test_what_both_files_tell_counts_once_and_the_stream_says_what_it_repeats(read):
    tables = read({f"logs/{SESSION}.jsonl": own(), "logs/out.jsonl": streamed()})
    assert [(row["path"], row["call_id"]) for row in tables.rows("core_steps")] == [(f"logs/{SESSION}.jsonl", "t1")]
    assert len(list(tables.rows("core_file_changes"))) == 1
    first, second = tables.rows("core_usage")
    assert (first["output_tokens"], first["duplicate_of"]) == (90, None)
    assert second["duplicate_of"] == f"logs/{SESSION}.jsonl:1:/message/usage"
    (row,) = tables.rows("raw_quarantine")
    assert (row["path"], row["line"], row["pointer"]) == ("logs/out.jsonl", 2, "/message/content/0")
    assert (row["disposition"], row["reason_code"], row["dedup_key"]) == ("repeated_part", "repeated_call", "t1")
    assert row["duplicate_of"] == f"logs/{SESSION}.jsonl:1:/message/content/0"
    assert {(run["session_id"], run["format"]) for run in tables.rows("core_runs")} == {
        (SESSION, "claude_code"),
        (SESSION, "claude_code_stream"),
    }
    assert {row["field"] for row in tables.rows("core_declared")} >= {"num_turns", "total_cost_usd"}


def test_a_decision_both_files_tell_is_one(read):
    files = {f"logs/{SESSION}.jsonl": own(content=REJECTED), "logs/out.jsonl": streamed(content=REJECTED)}
    tables = read(files)
    assert [(row["kind"], row["path"]) for row in tables.rows("core_approvals")] == [
        ("rejected", f"logs/{SESSION}.jsonl")
    ]
    assert {row["pointer"] for row in tables.rows("raw_quarantine")} == {"/message/content/0"}


@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_the_stream_of_another_session_keeps_its_calls(read, name):
    events = streamed(OTHER)
    content = json.dumps(events) if name.endswith("json") else events
    tables = read({f"logs/{SESSION}.jsonl": own(), f"logs/{name}": content})
    assert len(list(tables.rows("core_steps"))) == 2
    assert [row["duplicate_of"] for row in tables.rows("core_usage")] == [None, None]
    assert list(tables.rows("raw_quarantine")) == []
