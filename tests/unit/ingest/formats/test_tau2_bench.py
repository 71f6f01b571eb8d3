"""tau2-bench: prices nobody knows, rewards that are products, and submissions that are no pass^1 of anybody."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks

LOG, SUBMISSION = "logs/a.json", "logs/submission.json"
USAGE = {"prompt_tokens": 100, "completion_tokens": 10}


def says(role, cost=0.25, usage=USAGE, **members):
    return {"role": role, "content": "x", "tool_calls": None, "cost": cost, "usage": usage, **members}


GREETING = says("assistant", 0.0, None)
CALL = {"id": "c1", "name": "book", "arguments": {}, "requestor": "assistant"}
OWN = {"id": "c2", "name": "toggle", "arguments": {}, "requestor": "user"}
ANSWER = {"id": "c1", "role": "tool", "content": "ok", "requestor": "assistant", "error": False}


def simulation(task="0", reward=1.0, agent=0.25, user=0.25, messages=None, **members):
    breakdown = {"DB": reward, "COMMUNICATE": 1.0}
    return {
        "id": f"sim-{task}",
        "task_id": task,
        "start_time": "2026-03-14T08:19:29.310266",
        "duration": 11.98,
        "termination_reason": "user_stop",
        "agent_cost": agent,
        "user_cost": user,
        "reward_info": {"reward": reward, "nl_assertions": None, "reward_breakdown": breakdown},
        "messages": [GREETING, says("user"), says("assistant")] if messages is None else messages,
        "trial": 0,
        **members,
    }


def results(*simulations, llm="gpt-4.1", implementation="llm_agent", domain="airline"):
    info = {
        "git_commit": "abc",
        "agent_info": {"implementation": implementation, "llm": llm, "llm_args": {"temperature": 0.0}},
        "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1-mini"},
        "environment_info": {"domain_name": domain},
    }
    return json.dumps({"timestamp": "t", "info": info, "tasks": [], "simulations": list(simulations)}, indent=1)


def submission(**airline):
    return json.dumps({"model_name": "m", "submission_date": "2026-03-09", "results": {"airline": airline}}, indent=1)


def judged(verdict="pass", agreement=True, success=True, cost=0.5, **members):
    return {
        "simulation_id": "sim-0",
        "tau2_success": success,
        "judge_verdict": verdict,
        "agreement": agreement,
        "judge_model": "gpt-4o",
        "judge_prompt_tokens": 5,
        "judge_completion_tokens": 2,
        "judge_cost_usd": cost,
        "judge_justification": "because",
        **members,
    }


def summary(*entries, agree=1, disagree=0, cost=0.5):
    totals = {"total_judged": len(entries), "agree_count": agree, "disagree_count": disagree, "total_cost_usd": cost}
    return json.dumps({**totals, "entries": list(entries)}, indent=1)


@pytest.fixture
def checked(read):
    """Read a round and give {(check, subject): (declared, computed, status or reason)}."""

    def _checked(files):
        tables = read(files)
        frames = [tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")]
        return {
            (r["check_id"].removeprefix("tau2_bench_"), r["subject_id"]): (
                r["declared"],
                r["computed"],
                r["reason_code"] if r["status"] == "unverifiable" else r["status"],
            )
            for r in cross_checks(*frames).astype(object).to_dict("records")
        }

    return _checked


def test_a_simulation_without_messages_is_quarantined_and_makes_every_total_of_its_file_unknown(read, checked):
    files = {LOG: results(simulation(), {"task_id": "1"}, 5)}
    codes = [(row["pointer"], row["reason_code"]) for row in read(files).rows("raw_quarantine")]
    assert codes == [("/simulations/1", "no_simulation"), ("/simulations/2", "no_simulation")]
    assert {reason for _, _, reason in checked(files).values()} == {"components_incomplete"}


def test_costs_are_those_of_the_messages_and_the_free_greeting_counts_as_0(checked):
    found = checked({LOG: results(simulation(agent=0.25, user=0.5))})
    assert found["agent_cost", "sim-0"] == ("0.25", "0.25", "match")
    assert found["user_cost", "sim-0"] == ("0.5", "0.25", "mismatch")


@pytest.mark.parametrize("price", [0.0, None])
def test_an_unpriced_message_makes_the_cost_unknown_whatever_is_declared(checked, price):
    messages = [GREETING, says("assistant", price)]
    assert checked({LOG: results(simulation(agent=0.0, messages=messages))})["agent_cost", "sim-0"][2] == (
        "component_missing_value"
    )
    assert checked({LOG: results(simulation(agent=None, messages=messages))})["agent_cost", "sim-0"][2] == (
        "declared_missing"
    )


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({"DB": 0.0, "ACTION": 1.0}, "mismatch"),
        ({"DB": 1.0, "ACTION": 1}, "match"),
        ({"DB": 0.5, "ACTION": 1.0}, "component_missing_value"),
        ({}, "components_missing"),
        (None, "components_missing"),
    ],
)
def test_a_reward_is_the_product_of_its_parts_and_unknown_when_they_are_not_0_or_1(checked, parts, verdict):
    reward = {"reward": 1.0, "reward_breakdown": parts}
    assert checked({LOG: results(simulation(reward_info=reward))})["reward", "sim-0"][2] == verdict


def test_calls_are_steps_of_who_made_them_and_times_without_offset_are_no_instants(read):
    messages = [says("assistant", tool_calls=[CALL]), ANSWER, says("user", tool_calls=[OWN])]
    tables = read({LOG: results(simulation(messages=messages))})
    steps = [(s["tool"], s["agent_id"], s["status"]) for s in tables.rows("core_steps")]
    assert steps == [("book", "llm_agent", "ok"), ("toggle", "user_simulator", None)]
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["platform"], run["model_id"]) == ("sim-0", "tau2-bench abc", "gpt-4.1")
    assert (run["started_at"], run["exit_status"], run["opaque_step_count"]) == (None, "user_stop", 0)


def test_the_user_is_a_model_with_usage_of_its_own(read):
    usage = list(read({LOG: results(simulation())}).rows("core_usage"))
    assert [(row["model_id"], row["input_tokens"]) for row in usage] == [("gpt-4.1-mini", 100), ("gpt-4.1", 100)]


def test_a_best_of_several_agents_is_held_against_each_of_them(checked):
    files = {
        LOG: results(simulation("0", 1.0), simulation("1", 0.0)),
        "logs/trajectories/b.json": results(simulation("0", 0.0, id="b-0"), llm="o3"),
        "other/c.json": results(simulation("0", 0.0, id="c-0"), llm="o3"),
        "logs/d.json": results(simulation("0", 0.0, id="d-0"), domain="retail"),
        SUBMISSION: submission(pass_1=94.0, pass_2=None, cost=0.25),
    }
    found = {key: value for key, value in checked(files).items() if key[0] in ("pass_1", "pass_2", "submission_cost")}
    first, second = f"{SUBMISSION} airline: {LOG}", f"{SUBMISSION} airline: logs/trajectories/b.json"
    assert found == {
        ("pass_1", first): ("94", "50", "mismatch"),
        ("pass_1", second): ("94", "0", "mismatch"),
        ("submission_cost", first): ("0.25", "0.25", "match"),
        ("submission_cost", second): ("0.25", "0.25", "match"),
    }


def test_trials_of_one_agent_spread_over_files_are_counted_together(checked):
    files = {
        LOG: results(simulation("0", 1.0), simulation("1", 1.0)),
        "logs/b.json": results(simulation("0", 0.0, id="b-0"), simulation("1", 1.0, id="b-1")),
        SUBMISSION: submission(pass_1=75.0, pass_2=50.0, pass_3=10.0),
    }
    subject = f"{SUBMISSION} airline: {LOG}, logs/b.json"
    found = checked(files)
    assert found["pass_1", subject] == ("75", "75", "match")
    assert found["pass_2", subject] == ("50", "50", "match")
    assert found["pass_3", subject][2] == "component_missing_value"


def test_a_submission_without_trajectories_is_unknown_and_an_unpriced_one_too(checked):
    subject = f"{SUBMISSION} airline: no trajectory file"
    assert checked({SUBMISSION: submission(pass_1=50.0)})["pass_1", subject][2] == "components_missing"
    unpriced = simulation(agent=0.0, messages=[says("assistant", 0.0)])
    found = checked({LOG: results(unpriced), SUBMISSION: submission(cost=0.0)})
    assert found["submission_cost", f"{SUBMISSION} airline: {LOG}"][2] == "component_missing_value"


def test_a_null_agreement_counts_as_disagreement_and_the_words_are_a_second_check(checked):
    entries = [judged(), judged("compliant", None), judged("failure", None, False), judged("unknown", None)]
    found = checked({LOG: summary(*entries, agree=1, disagree=3, cost=2.0)})
    assert found == {
        ("agree_count", LOG): ("1", "1", "match"),
        ("agree_count_by_words", LOG): ("1", "3", "mismatch"),
        ("disagree_count", LOG): ("3", "3", "match"),
        ("judge_cost", LOG): ("2", "2", "match"),
        ("total_judged", LOG): ("4", "4", "match"),
    }


def test_a_word_nobody_has_seen_makes_the_second_check_unknown(checked):
    found = checked({LOG: summary(judged(), judged("so-so", None), agree=1, disagree=1)})
    assert found["agree_count_by_words", LOG][2] == "component_missing_value"


def test_verdicts_of_the_judge_are_reviews_of_the_simulation_they_name(read):
    tables = read({LOG: summary(judged())})
    (review,) = tables.rows("core_approvals")
    assert (review["run_id"], review["by"], review["by_id"]) == ("sim-0", "model", "gpt-4o")
    assert (review["result"], review["reason"], review["pointer"]) == ("pass", "because", "/entries/0")
    (usage,) = tables.rows("core_usage")
    assert (usage["run_id"], usage["input_tokens"], str(usage["cost_usd"])) == (LOG, 5, "0.500000000000000000")


def test_assertions_judged_by_a_model_are_reviews_too(read):
    judgement = [{"nl_assertion": "a", "met": False, "justification": "no"}, {"nl_assertion": "b"}]
    reward = {"reward": 0.0, "nl_assertions": judgement}
    reviews = list(read({LOG: results(simulation(reward_info=reward))}).rows("core_approvals"))
    assert [(row["by"], row["result"], row["reason"]) for row in reviews] == [
        ("rule", "0.0", None),
        ("model", "met: false", "no"),
    ]
