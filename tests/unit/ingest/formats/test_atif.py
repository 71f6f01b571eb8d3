"""ATIF: totals over the steps of one document or of a family, copied context, and what a step does not say."""

from __future__ import annotations

import json

import pytest


def call(number, tool="bash_command", **arguments):
    return {"tool_call_id": f"c{number}", "function_name": tool, "arguments": arguments}


def agent_step(number, calls=(), results=None, **members):
    step = {"step_id": number, "source": "agent", "message": "…", "model_name": "gpt-4o", **members}
    if calls:
        step["tool_calls"] = list(calls)
    if results is not None:
        step["observation"] = {"results": results}
    return step


def metrics(prompt=10, completion=2, **members):
    return {"prompt_tokens": prompt, "completion_tokens": completion, **members}


def trajectory(*steps, session="s-1", name="terminus-2", totals=None, **members):
    document = {
        "schema_version": "ATIF-v1.6",
        "session_id": session,
        "agent": {"name": name, "version": "2.0.0", "model_name": "openai/gpt-4o"},
        "steps": [{"step_id": 1, "source": "user", "message": "do it"}, *steps],
        **members,
    }
    return document | ({} if totals is None else {"final_metrics": totals})


def naming(*sessions):
    return agent_step(9, results=[{"subagent_trajectory_ref": [{"session_id": name} for name in sessions]}])


@pytest.fixture
def documents(read):
    """Give a function that reads one file per document."""
    return lambda *values: read({f"logs/t{n}.json": json.dumps(value) for n, value in enumerate(values)})


def declared(tables):
    return {(row["subject_id"], row["field"]): row["value_raw"] for row in tables.rows("core_declared")}


def parts(tables, source, column):
    found = [r for r in tables.rows("core_components") if (r["source"], r["column"]) == (source, column)]
    return [row["value_raw"] for row in sorted(found, key=lambda row: (row["subject_id"], row["row_index"]))]


@pytest.mark.parametrize(
    "value",
    [
        {"schema_version": "1.6", "session_id": "s", "steps": []},
        {"schema_version": "ATIF-v1.6", "steps": {}},
        {"parent": {"schema_version": "ATIF-v1.6", "steps": []}, "child": {"a": 1}},
        [],
    ],
)
def test_what_states_no_version_or_has_no_steps_is_no_trajectory(documents, value):
    assert documents(value).unclaimed == {"logs/t0.json": "unsupported_format"}


def test_a_trajectory_is_a_run_and_its_calls_are_steps(documents):
    first = agent_step(2, [call(1, keystrokes="ls\n")], [{"content": "a.txt"}], timestamp="2026-01-05T10:00:00Z")
    tables = documents(trajectory(first, agent_step(3, [call(2, "mark_task_complete")])))
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["platform"], run["model_id"]) == ("s-1", "terminus-2 2.0.0", "openai/gpt-4o")
    one, two = tables.rows("core_steps")
    assert (one["command"], one["call_id"], one["at"].hour, one["status"]) == ("ls", "c1", 10, None)
    assert one["output_result_sha256"] is not None
    assert (two["tool"], two["command"], run["opaque_step_count"]) == ("mark_task_complete", None, 0)


def test_one_observation_for_two_calls_answers_neither(documents):
    tables = documents(trajectory(agent_step(2, [call(1), call(2)], [{"content": "both"}])))
    assert [row["output_result_sha256"] for row in tables.rows("core_steps")] == [None, None]


def test_an_edit_is_counted_and_a_shell_command_that_may_edit_is_opaque(documents):
    edit = call(1, "str_replace_editor", command="create", path="/a", file_text="x\ny\n")
    answers = [{"source_call_id": "c1", "content": "File created successfully at: /a"}]
    tables = documents(trajectory(agent_step(2, [edit, call(2, keystrokes="touch b\n")], answers)))
    (change,) = tables.rows("core_file_changes")
    assert (change["file_path"], change["added_count"], change["deleted_count"]) == ("/a", 2, 0)
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [1]


@pytest.mark.parametrize("answer", ["No replacement was performed, old_str `x` did not appear verbatim in /a.", None])
def test_an_edit_without_an_answer_that_says_it_worked_is_opaque(documents, answer):
    edit = call(1, "str_replace_editor", command="str_replace", path="/a", old_str="x", new_str="y\nz")
    answers = [] if answer is None else [{"source_call_id": "c1", "content": answer}]
    tables = documents(trajectory(agent_step(2, [edit], answers)))
    assert tables.frame("core_file_changes").empty
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [1]


def test_copied_context_is_a_step_of_the_trajectory_and_nothing_else(documents):
    copied = agent_step(2, [call(1)], metrics=metrics(), is_copied_context=True)
    tables = documents(trajectory(copied, agent_step(3, metrics=metrics(7)), totals={"total_steps": 3}))
    assert [row["input_tokens"] for row in tables.rows("core_usage")] == [7]
    assert tables.frame("core_steps").empty
    assert parts(tables, "steps", "step_id") == ["1", "2", "3"]


def test_cached_tokens_are_inside_the_prompt_and_unknown_where_a_step_is_silent(documents):
    steps = (agent_step(2, metrics=metrics(cached_tokens=4)), agent_step(3, metrics=metrics()))
    tables = documents(trajectory(*steps, totals={"total_cached_tokens": 0}))
    assert [(row["cache_read_tokens"], row["is_cache_inside_input"]) for row in tables.rows("core_usage")] == [
        (4, True),
        (None, True),
    ]
    assert parts(tables, "metrics", "cached_tokens") == ["4", None]


def test_a_cost_of_zero_is_no_price(documents):
    tables = documents(trajectory(agent_step(2, metrics=metrics(cost_usd=0)), totals={"total_cost_usd": 0}))
    assert declared(tables)["s-1", "total_cost_usd"] == "0"
    assert parts(tables, "metrics", "cost_usd") == [None]
    assert [row["cost_usd"] for row in tables.rows("core_usage")] == [None]


def test_totals_of_terminus_are_declared_for_itself_and_for_its_family(documents):
    child = trajectory(agent_step(2, metrics=metrics(5)), session="s-2", name="summary")
    totals = {"total_prompt_tokens": 15}
    tables = documents(child, trajectory(agent_step(2, metrics=metrics(10)), naming("s-2"), totals=totals))
    assert declared(tables) == {
        ("s-1", "total_prompt_tokens"): "15",
        ("s-1", "total_prompt_tokens_with_subagents"): "15",
    }
    assert parts(tables, "metrics", "prompt_tokens") == ["10"]
    assert parts(tables, "metrics_with_subagents", "prompt_tokens") == ["10", "5"]
    paths = [json.loads(row["component_paths"])["*"] for row in tables.rows("core_declared")]
    assert paths == [["logs/t1.json"], ["logs/t0.json", "logs/t1.json"]]
    assert {row["run_id"]: row["parent_run_id"] for row in tables.rows("core_runs")} == {"s-2": "s-1", "s-1": None}


def test_a_sub_agent_that_is_not_there_makes_the_sum_unknown(documents):
    tables = documents(trajectory(agent_step(2, metrics=metrics(10)), naming("gone"), totals={"total_cost_usd": 1}))
    assert parts(tables, "metrics_with_subagents", "prompt_tokens") == ["10", None]


def test_an_agent_that_does_not_add_its_sub_agents_is_not_accused_of_it(documents):
    child = trajectory(agent_step(2, metrics=metrics(5)), session="s-2")
    tables = documents(child, trajectory(naming("s-2"), name="orchestrator", totals={"total_prompt_tokens": 0}))
    assert list(declared(tables)) == [("s-1", "total_prompt_tokens")]


def test_a_sub_agent_names_its_parent_itself(documents):
    child = trajectory(session="s-2")
    child["agent"]["extra"] = {"parent_session_id": "s-1"}
    runs = documents(child, trajectory()).rows("core_runs")
    assert {row["run_id"]: row["parent_run_id"] for row in runs} == {"s-2": "s-1", "s-1": None}


def test_trajectories_that_name_each_other_make_no_circle(documents):
    tables = documents(trajectory(naming("s-2"), naming("s-1")), trajectory(naming("s-1"), session="s-2"))
    runs = {row["run_id"]: row["parent_run_id"] for row in tables.rows("core_runs")}
    assert runs == {"s-1": None, "s-2": "s-1"}


def test_several_trajectories_of_one_file_are_several_runs_of_one_record(documents):
    inner = trajectory(session="s-3") | {"schema_version": "ATIF-v1.7"}
    tables = documents({"parent": trajectory(subagent_trajectories=[inner]), "a/b": trajectory(session="s-2")})
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["s-1", "s-3", "s-2"]
    (file,) = tables.rows("raw_log_files")
    assert (file["record_unit"], file["lines_in"], file["accepted"]) == ("record", 1, 1)


def test_the_same_session_twice_is_two_runs(documents):
    runs = [row["run_id"] for row in documents(trajectory(), trajectory(name="other")).rows("core_runs")]
    assert runs == ["s-1", "s-1@logs/t1.json"]


def test_numbers_of_the_agents_own_are_declared_as_written(documents):
    totals = {"total_prompt_tokens": None, "extra": {"cache/efficiency": 0.608, "note": "x"}}
    tables = documents(trajectory(totals=totals))
    (row,) = tables.rows("core_declared")
    assert (row["field"], row["value_raw"]) == ("extra", "0.608")
    assert row["pointer"] == "/final_metrics/extra/cache~1efficiency"


def test_a_line_that_is_no_trajectory_is_quarantined(read):
    tables = read({"logs/t.jsonl": [trajectory()]})
    assert [row["record_unit"] for row in tables.rows("raw_log_files")] == ["line"]
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["s-1"]


@pytest.mark.parametrize("broken", [1, "x", None, [], {"results": 1}, {"results": [{"subagent_trajectory_ref": 1}]}])
def test_members_of_the_wrong_type_are_unknown_and_stop_nothing(documents, broken):
    step = {"step_id": broken, "tool_calls": [broken, {}], "observation": broken, "metrics": {"prompt_tokens": broken}}
    document = trajectory(step, broken, totals={"total_prompt_tokens": broken, "extra": broken})
    assert len(list(documents(document | {"agent": broken}).rows("core_steps"))) == 2
