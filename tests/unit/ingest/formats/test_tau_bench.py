"""tau-bench results: a reward whose parts are overwritten, and a user whose calls are not there."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.ingest.formats import tau_bench
from governance_pipeline.ingest.logfile import Sample

LOG = "logs/x.json"
TRAJ = [
    {"role": "system", "content": "policy"},
    {"role": "user", "content": "hello"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "book", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "book", "content": "Error: no seat"},
    {"role": "assistant", "content": "yes?", "tool_calls": [{"id": "c2", "function": {"name": "cancel"}}]},
]


def entry(reward=1.0, parts=None, user_cost=0.002, **members):
    info = {"reward": reward, "info": {"r_actions": 1.0} if parts is None else parts, "actions": []}
    base = {"source": "user", "user_cost": user_cost, "reward_info": info if parts is not False else None}
    return {"task_id": 0, "trial": 0, "reward": reward, "info": base, "traj": TRAJ, **members}


@pytest.fixture
def load(read):
    return lambda *entries: read({LOG: json.dumps(list(entries), indent=1)})


def test_an_entry_that_is_no_result_is_quarantined_alone(load):
    tables = load(entry(), {"task_id": 1}, [5])
    codes = [(row["pointer"], row["reason_code"]) for row in tables.rows("raw_quarantine")]
    assert codes == [("/1", "no_result"), ("/2", "no_result")]
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["logs/x.json:/0"]
    (file,) = tables.rows("raw_log_files")
    assert (file["lines_in"], file["accepted"], file["quarantined"]) == (3, 1, 2)


@pytest.mark.parametrize(
    ("parts", "factor"),
    [
        ({"r_actions": 0.0}, ["0.0"]),
        ({"r_actions": True}, ["true"]),
        ({"r_outputs": 0.0, "outputs": {"1": False}}, ["0.0"]),
        ({"r_outputs": 1.0, "outputs": {"1": True}}, [None]),
        (False, []),
    ],
)
def test_a_reward_has_the_part_that_decides_it_and_none_where_it_was_overwritten(load, parts, factor):
    assert [row["value_raw"] for row in load(entry(parts=parts)).rows("core_components")] == factor


def test_the_cost_of_the_user_is_declared_as_written_and_unknown_when_null(load):
    tables = load(entry(user_cost=0.0035475000000000003), entry(user_cost=None))
    costs = [row for row in tables.rows("core_declared") if row["field"] == "user_cost"]
    assert [(row["value_raw"], row["value_kind"]) for row in costs] == [
        ("0.0035475000000000003", "number"),
        (None, "missing"),
    ]


def test_only_calls_are_steps_and_an_answer_that_refuses_is_an_error(load):
    steps = [(s["step_index"], s["tool"], s["call_id"], s["status"]) for s in load(entry()).rows("core_steps")]
    assert steps == [(1, "book", "c1", "error"), (2, "cancel", "c2", None)]


def test_the_reward_is_a_review_by_rule(load):
    (review,) = load(entry(reward=0.0)).rows("core_approvals")
    assert (review["kind"], review["by"], review["result"]) == ("review", "rule", "0.0")


def test_prompts_made_of_conversations_are_no_results():
    assert not tau_bench.detect(Sample("x.jsonl", "jsonl", ({"messages_display": "user: hi"},)))
    assert not tau_bench.detect(Sample("x.json", "document", ([{"task_id": 1, "reward": 1, "info": {}}],)))
