"""Stream output: totals of the result are held against finished messages only, and who answered is never guessed."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.formats import claude_code, claude_code_stream
from governance_pipeline.ingest.logfile import Sample

LOG = "logs/stream.jsonl"
INIT = {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "permissionMode": "plan",
        "claude_code_version": "2.1.9"}  # fmt: skip


def says(usage=None, *blocks, message_id="m1", stop="end_turn", parent=None, session="s"):
    message = {"id": message_id, "model": "m", "content": list(blocks), "stop_reason": stop}
    event = {"type": "assistant", "session_id": session, "parent_tool_use_id": parent, "message": message}
    message.update({"usage": usage} if usage is not None else {})
    return event


def tool(call_id="t1", name="Bash", **call):
    return {"type": "tool_use", "id": call_id, "name": name, "input": call}


def answers(call_id="t1", content="ok", parent=None, result=None, **more):
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}
    event = {"type": "user", "session_id": "s", "parent_tool_use_id": parent, "message": {"content": [block]}}
    return event | ({"tool_use_result": result} if result is not None else {})


def result(**more):
    return {"type": "result", "subtype": "success", "session_id": "s", "num_turns": 1, **more}


def total(input_tokens, output_tokens, creation=0, read=0):
    return {"input_tokens": input_tokens, "output_tokens": output_tokens, "cache_creation_input_tokens": creation,
            "cache_read_input_tokens": read}  # fmt: skip


@pytest.fixture
def checks(read):
    """Give a function that reads one stream and returns {(subject, check): (declared, computed, status or reason)}."""

    def _checks(events, name=LOG):
        tables = read({name: events})
        frames = (tables.frame(table) for table in ("core_declared", "core_components", "raw_quarantine"))
        rows = cross_checks(*frames).astype(object)
        return {
            (row["subject_id"], row["check_id"].removeprefix("claude_code_stream_")): (
                row["declared"],
                row["computed"],
                row["reason_code"] or row["status"],
            )
            for row in rows.where(rows.notna(), None).to_dict("records")
        }

    return _checks


def test_usage_of_the_result_is_that_of_each_message_once(checks):
    events = [
        INIT,
        says(total(3, 9, 5, 7), {"type": "text", "text": "a"}),
        says(total(3, 9, 5, 7), tool()),
        answers(),
        says(total(4, 2, 0, 11), message_id="m2"),
        result(usage=total(7, 11, 5, 18), num_turns=2),
    ]
    found = checks(events)
    for column in ("input_tokens", "output_tokens", "cache_creation_tokens", "cache_read_tokens"):
        assert found["s", f"result_{column}"][2] == "match", column
    assert found["s", "num_turns"] == ("2", "2", "match")
    events[-1]["usage"]["input_tokens"] = 8
    assert checks(events)["s", "result_input_tokens"] == ("8", "7", "mismatch")


def test_the_output_count_of_an_unfinished_message_is_unknown_not_small(checks, read):
    events = [INIT, says(total(3, 1, 5, 7), stop=None), result(usage=total(3, 5, 5, 7))]
    found = checks(events)
    assert found["s", "result_output_tokens"] == ("5", None, "component_missing_value")
    assert found["s", "result_input_tokens"] == ("3", "3", "match")
    (usage,) = read({LOG: events}).rows("core_usage")
    assert usage["output_tokens"] == 1, "as reported"


def test_with_partial_messages_the_last_delta_has_the_count(checks):
    def partial(event):
        return {"type": "stream_event", "session_id": "s", "parent_tool_use_id": None, "event": event}

    events = [
        partial({"type": "message_delta", "usage": {"output_tokens": 99}}),
        partial({"type": "message_start", "message": {"id": "m1"}}),
        INIT,
        says(total(3, 1), stop=None),
        partial({"type": "message_delta", "usage": {"output_tokens": 5}}),
        partial({"type": "message_delta", "usage": {"output_tokens": "6"}}),
        result(usage=total(3, 5)),
    ]
    assert checks(events)["s", "result_output_tokens"] == ("5", "5", "match")


def test_the_cost_is_that_of_its_models_and_no_price_is_not_free(checks):
    models = {"a/b": {"costUSD": 0.01}, "c~d": {"costUSD": 0.02}}
    assert checks([INIT, result(total_cost_usd=0.03, modelUsage=models)])["s", "total_cost_usd"][2] == "match"
    assert checks([INIT, result(total_cost_usd=0.04, modelUsage=models)])["s", "total_cost_usd"][2] == "mismatch"
    models["c~d"]["costUSD"] = 0
    found = checks([INIT, result(total_cost_usd=0.01, modelUsage=models)])
    assert found["s", "total_cost_usd"] == ("0.01", None, "component_missing_value")
    assert checks([INIT, result(total_cost_usd=0)])["s", "total_cost_usd"][2] == "declared_missing"


def test_num_turns_counts_the_prompt_and_each_message_of_results_not_calls_to_the_model(checks):
    events = [
        INIT,
        says(None, tool("t1"), tool("t2"), tool("t3")),
        *(answers(name) for name in ("t1", "t2", "t3")),
        says(message_id="m2"),
        result(num_turns=4),
    ]
    assert checks(events)["s", "num_turns"] == ("4", "4", "match")
    del events[-1]["num_turns"]
    assert checks([*events[:-1], result() | {"num_turns": None}])["s", "num_turns"] == (None, "4", "declared_missing")
    assert checks(events)["s", "num_turns"] == (None, "4", "declared_missing")


def test_a_result_alone_has_no_parts(checks, read):
    alone = json.dumps(result(usage=total(1, 2), total_cost_usd=0.5), indent=1)
    found = checks(alone, "logs/out.json")
    assert {reason for _, _, reason in found.values()} == {"components_missing"}
    (run,) = read({"logs/out.json": alone}).rows("core_runs")
    assert (run["run_id"], run["exit_status"], run["format"]) == ("s", "success", "claude_code_stream")


def test_what_a_second_result_covers_is_unknown(checks):
    events = [INIT, says(total(3, 9)), result(usage=total(3, 9)), says(total(4, 2), message_id="m2")]
    found = checks([*events, result(usage=total(4, 2))])
    assert found["s/result-1", "result_input_tokens"] == ("3", None, "components_missing")
    assert found["s/result-2", "num_turns"][2] == "components_missing"


def test_zeros_of_a_result_are_no_measurement(checks):
    found = checks([INIT, says(total(0, 0)), result(usage=total(0, 0))])
    assert found["s", "result_input_tokens"] == (None, None, "declared_missing")


def test_a_sub_agent_is_a_run_of_its_own_and_makes_the_usage_unclear(checks, read):
    task = tool("t1", "Task", subagent_type="explorer", prompt="look")
    totals = {"totalTokens": 10, "totalToolUseCount": 1, "totalDurationMs": 5}
    events = [
        INIT,
        says(total(1, 1), task),
        says(total(7, 2), tool("t2", "Bash", command="touch x"), message_id="sub", parent="t1"),
        answers("t2", parent="t1"),
        says(total(3, 4, 1, 2), message_id="sub-2", parent="t1"),
        answers("t1", result=totals),
        result(usage=total(1, 1), num_turns=2),
    ]
    runs = {row["run_id"]: row for row in read({LOG: events}).rows("core_runs")}
    assert (runs["s/t1"]["parent_run_id"], runs["s/t1"]["agent_id"]) == ("s", "explorer")
    assert (runs["s/t1"]["opaque_step_count"], runs["s"]["opaque_step_count"]) == (1, 0)
    found = checks(events)
    assert found["s", "result_input_tokens"][2] == "components_missing"
    assert found["s", "num_turns"] == ("2", "2", "match")
    assert found["s/t1", "subagent_total_tokens"] == ("10", "10", "match")
    assert found["s/t1", "subagent_tool_use_count"] == ("1", "1", "match")


def test_totals_of_a_sub_agent_that_is_not_in_the_stream_have_no_parts(checks):
    events = [INIT, says(None, tool("t1", "Task")), answers("t1", result={"totalTokens": 10}), result()]
    assert checks(events)["s/t1", "subagent_total_tokens"] == ("10", None, "components_missing")


def test_the_first_message_of_the_sdk_belongs_to_the_session_that_follows(read):
    sent = {"type": "user", "session_id": "default", "message": {"role": "user"}}
    tables = read({LOG: [{"type": "control_request", "request_id": "r"}, sent, INIT, says()]})
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["session_id"], run["platform"], run["model_id"]) == ("s", "s", "claude-code 2.1.9", "m")


def test_two_sessions_in_a_file_are_two_runs_and_events_without_a_name_stay_with_the_one_before(read):
    events = [INIT, says(None, tool("t1"), session="s"), INIT | {"session_id": "z"}, says(session="z"), answers()]
    events[-1].pop("session_id")
    tables = read({LOG: [*events, says(message_id="m3", session="s")]})
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["s", "z"]


def test_a_list_of_events_is_read_like_lines(read):
    events = [INIT, says(total(1, 2), tool("t1", "Edit", file_path="/a", old_string="x", new_string="y")), answers(), 7]
    tables = read({"logs/out.json": json.dumps(events)})
    (file,) = tables.rows("raw_log_files")
    assert (file["format"], file["lines_in"], file["accepted"], file["quarantined"]) == ("claude_code_stream", 4, 3, 1)
    (change,) = tables.rows("core_file_changes")
    assert (change["file_path"], change["added_count"], change["deleted_count"]) == ("/a", 1, 1)
    assert [row["pointer"] for row in tables.rows("core_usage")] == ["/1/message/usage"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("3", "not_an_object"),
        ('{"session_id": "s"}', "no_type"),
        ('{"type": "assistant", "session_id": "s"}', "bad_message"),
        ('{"type": "assistant", "session_id": "s", "message": {"content": 1}}', "bad_content"),
        ('{"type": "user", "session_id": "s", "message": {"content": [1]}}', "bad_content"),
        ('{"type": "assis', "malformed_json"),
    ],
)
def test_an_event_that_cannot_be_used_is_quarantined(read, line, code):
    tables = read({LOG: f"{json.dumps(INIT)}\n{line}\n{json.dumps(result())}\n"})
    assert [(row["line"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [(2, code)]


def approvals(read, events):
    return [
        (row["kind"], row["by"], row["call_id"], row["result"], row["reason"])
        for row in read({LOG: events}).rows("core_approvals")
    ]


def test_modes_and_denials_are_kept_and_a_denial_names_nobody(read):
    denial = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {}}
    events = [INIT, says(None, tool("t1")), answers(content="denied", is_error=True), INIT]
    found = approvals(read, [*events, result(permission_denials=[denial, "x"])])
    assert found == [
        ("mode", None, None, "plan", None),
        ("rejected", None, "t1", None, None),
        ("rejected", None, None, None, None),
    ]


def test_a_human_refusal_listed_as_denial_too_is_one(read):
    text = "The user doesn't want to proceed with this tool use. the user said:\nno"
    events = [says(None, tool("t1")), answers(content=text, is_error=True)]
    assert approvals(read, [*events, result(permission_denials=[{"tool_use_id": "t1"}])]) == [
        ("rejected", "human", "t1", None, "no")
    ]


@pytest.mark.parametrize(("behavior", "kinds"), [("allow", ["approved"]), ("deny", ["rejected"]), ("later", [])])
def test_the_host_of_the_sdk_answers_what_it_was_asked(read, behavior, kinds):
    asked = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t1"}
    answer = {"subtype": "success", "request_id": "r1", "response": {"behavior": behavior, "message": "because"}}
    events = [
        says(),
        {"type": "control_request", "request_id": "r1", "request": asked},
        {"type": "control_response", "response": answer},
        {"type": "control_response", "response": answer | {"request_id": "r2"}},
    ]
    assert approvals(read, events) == [(kind, None, "t1", None, "because") for kind in kinds]


@pytest.mark.parametrize(
    "value",
    [
        {"type": "assistant", "sessionId": "s", "message": {"content": []}},
        {"type": "result", "status": "success", "stats": {}, "session_id": "s"},
        {"type": "init", "session_id": "s", "model": "gemini"},
        {"type": "user", "message": {"content": "x"}},
        {"type": "system", "subtype": "other", "session_id": "s"},
        {"type": "message", "session_id": "s", "message": {"content": []}},
    ],
)
def test_events_of_other_tools_and_of_session_files_are_not_claimed(value):
    assert not claude_code_stream.detect(Sample("x", "jsonl", (value,)))
    assert not claude_code_stream.detect(Sample("x", "document", ([value],)))


def test_a_stream_is_not_taken_for_a_session_file():
    assert not claude_code.detect(Sample("x", "jsonl", (INIT, says(), answers(), result())))
