"""No value in any place of a benchmark's result file breaks a table, loses a record or leaves a number unanswered."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.builtin import cross_checks, unchecked
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.logfile import Sample
from governance_pipeline.ingest.native.kinds import NATIVE_FORMATS

TABLES = ("core_runs", "core_steps", "core_usage", "core_file_changes", "core_approvals", "core_declared")
CALL = {"id": "c", "name": "book", "function": {"name": "book"}}
ANSWER = {"role": "tool", "id": "c", "tool_call_id": "c", "content": "Error: x", "error": False}
INFO = {
    "agent_info": {"implementation": "a", "llm": "m", "llm_args": {"temperature": 0.5}},
    "user_info": {"implementation": "u", "llm": "m"},
    "environment_info": {"domain_name": "airline"},
    "git_commit": "abc",
}
SIMULATION = {
    "id": "s",
    "task_id": "0",
    "agent_cost": 0.5,
    "user_cost": 0.5,
    "duration": 1.5,
    "termination_reason": "user_stop",
    "reward_info": {
        "reward": 1.0,
        "reward_breakdown": {"DB": 1.0},
        "nl_assertions": [{"met": True, "justification": "j"}],
    },
    "messages": [
        {"role": "assistant", "cost": 0.5, "usage": {"prompt_tokens": 1, "completion_tokens": 1}, "tool_calls": [CALL]},
        ANSWER,
        {"role": "user", "cost": 0.5, "usage": None},
    ],
}
LOGS = {
    "tau_bench": [
        {
            "task_id": 0,
            "trial": 0,
            "reward": 1.0,
            "info": {"user_cost": 0.5, "reward_info": {"info": {"r_actions": 1.0}}},
            "traj": [{"role": "assistant", "tool_calls": [CALL]}, ANSWER],
        }
    ],
    "tau2_bench": {"info": INFO, "tasks": [], "simulations": [SIMULATION]},
    "tau2_bench submission": {
        "model_name": "m",
        "submission_date": "2026-03-09",
        "results": {"airline": {"pass_1": 94.0, "pass_2": None, "cost": 0.5}},
    },
    "tau2_bench judge": {
        "total_judged": 1,
        "agree_count": 1,
        "disagree_count": 0,
        "total_cost_usd": 0.5,
        "entries": [
            {
                "simulation_id": "s",
                "tau2_success": True,
                "judge_verdict": "pass",
                "agreement": True,
                "judge_model": "m",
                "judge_prompt_tokens": 1,
                "judge_cost_usd": 0.5,
            }
        ],
    },
    "terminal_bench": {
        "results": [
            {
                "trial_name": "a.1",
                "task_id": "a",
                "is_resolved": True,
                "failure_mode": "unset",
                "parser_results": {"t": "passed"},
                "total_input_tokens": 1,
                "trial_started_at": "2025-08-16T02:28:25+00:00",
            }
        ],
        "n_resolved": 1,
        "n_unresolved": 0,
        "accuracy": 1.0,
        "pass_at_k": {"1": 1.0},
    },
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "role", "a"]), inner, max_size=2)
    ),
    max_leaves=3,
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


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_claimed_by_its_own_format_only(name):
    foreign = FORMATS[len(NATIVE_FORMATS) :]
    sample = Sample("x", "document", (LOGS[name],))
    assert [known.NAME for known in foreign if known.detect(sample)] == [name.split(" ")[0]]


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_value_in_any_place_breaks_a_contract_or_leaves_a_number_unanswered(read, name, data):
    path = data.draw(st.sampled_from(list(places(LOGS[name]))))
    text = json.dumps(planted(LOGS[name], path, data.draw(JSON)), indent=1)
    tables = read({"logs/a/x.json": text, "logs/b/x.json": text, "logs/a/y.json": json.dumps(LOGS["tau2_bench"])})
    for table in TABLES:
        tables.frame(table)  # checks the contract
    for row in tables.rows("raw_log_files"):
        assert row["lines_in"] == row["accepted"] + row["quarantined"] + row["blank"] + row["duplicates"]
    frames = [tables.frame(table) for table in ("core_declared", "core_components", "raw_quarantine")]
    assert unchecked(frames[0], cross_checks(*frames)).empty
