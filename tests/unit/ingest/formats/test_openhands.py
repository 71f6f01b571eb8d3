"""OpenHands logs: five kinds told by content, totals never added up, one response counted once."""

from __future__ import annotations

import json

import pytest

LOG = "logs/output.jsonl"
TOKENS = {"prompt_tokens": 100, "completion_tokens": 10, "cache_read_tokens": 60, "cache_write_tokens": 0}


def usage(response_id, model="m", **members):
    return {"model": model, "response_id": response_id, **TOKENS, **members}


def response(response_id="r1"):
    report = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 60}}
    return {
        "function_name": "execute_bash",
        "tool_call_id": "t1",
        "model_response": {"id": response_id, "created": 1757015025, "model": "m", "usage": report},
    }


def action(kind="run", event_id=1, **args):
    return {"id": event_id, "timestamp": "2025-04-30T16:45:43.6", "source": "agent", "action": kind, "args": args}


def observation(kind="run", cause=1, content="out", **members):
    return {
        "id": 99,
        "timestamp": "2025-04-30T16:45:44.2",
        "source": "agent",
        "observation": kind,
        "cause": cause,
        "content": content,
        "extras": {},
        **members,
    }


def record(*history, metrics=None, **members):
    return {"instance_id": "i-1", "history": list(history), "metrics": metrics or {}, "error": None, **members}


def metrics(cost=0.75, costs=(0.5, 0.25), usages=("r1", "r2")):
    total = {
        "model": "default",
        "prompt_tokens": 200,
        "completion_tokens": 20,
        "cache_read_tokens": 120,
        "cache_write_tokens": 0,
    }
    return {
        "accumulated_cost": cost,
        "accumulated_token_usage": total,
        "costs": [{"model": "m", "cost": value, "timestamp": 1757015025.5} for value in costs],
        "token_usages": [usage(name) for name in usages],
    }


def parts(tables):
    found = {}
    for row in tables.rows("core_components"):
        found.setdefault((row["subject_id"], row["source"], row["column"]), []).append(row["value_raw"])
    return found


def declared(tables):
    return {(row["subject_id"], row["field"]): row["value_raw"] for row in tables.rows("core_declared")}


def test_the_totals_of_a_record_and_the_lists_they_add_up(read):
    tables = read({LOG: [record(metrics=metrics())]})
    run = f"{LOG}:1"
    assert declared(tables) == {
        (run, "accumulated_cost"): "0.75",
        (run, "accumulated_prompt_tokens"): "200",
        (run, "accumulated_completion_tokens"): "20",
        (run, "accumulated_cache_read_tokens"): "120",
        (run, "accumulated_cache_write_tokens"): "0",
    }
    assert parts(tables)[run, "costs", "cost"] == ["0.5", "0.25"]
    assert parts(tables)[run, "token_usages", "prompt_tokens"] == ["100", "100"]
    rows = list(tables.rows("core_usage"))
    assert [(row["cost_lexeme"], row["cache_read_tokens"], row["is_cache_inside_input"]) for row in rows] == [
        ("0.5", 60, True),
        ("0.25", 60, True),
    ]


def test_plain_numbers_in_the_cost_list_are_parts_too(read):
    tables = read({LOG: [record(metrics={"accumulated_cost": 0.75, "costs": [0.5, 0.25]})]})
    assert parts(tables) == {(f"{LOG}:1", "costs", "cost"): ["0.5", "0.25"]}
    assert [(row["pointer"], row["input_tokens"], row["cost_lexeme"]) for row in tables.rows("core_usage")] == [
        ("/metrics/costs/0", None, "0.5"),
        ("/metrics/costs/1", None, "0.25"),
    ]


def test_an_unpriced_model_declares_zero_and_has_no_parts_of_its_cost(read):
    tables = read({LOG: [record(metrics=metrics(cost=0.0, costs=()))]})
    assert declared(tables)[f"{LOG}:1", "accumulated_cost"] == "0.0"
    assert not any(source == "costs" for _, source, _ in parts(tables))
    assert [row["cost_usd"] for row in tables.rows("core_usage")] == [None, None]


def test_a_cost_of_zero_in_the_list_is_a_part_whose_value_is_missing(read):
    assert parts(read({LOG: [record(metrics=metrics(costs=(0.5, 0.0)))]}))[f"{LOG}:1", "costs", "cost"] == ["0.5", None]


def test_costs_that_cannot_be_told_apart_belong_to_no_report(read):
    tables = read({LOG: [record(metrics=metrics(costs=(0.5,)))]})
    assert [row["cost_lexeme"] for row in tables.rows("core_usage")] == [None, None]
    other = metrics()
    other["costs"][0]["model"] = "another"
    assert [row["cost_lexeme"] for row in read({LOG: [record(metrics=other)]}).rows("core_usage")] == [None, None]


def test_a_response_on_action_observation_and_in_the_metrics_is_one_call(read):
    events = [action() | {"tool_call_metadata": response()}, observation() | {"tool_call_metadata": response()}]
    rows = list(read({LOG: [record(*events, metrics=metrics(usages=("r1",)))]}).rows("core_usage"))
    counted = f"{LOG}:1:/metrics/token_usages/0"
    assert [(row["dedup_key"], row["duplicate_of"]) for row in rows] == [("r1", None), ("r1", counted), ("r1", counted)]


def test_two_records_of_one_instance_in_one_file_are_two_runs(read):
    tables = read({LOG: [record(metrics=metrics()), record(metrics=metrics())]})
    assert [row["run_id"] for row in tables.rows("core_runs")] == [f"{LOG}:1", f"{LOG}:2"]


def test_a_record_says_what_ran_and_how_it_ended(read):
    metadata = {
        "agent_class": "CodeActAgent",
        "llm_config": {"model": "openai/x", "reasoning_effort": "high"},
        "git_commit": "abc",
    }
    finish = action("finish", task_completed="false")
    (run,) = read({LOG: [record(finish, metadata=metadata, error="AgentStuckInLoopError: …")]}).rows("core_runs")
    assert (run["agent_id"], run["model_id"], run["thinking"]) == ("CodeActAgent", "openai/x", "high")
    assert (run["platform"], run["exit_status"]) == ("openhands abc", "AgentStuckInLoopError: …")
    assert run["self_reported_status"] == "task_completed: false"


def test_the_verdict_of_the_resolver_is_what_it_says_of_itself(read):
    (run,) = read({LOG: [record(action("finish"), success=True)]}).rows("core_runs")
    assert run["self_reported_status"] == "success: true"


def test_the_patch_counts_only_where_no_edit_step_changed_a_file(read):
    patch = {"git_patch": "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"}
    run = [action("run", command="make"), observation()]
    edit = [
        action("edit", 2, path="/w/a"),
        observation("edit", 2, extras={"path": "/w/a", "old_content": "x", "new_content": "y\nz"}),
    ]

    def changes(*events, **members):
        rows = read({LOG: [record(*events, **members)]}).rows("core_file_changes")
        return [
            (row["step_index"], row["file_path"], row["added_count"], row["deleted_count"], row["tool"]) for row in rows
        ]

    assert changes(*run, test_result=patch) == [(1, "a", 1, 1, "git_patch")]
    assert changes(*run, **patch) == [(1, "a", 1, 1, "git_patch")]
    assert changes(*run, *edit, test_result=patch) == [(2, "/w/a", 2, 1, "edit")]


def test_an_event_stream_is_counted_event_by_event(read):
    events = [action("message"), action("run", 3, command="ls"), observation("run", 3), "rubbish"]
    tables = read({"logs/stream.json": json.dumps(events, indent=1)})
    (file,) = tables.rows("raw_log_files")
    assert (file["format"], file["lines_in"], file["accepted"], file["quarantined"]) == ("openhands", 4, 3, 1)
    assert [(row["run_id"], row["pointer"]) for row in tables.rows("core_steps")] == [("logs/stream.json", "/1")]


def test_of_cumulative_snapshots_on_events_the_last_counts_with_the_responses_as_parts(read):
    def snapshot(tokens):
        return {
            "llm_metrics": {
                "accumulated_cost": 0.0,
                "accumulated_token_usage": {"prompt_tokens": tokens, "completion_tokens": 20},
            }
        }

    events = [
        action("run", 1, command="ls") | snapshot(100) | {"tool_call_metadata": response("r1")},
        observation("run", 1) | {"tool_call_metadata": response("r1")},
        action("run", 2, command="ls") | snapshot(200) | {"tool_call_metadata": response("r2")},
    ]
    tables = read({"logs/stream.json": json.dumps(events, indent=1)})
    assert declared(tables)["logs/stream.json", "accumulated_prompt_tokens"] == "200"
    assert parts(tables)["logs/stream.json", "token_usages", "prompt_tokens"] == ["100", "100"]
    assert not any(source == "costs" for _, source, _ in parts(tables))


def test_a_call_log_is_one_call_with_its_price(read):
    call = {"id": "t1", "function": {"name": "terminal", "arguments": '{"command": "rm x"}'}}
    broken = {"id": "t2", "function": {"name": "file_editor", "arguments": '{"command": "vi'}}
    answer = response("r1")["model_response"] | {"choices": [{"message": {"tool_calls": [call, broken]}}]}
    log = {
        "messages": [],
        "response": answer,
        "cost": 0.016626000000000002,
        "timestamp": 1757015025.97,
        "latency_sec": 4.6,
    }
    tables = read({"logs/call.json": json.dumps(log)})
    (row,) = tables.rows("core_usage")
    assert (row["cost_lexeme"], row["input_tokens"], row["cache_read_tokens"]) == ("0.016626000000000002", 100, 60)
    assert [(r["tool"], r["command"], r["status"]) for r in tables.rows("core_steps")] == [
        ("terminal", "rm x", None),
        ("file_editor", None, None),
    ]
    (run,) = tables.rows("core_runs")
    assert (run["opaque_step_count"], run["started_at"].year) == (2, 2025)
    (claim,) = tables.rows("core_declared")
    assert (claim["field"], claim["value_raw"]) == ("call_cost", "0.016626000000000002")
    assert {row["source"] for row in tables.rows("core_components")} == {"priced_calls"}


def test_a_token_report_of_zeros_is_no_measurement(read):
    zeros = dict.fromkeys(TOKENS, 0)
    tables = read({LOG: [record(metrics=metrics() | {"token_usages": [usage("r1", **zeros)]})]})
    assert [row["input_tokens"] for row in tables.rows("core_usage")] == [None]
    assert parts(tables)[f"{LOG}:1", "token_usages", "prompt_tokens"] == [None]


@pytest.mark.parametrize(
    "entry", [None, 5, "x", [], {}, {"action": 3}, {"observation": None}, [{"action": "run"}, None]]
)
def test_an_event_of_any_shape_breaks_no_record(read, entry):
    tables = read({LOG: [record(action("run", command="ls"), entry, observation(success=True), metrics=metrics())]})
    assert [row["accepted"] for row in tables.rows("raw_log_files")] == [1]
    assert next(row["status"] for row in tables.rows("core_steps")) == "ok"


def test_a_line_that_is_no_record_is_quarantined(read):
    tables = read({LOG: [record(metrics=metrics()), {"instance_id": "i-2"}, 7]})
    assert [(row["line"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [
        (2, "no_event"),
        (3, "no_event"),
    ]
