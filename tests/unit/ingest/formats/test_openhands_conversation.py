"""SDK conversations: one run over many files, and cumulative statistics that are never added up."""

from __future__ import annotations

import json

import pytest

FOLDER = "logs/conv"


def event(kind, number=1, **members):
    return {"id": f"e-{number}", "timestamp": "2026-02-05T11:24:45.2", "source": "agent", "kind": kind, **members}


def action(number=1, tool="terminal", **arguments):
    call = {"id": f"call-{number}", "name": tool, "arguments": "{}"}
    return event("ActionEvent", number, action=arguments, tool_name=tool, tool_call_id=call["id"], tool_call=call)


def answer(number=1, tool="terminal", **report):
    names = {"action_id": f"e-{number}", "tool_name": tool, "tool_call_id": f"call-{number}"}
    return event("ObservationEvent", 100 + number, observation={"content": [], "is_error": False, **report}, **names)


def stats(tokens, **lists):
    total = {
        "prompt_tokens": tokens,
        "completion_tokens": 5,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "reasoning_tokens": 1,
    }
    return {
        "usage_to_metrics": {
            "agent": {"model_name": "m", "accumulated_cost": 0.5, "accumulated_token_usage": total, **lists}
        }
    }


def update(number, key, value):
    return event("ConversationStateUpdateEvent", number, key=key, value=value)


def state(**members):
    llm = {"model": "openai/m", "reasoning_effort": "high"}
    return {"id": "c0ffee", "agent": {"llm": llm, "kind": "Agent"}, "execution_status": "finished", **members}


@pytest.fixture
def folder(read):
    """Give a function that reads a persisted conversation: its state, and one file per event."""

    def _folder(base_state, *events):
        files = {f"{FOLDER}/events/event-{number:05d}-x.json": json.dumps(value) for number, value in enumerate(events)}
        return read(files | ({f"{FOLDER}/base_state.json": json.dumps(base_state)} if base_state else {}))

    return _folder


def declared(tables):
    return {(row["subject_id"], row["field"]): row["value_raw"] for row in tables.rows("core_declared")}


def test_the_files_of_one_folder_are_one_run(folder):
    tables = folder(state(), action(1, command="ls"), answer(1, exit_code=0))
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["session_id"], run["exit_status"]) == ("c0ffee", "c0ffee", "finished")
    assert (run["model_id"], run["thinking"], run["platform"]) == ("openai/m", "high", "openhands-sdk")
    (step,) = tables.rows("core_steps")
    assert (step["tool"], step["command"], step["exit_code"], step["status"]) == ("terminal", "ls", 0, "ok")
    assert {row["record_unit"] for row in tables.rows("raw_log_files")} == {"record"}


def test_without_its_state_a_conversation_is_named_by_its_folder(folder):
    assert [row["run_id"] for row in folder(None, action(1, command="ls")).rows("core_runs")] == [FOLDER]


def test_the_state_has_the_lists_of_its_totals(folder):
    usages = [
        {
            "model": "m",
            "prompt_tokens": 40,
            "completion_tokens": 5,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "reasoning_tokens": 1,
            "response_id": "r1",
        }
    ]
    costs = [{"model": "m", "cost": 0.5, "timestamp": 1770290687.1425076}]
    tables = folder(state(stats=stats(40, costs=costs, token_usages=usages)))
    assert declared(tables)["c0ffee/agent", "accumulated_reasoning_tokens"] == "1"
    assert {
        (r["source"], r["column"]): r["value_raw"] for r in tables.rows("core_components") if r["source"] == "costs"
    } == {("costs", "cost"): "0.5"}
    (usage,) = tables.rows("core_usage")
    assert (usage["run_id"], usage["cost_lexeme"], usage["at"].year) == ("c0ffee", "0.5", 2026)
    assert next(tables.rows("core_runs"))["started_at"] == usage["at"]


def test_of_cumulative_statistics_the_last_counts_and_has_no_parts(read):
    lines = [
        update(1, "stats", stats(10)),
        action(2, command="ls"),
        update(3, "stats", stats(30)),
        update(4, "execution_status", "stuck"),
    ]
    tables = read({"logs/events.jsonl": lines})
    assert declared(tables)["logs/events.jsonl/agent", "accumulated_prompt_tokens"] == "30"
    assert {row["line"] for row in tables.rows("core_declared")} == {3}
    assert tables.frame("core_components").empty
    assert [row["exit_status"] for row in tables.rows("core_runs")] == ["stuck"]


def test_statistics_on_events_do_not_replace_those_of_the_state(folder):
    tables = folder(state(stats=stats(40)), update(1, "stats", stats(10)), update(2, "execution_status", "running"))
    assert declared(tables)["c0ffee/agent", "accumulated_prompt_tokens"] == "40"
    assert [row["exit_status"] for row in tables.rows("core_runs")] == ["finished"]


def test_a_full_state_on_an_event_is_a_state(read):
    lines = [update(1, "full_state", state(stats=stats(7))), action(2, command="ls")]
    assert declared(read({"logs/events.jsonl": lines}))["logs/events.jsonl/agent", "accumulated_prompt_tokens"] == "7"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (answer(1, exit_code=0), "ok"),
        (answer(1, exit_code=1), "error"),
        (answer(1, metadata={"exit_code": -1}, exit_code=None), "ok"),
        (answer(1, is_error=True), "error"),
        (answer(1, timeout=True), "error"),
        (
            event("UserRejectObservation", 2, action_id="e-1", rejection_reason="no", rejection_source="user"),
            "rejected",
        ),
        (event("UserRejectObservation", 2, action_id="e-1", rejection_reason="no"), "rejected"),
        (event("UserRejectObservation", 2, action_id="e-1", rejection_reason="no", rejection_source="hook"), "error"),
        (event("AgentErrorEvent", 2, tool_call_id="call-1", tool_name="terminal", error="bad arguments"), "error"),
        (event("MessageEvent", 2, llm_message={}), None),
    ],
)
def test_how_a_call_ended_is_what_answers_it(read, reply, status):
    assert [row["status"] for row in read({"logs/e.jsonl": [action(1, command="ls"), reply]}).rows("core_steps")] == [
        status
    ]


def test_an_edit_is_counted_from_its_report_and_a_view_is_none(read):
    lines = [
        action(1, "file_editor", command="str_replace", path="/w/a"),
        answer(1, "file_editor", path="/w/a", old_content="x\n", new_content="y\nz\n", prev_exist=True),
        action(2, "file_editor", command="view", path="/w/a"),
        answer(2, "file_editor", path="/w/a"),
        action(3, "str_replace_editor", command="create", path="/w/b"),
        answer(3, "str_replace_editor", path="/w/b", new_content="n\n", prev_exist=False),
    ]
    tables = read({"logs/e.jsonl": lines})
    assert [
        (r["step_index"], r["file_path"], r["added_count"], r["deleted_count"], r["tool"])
        for r in tables.rows("core_file_changes")
    ] == [
        (1, "/w/a", 2, 1, "file_editor"),
        (3, "/w/b", 1, 0, "str_replace_editor"),
    ]
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [0]


def test_a_usage_id_that_imitates_another_subject_does_not_merge_with_it(read):
    def conversation(name, usage_id):
        metrics = {"accumulated_cost": 0.5, "costs": [0.5]}
        return json.dumps(state(id=name, stats={"usage_to_metrics": {usage_id: metrics}}))

    tables = read(
        {"logs/a/base_state.json": conversation("c", "x/y"), "logs/b/base_state.json": conversation("c/x", "y")}
    )
    subjects = [row["subject_id"] for row in tables.rows("core_declared")]
    assert subjects == ["c/x/y", "c/x/y@logs/b/base_state.json"]
    assert [row["subject_id"] for row in tables.rows("core_components")] == subjects


def test_a_sub_agent_is_a_run_of_its_own_and_its_calls_count_once_and_with_it(read):
    call = {"model": "m", "response_id": "r1", "prompt_tokens": 9, "completion_tokens": 5}
    child = state(id="child", stats=stats(9, token_usages=[call]))
    repeated = stats(9, token_usages=[call])["usage_to_metrics"]["agent"]
    parent = state(id="parent", stats={"usage_to_metrics": {"delegate:a": repeated}})
    tables = read(
        {
            f"{FOLDER}/base_state.json": json.dumps(parent),
            f"{FOLDER}/events/event-00000-x.json": json.dumps(action()),
            f"{FOLDER}/subagents/child/base_state.json": json.dumps(child),
            f"{FOLDER}/subagents/child/events/event-00000-x.json": json.dumps(action(2)),
        }
    )
    parents = {row["run_id"]: row["parent_run_id"] for row in tables.rows("core_runs")}
    assert parents == {"child": "parent", "parent": None}
    counted = [row["run_id"] for row in tables.rows("core_usage") if row["duplicate_of"] is None]
    assert counted == ["child"]


def test_a_folder_called_like_that_of_sub_agents_without_a_parent_has_none(read):
    files = {"subagents/c/base_state.json": json.dumps(state(id="c")), "d/base_state.json": json.dumps(state(id="d"))}
    assert {row["parent_run_id"] for row in read(files).rows("core_runs")} == {None}
    below_the_root = files | {"base_state.json": json.dumps(state(id="root"))}
    parents = {row["run_id"]: row["parent_run_id"] for row in read(below_the_root).rows("core_runs")}
    assert parents == {"c": "root", "d": None, "root": None}
