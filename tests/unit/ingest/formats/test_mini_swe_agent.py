"""mini-SWE-agent trajectories: calls that raised, prices nobody knows, and patches instead of edits."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

LOG = "logs/x.traj.json"
PATCH = "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 64},
    "completion_tokens_details": {"reasoning_tokens": 4},
}


def call(command="ls", call_id="c1", cost=0.5, usage=USAGE, time=1775715329.5, **extra):
    response = {"id": f"r-{call_id}", "model": "deepseek-chat", "usage": usage}
    actions = [{"command": command, "tool_call_id": call_id}]
    return {
        "role": "assistant",
        "content": "t",
        "extra": {"actions": actions, "response": response, "cost": cost, "timestamp": time, **extra},
    }


def answer(call_id="c1", code=0, output="out", exception="", **members):
    extra = {"returncode": code, "raw_output": output, "exception_info": exception, "timestamp": 1775715330}
    return {"role": "tool", "tool_call_id": call_id, "content": output, "extra": extra, **members}


def trajectory(*messages, cost=0.5, calls=1, submission="", status="Submitted"):
    config = {
        "agent_type": "minisweagent.agents.default.DefaultAgent",
        "model": {"model_name": "deepseek/deepseek-chat"},
    }
    stats = {"instance_cost": cost, "api_calls": calls}
    info = {
        "model_stats": stats,
        "config": config,
        "mini_version": "2.2.7",
        "exit_status": status,
        "submission": submission,
    }
    start = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    return {
        "info": info,
        "messages": [*start, *messages],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "i-1",
    }


@pytest.fixture
def load(read):
    return lambda document: read({LOG: json.dumps(document)})


def costs(tables):
    return [
        (row["source"], row["row_index"], row["column"], row["value_raw"])
        for row in tables.rows("core_components")
        if row["source"] == "calls"
    ]


def test_each_assistant_message_is_a_part_of_both_totals(load):
    tables = load(trajectory(call(), answer(), call(call_id="c2", cost=0.25), answer("c2"), cost=0.75, calls=2))
    assert costs(tables) == [("calls", 1, "cost", "0.5"), ("calls", 2, "cost", "0.25")]
    assert [(row["field"], row["value_raw"], row["data_type"]) for row in tables.rows("core_declared")] == [
        ("instance_cost", "0.75", "currency"),
        ("api_calls", "2", "integer"),
        ("instance_cost_at_list_price", "0.75", "currency"),
    ]


def test_a_call_that_raised_is_declared_and_leaves_no_part(load):
    exit_message = {"role": "exit", "content": "Timeout", "extra": {"exit_status": "Timeout", "submission": ""}}
    tables = load(trajectory(exit_message, cost=0.0, calls=1, status="Timeout"))
    assert costs(tables) == []
    assert [row["value_raw"] for row in tables.rows("core_declared")] == ["0.0", "1"]
    assert [row["exit_status"] for row in tables.rows("core_runs")] == ["Timeout"]


def test_a_cost_of_zero_is_a_price_nobody_knew(load):
    tables = load(trajectory(call(cost=0.0), cost=0.0))
    (usage,) = tables.rows("core_usage")
    assert (usage["cost_usd"], usage["cost_lexeme"], usage["input_tokens"]) == (None, "0.0", 100)
    (part,) = (row for row in tables.rows("core_components") if row["source"] == "calls")
    assert (part["value_raw"], part["value_kind"]) == (None, "missing")


def test_a_call_without_a_cost_is_a_part_whose_value_is_missing(load):
    message = call()
    del message["extra"]["cost"]
    assert costs(load(trajectory(message))) == [("calls", 1, "cost", None)]


def test_an_answer_that_could_not_be_parsed_counts_where_the_log_kept_what_it_cost(load):
    kept = {
        "role": "user",
        "content": "Tool call error",
        "extra": {"interrupt_type": "FormatError", "cost": 0.125, "response": {"usage": USAGE}},
    }
    lost = {"role": "user", "content": "Tool call error", "extra": {"interrupt_type": "FormatError"}}
    assert [row[3] for row in costs(load(trajectory(call(), kept, lost, calls=3)))] == ["0.5", "0.125"]


def test_cached_tokens_are_inside_the_input_count_and_a_cost_is_kept_exactly(load):
    (row,) = load(trajectory(call(cost=0.00041468000000000006))).rows("core_usage")
    assert (row["input_tokens"], row["output_tokens"], row["cache_read_tokens"], row["reasoning_tokens"]) == (
        100,
        10,
        64,
        4,
    )
    assert (row["is_cache_inside_input"], row["cost_lexeme"]) == (True, "0.00041468000000000006")
    assert row["cost_usd"] == Decimal("0.00041468")
    assert (row["dedup_key"], row["duplicate_of"], row["call_id"]) == (None, None, "r-c1")


def test_a_result_belongs_to_the_call_it_names(load):
    first = call("make", "c1")
    first["extra"]["actions"].append({"command": "cat a", "tool_call_id": "c2"})
    tables = load(trajectory(first, answer("c2", 0, "b"), answer("c1", 2, "a")))
    assert [(r["command"], r["exit_code"], r["status"]) for r in tables.rows("core_steps")] == [
        ("make", 2, "error"),
        ("cat a", 0, "ok"),
    ]


def test_without_tool_calls_results_answer_in_order(load):
    message = {"role": "assistant", "content": "t", "extra": {"actions": [{"command": "a"}, {"command": "b"}]}}
    results = [{"role": "user", "content": "", "extra": {"returncode": code}} for code in (0, 1)]
    assert [row["exit_code"] for row in load(trajectory(message, *results)).rows("core_steps")] == [0, 1]


def test_minus_one_is_no_exit_code(load):
    timed_out = answer(code=-1, exception="timed out after 60 seconds")
    (row,) = load(trajectory(call("pip install x"), timed_out)).rows("core_steps")
    assert (row["exit_code"], row["status"]) == (None, "error")


def test_a_command_the_user_rejected_was_not_run(load):
    refusal = {
        "role": "user",
        "content": "Commands not executed. The user rejected your commands with the following message: no",
    }
    tables = load(trajectory(call("rm -rf /"), refusal))
    assert [row["status"] for row in tables.rows("core_steps")] == ["rejected"]
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [0]


def test_output_that_quotes_a_rejection_is_no_rejection(load):
    (row,) = load(trajectory(call(), answer(output="Commands not executed. The user rejected"))).rows("core_steps")
    assert row["status"] == "ok"


def test_the_last_command_has_no_result_because_the_program_stops_there(load):
    final = {"role": "exit", "content": PATCH, "extra": {"exit_status": "Submitted", "submission": PATCH}}
    tables = load(trajectory(call("echo COMPLETE && cat patch.txt"), final, submission=PATCH))
    assert [(row["exit_code"], row["status"]) for row in tables.rows("core_steps")] == [(None, None)]
    assert [
        (r["step_index"], r["file_path"], r["added_count"], r["deleted_count"])
        for r in tables.rows("core_file_changes")
    ] == [(1, "src/a.py", 2, 1)]


def test_commands_that_may_have_edited_files_are_counted_not_guessed(load):
    tables = load(trajectory(call("ls"), answer(), call("sed -i s/a/b/ x", "c2"), answer("c2")))
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [1]
    assert tables.frame("core_file_changes").empty


def test_a_run_is_named_by_its_file_so_that_two_runs_of_one_instance_stay_apart(read):
    text = json.dumps(trajectory(call(), answer()))
    tables = read({"logs/a/i-1.traj.json": text, "logs/b/i-1.traj.json": text})
    runs = list(tables.rows("core_runs"))
    assert [run["run_id"] for run in runs] == ["logs/a/i-1.traj.json", "logs/b/i-1.traj.json"]
    assert (runs[0]["platform"], runs[0]["model_id"]) == ("mini-swe-agent 2.2.7", "deepseek/deepseek-chat")
    assert runs[0]["agent_id"] == "minisweagent.agents.default.DefaultAgent"
    assert runs[0]["started_at"].isoformat() == "2026-04-09T06:15:29.500000+00:00"


LEGACY = [
    {"role": "system", "content": "You are"},
    {"role": "user", "content": "end with COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"},
    {"role": "assistant", "content": "THOUGHT\n\n```mswea_bash_command\nmake\n```"},
    {"role": "user", "content": "<returncode>2</returncode>\n<output>\nno\n</output>"},
    {"role": "assistant", "content": "two\n```bash\na\n```\n```bash\nb\n```"},
    {"role": "user", "content": "Please give exactly one block"},
]


def test_the_bare_list_declares_nothing_and_its_commands_are_steps(load):
    tables = load(LEGACY)
    assert tables.frame("core_declared").empty
    assert [(r["command"], r["exit_code"], r["status"], r["pointer"]) for r in tables.rows("core_steps")] == [
        ("make", 2, "error", "/2/content")
    ]
    assert costs(tables) == [("calls", 1, "cost", None), ("calls", 2, "cost", None)]
    assert tables.frame("core_usage").empty


def test_a_chat_without_the_programs_marks_is_not_claimed(read):
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "```bash\nls\n```"}]
    assert read({LOG: json.dumps(chat)}).unclaimed == {LOG: "unsupported_format"}


def test_predictions_beside_the_runs_are_no_runs_of_this_format(read):
    predictions = {"i-1": {"model_name_or_path": "m", "instance_id": "i-1", "model_patch": PATCH}}
    tables = read({LOG: json.dumps(trajectory(call())), "logs/preds.json": json.dumps(predictions)})
    assert [(row["format"], row["path"]) for row in tables.rows("core_runs")] == [
        ("mini_swe_agent", LOG),
        ("swebench", "logs/preds.json"),
    ]


def test_a_document_of_the_format_without_messages_is_quarantined(load):
    tables = load({"trajectory_format": "mini-swe-agent-1.1", "messages": 5})
    assert [row["reason_code"] for row in tables.rows("raw_quarantine")] == ["no_messages"]


@pytest.mark.parametrize(
    "entry",
    [None, 5, "x", [], {}, {"role": "assistant", "content": None, "extra": {"actions": [None, {"command": 3}]}}],
)
def test_a_message_of_any_shape_breaks_nothing(load, entry):
    tables = load(trajectory(call(), entry, answer()))
    assert [row["accepted"] for row in tables.rows("raw_log_files")] == [1]


def test_a_message_of_nothing_but_open_blocks_is_read_in_linear_time(load):
    content = "```mswea_bash_command\nls\n``` " + "x```bash\nx" * 50_000
    tables = load(
        [{"role": "assistant", "content": content}, {"role": "user", "content": "<returncode>0</returncode>"}]
    )
    assert [row["command"] for row in tables.rows("core_steps")] == ["ls"]


def refusal(content, **extra):
    return {"role": "user", "content": content, "extra": extra}


def test_a_batch_refused_after_its_results_was_not_run_and_the_reason_is_kept(load):
    said = "Commands not executed. The user rejected your commands with the following message: not the root"
    not_run = answer(code=-1, output="-", exception="action was not executed")
    tables = load(trajectory(call("rm -rf /"), not_run, refusal(said, interrupt_type="UserRejection")))
    assert [row["status"] for row in tables.rows("core_steps")] == ["rejected"]
    (row,) = tables.rows("core_approvals")
    assert (row["kind"], row["by"], row["result"], row["reason"]) == (
        "rejected",
        "human",
        "UserRejection",
        "not the root",
    )


def test_a_command_that_ran_is_not_refused_by_a_later_rejection(load):
    tables = load(trajectory(call(), answer(), refusal("Commands not executed. Switching to human mode")))
    assert [row["status"] for row in tables.rows("core_steps")] == ["ok"]
    assert [(row["kind"], row["reason"]) for row in tables.rows("core_approvals")] == [("rejected", None)]


def test_the_mode_of_the_agent_is_kept_and_approves_nothing(load):
    log = trajectory(call(), answer())
    log["info"]["config"]["agent"] = {"mode": "confirm"}
    (row,) = load(log).rows("core_approvals")
    assert (row["kind"], row["result"], row["by"], row["pointer"]) == (
        "mode",
        "confirm",
        None,
        "/info/config/agent/mode",
    )


def test_a_command_of_the_user_is_a_step_of_the_user_and_no_call(load):
    command = {"role": "user", "content": "User command", "extra": {"actions": [{"command": "ls"}]}}
    tables = load(trajectory(call(), answer(), command))
    assert [row["agent_id"] for row in tables.rows("core_steps")][-1] == "user"
    assert len({row["row_index"] for row in tables.rows("core_components") if row["source"] == "calls"}) == 1


@pytest.mark.parametrize(
    ("model", "time", "fields"),
    [
        ("deepseek/deepseek-chat", 1775715329.5, ["instance_cost", "api_calls", "instance_cost_at_list_price"]),
        ("deepseek/deepseek-chat", 1000000000, ["instance_cost", "api_calls"]),
        ("deepseek/deepseek-chat-2", 1775715329.5, ["instance_cost", "api_calls"]),
    ],
)
def test_a_cost_is_held_against_prices_only_where_every_call_has_one(load, model, time, fields):
    document = trajectory(call(time=time), answer())
    document["info"]["config"]["model"]["model_name"] = model
    tables = load(document)
    assert [row["field"] for row in tables.rows("core_declared")] == fields
    (source,) = (r["value_raw"] for r in tables.rows("core_components") if r["column"] == "price_source")
    assert source.startswith("litellm 1." if len(fields) == 3 else "no price: ")
