"""Events of three generations become steps; an observation answers the action it names, or nobody."""

from __future__ import annotations

import pytest

LOG = "logs/output.jsonl"


@pytest.fixture
def steps(read):
    """Give a function that reads one evaluation record with this history and returns its steps."""

    def _steps(*history):
        return list(read({LOG: [{"instance_id": "i-1", "history": list(history), "metrics": {}}]}).rows("core_steps"))

    return _steps


@pytest.fixture
def opaque(read):
    def _opaque(*history):
        tables = read({LOG: [{"instance_id": "i-1", "history": list(history), "metrics": {}}]})
        return [row["opaque_step_count"] for row in tables.rows("core_runs")]

    return _opaque


def act(kind, event_id=1, **args):
    return {"id": event_id, "source": "agent", "action": kind, "args": args}


def see(kind, cause=1, content="out", extras=None, **members):
    return {
        "id": 90,
        "source": "agent",
        "observation": kind,
        "cause": cause,
        "content": content,
        "extras": extras or {},
        **members,
    }


def test_an_observation_answers_the_action_it_names(steps):
    rows = steps(
        act("run", 1, command="a"),
        act("run", 2, command="b"),
        see("run", 2, extras={"metadata": {"exit_code": 3}}),
        see("run", 1, extras={"metadata": {"exit_code": 0}}),
    )
    assert [(r["command"], r["exit_code"], r["status"]) for r in rows] == [("a", 0, "ok"), ("b", 3, "error")]


def test_with_ids_an_observation_without_a_cause_answers_nobody(steps):
    error = see("error") | {"cause": None}
    assert [row["status"] for row in steps(act("run", 1, command="a"), error)] == [None]


def test_in_pairs_the_second_answers_the_first(steps):
    pair = [
        {"source": "agent", "action": "run", "args": {"command": "a"}},
        {"observation": "run", "content": "", "extras": {"exit_code": 0}},
    ]
    nothing = [{"source": "agent", "action": "finish", "args": {}}, {"observation": "null", "content": ""}]
    assert [(r["status"], r["pointer"]) for r in steps(pair, nothing)] == [
        ("ok", "/history/0/0"),
        (None, "/history/1/0"),
    ]


def test_flat_members_without_ids_are_read_in_order(steps):
    rows = steps(
        {"command": "make", "action": "run", "is_confirmed": "confirmed"},
        {"content": "x", "command": "make", "exit_code": 2, "observation": "run"},
        {"content": "late", "exit_code": 0, "observation": "run"},
    )
    assert [(r["command"], r["exit_code"], r["status"]) for r in rows] == [("make", 2, "error")]


def test_messages_and_recalls_are_no_steps(steps):
    assert steps(act("system"), act("message"), act("recall"), see("recall"), act("change_agent_state")) == []


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (see("user_rejected"), "rejected"),
        (see("error"), "error"),
        (see("edit", content="ERROR:\nNo replacement was performed"), "error"),
        (see("run", extras={"metadata": {"exit_code": -1}}), None),
        (see("run", extras={"metadata": {"exit_code": 1}}, success=False), "error"),
        (see("read"), "ok"),
        (see("null"), None),
    ],
)
def test_how_a_call_ended_is_what_its_observation_says(steps, answer, status):
    assert [row["status"] for row in steps(act("run", command="x"), answer)] == [status]


@pytest.mark.parametrize("mark", ["is_confirmed", "confirmation_state"])
def test_an_action_the_user_rejected_stays_rejected(steps, opaque, mark):
    history = [act("run", command="rm x", **{mark: "rejected"}), see("run")]
    assert [row["status"] for row in steps(*history)] == ["rejected"]
    assert opaque(*history) == [0]


def test_local_times_without_an_offset_name_no_instant(steps):
    (row,) = steps(act("run", command="x") | {"timestamp": "2025-04-30T16:45:43.6"})
    assert row["at"] is None


def test_the_tool_is_named_as_the_model_called_it(steps):
    called = {"tool_call_metadata": {"function_name": "execute_bash", "tool_call_id": "toolu_1"}}
    assert [(r["tool"], r["call_id"]) for r in steps(act("run", command="x") | called)] == [("execute_bash", "toolu_1")]


@pytest.mark.parametrize(
    ("history", "count"),
    [
        ([act("run", command="ls"), see("run")], 0),
        ([act("run", command="make"), see("run")], 1),
        ([act("run_ipython", code="edit_file()"), see("run_ipython")], 1),
        ([act("edit", path="/a")], 1),
        ([act("edit", path="/a"), see("edit", content="ERROR: no")], 0),
        ([act("edit", path="/a"), see("edit", extras={"old_content": "a", "new_content": "b"})], 0),
        ([act("edit"), see("edit")], 1),
        ([act("read", path="/a"), see("read")], 0),
        ([act("call_tool_mcp", name="x"), see("mcp")], 1),
        ([act("something_new")], 1),
        ([act("browse_interactive"), act("think"), act("finish")], 0),
    ],
)
def test_steps_that_may_have_changed_files_unseen_are_counted(opaque, history, count):
    assert opaque(*history) == [count]
