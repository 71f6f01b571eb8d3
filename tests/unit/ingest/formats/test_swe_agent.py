"""SWE-agent trajectories: calls are counted twice, independently, and a zero is not a measurement."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks

LOG = "logs/x.traj"
PATCH = (
    "\r\ndiff --git a/src/a.py b/src/a.py\r\n--- a/src/a.py\r\n+++ b/src/a.py\r\n@@ -1 +1,2 @@\r\n-a\r\n+b\r\n+c\r\n"
)
OLD_STATS = {"total_cost": 0.5, "instance_cost": 0.25, "tokens_sent": 100, "tokens_received": 7, "api_calls": 2}
NEW_STATS = {"instance_cost": 0.25, "tokens_sent": 100, "tokens_received": 7, "api_calls": 2}


def step(action="ls", observation="a.py", **members):
    return {"action": action, "observation": observation, "response": "r", "thought": "t", **members}


def message(role="assistant", **members):
    return {"role": role, "content": "x", "agent": "main", **members}


def trajectory(steps=(), history=(), stats=OLD_STATS, submission=None, **members):
    info = {"exit_status": "submitted", "submission": submission, "model_stats": dict(stats)}
    return {"environment": "main", "trajectory": list(steps), "history": list(history), "info": info, **members}


@pytest.fixture
def load(read):
    return lambda document: read({LOG: json.dumps(document, indent=1)})


def counts(tables):
    found = {}
    for row in tables.rows("core_components"):
        found[row["source"]] = found.get(row["source"], 0) + 1
    return found


def test_steps_and_assistant_messages_are_two_independent_counts_of_the_calls(load):
    tables = load(trajectory([step(), step("submit")], [message("system"), message(), message("user")]))
    assert counts(tables) == {"steps": 2, "messages": 1}
    declared = {row["field"]: row["value_raw"] for row in tables.rows("core_declared")}
    assert declared == {
        "total_cost": "0.5",
        "instance_cost": "0.25",
        "tokens_sent": "100",
        "tokens_received": "7",
        "api_calls": "2",
    }
    first = next(tables.rows("core_components"))
    assert (first["subject_id"], first["column"], first["value_raw"]) == (LOG, "action", "ls")
    assert first["pointer"] == "/trajectory/0/action"


@pytest.mark.parametrize("mark", [True, "True"])
def test_demonstrations_in_the_history_are_no_calls(load, mark):
    assert counts(load(trajectory([step()], [message(is_demo=mark), message()]))) == {"steps": 1, "messages": 1}


def test_a_newer_file_has_no_total_cost_and_does_not_declare_one(load):
    fields = {row["field"] for row in load(trajectory(stats=NEW_STATS)).rows("core_declared")}
    assert fields == {"instance_cost", "tokens_sent", "tokens_received", "api_calls"}


def test_a_file_without_model_stats_declares_nothing_and_is_still_a_run(load):
    document = trajectory([step()], [message()])
    del document["info"]["model_stats"]
    tables = load(document)
    assert tables.frame("core_declared").empty
    assert len(tables.frame("core_runs")) == 1


def test_a_declared_zero_stays_the_zero_it_is(load):
    stats = dict.fromkeys(OLD_STATS, 0)
    values = {row["value_raw"] for row in load(trajectory([step()], [message()], stats)).rows("core_declared")}
    assert values == {"0"}


def retried(**info):
    attempt = trajectory([step(), step()], [message(), message()], stats=NEW_STATS)
    attempt["info"]["review"] = {"accept": 7.5, "outputs": ["Looks right."], "messages": []}
    total = {"instance_cost": 0.75, "tokens_sent": 230, "tokens_received": 17, "api_calls": 5}
    document = {"attempts": [attempt, attempt], **trajectory([step()], [message()], stats=total)}
    document["info"] |= {
        "review": attempt["info"]["review"],
        "rloop_model_stats": {"instance_cost": 0.25, "tokens_sent": 30, "tokens_received": 3, "api_calls": 1},
        **info,
    }
    return document


def checks(tables):
    frame = cross_checks(*(tables.frame(table) for table in ("core_declared", "core_components", "raw_quarantine")))
    plain = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return {(row["subject_id"].rpartition("/")[2], row["check_id"]): row for row in plain}


def test_attempts_of_a_retrying_agent_are_all_counted_each_against_its_own_numbers(load):
    tables = load(retried())
    assert counts(tables) == {"steps": 4, "messages": 4, "attempts": 10, "reviews": 5}
    assert [row["pointer"] for row in tables.rows("core_steps")][2] == "/attempts/1/trajectory/0"
    found = checks(tables)
    assert {row["status"] for row in found.values()} == {"match"}
    assert {subject for subject, _ in found} == {"0", "1", "x.traj"}
    assert len(found) == 2 + 2 + 4


def test_a_total_that_leaves_out_the_reviews_is_a_mismatch_and_one_without_their_number_is_unknown(load):
    short = retried()
    short["info"]["model_stats"]["api_calls"] = 4
    row = checks(load(short))["x.traj", "swe_agent_all_attempts_api_calls"]
    assert (row["status"], row["declared_raw"], row["computed"]) == ("mismatch", "4", "5")
    found = checks(load(retried(rloop_model_stats=None)))["x.traj", "swe_agent_all_attempts_api_calls"]
    assert (found["status"], found["reason_code"]) == ("unverifiable", "component_missing_value")


def test_a_cost_of_zero_for_reviews_that_were_made_is_a_price_nobody_knew(load):
    free = {"instance_cost": 0.0, "tokens_sent": 30, "tokens_received": 3, "api_calls": 1}
    row = checks(load(retried(rloop_model_stats=free)))["x.traj", "swe_agent_all_attempts_instance_cost"]
    assert row["reason_code"] == "component_missing_value"
    none = {"instance_cost": 0.0, "tokens_sent": 0, "tokens_received": 0, "api_calls": 0}
    row = checks(load(retried(rloop_model_stats=none)))["x.traj", "swe_agent_all_attempts_instance_cost"]
    assert row["status"] == "mismatch"  # no review was made, so nothing explains the difference


def test_what_a_reviewer_and_a_chooser_said_is_a_review_by_a_model_and_copies_are_left_out(load):
    rows = load(retried(chooser={"chosen_idx": 1, "response": "The second."})).rows("core_approvals")
    assert [(row["kind"], row["by"], row["result"], row["reason"], row["pointer"]) for row in rows] == [
        ("review", "model", "accept: 7.5", "Looks right.", "/attempts/0/info/review"),
        ("review", "model", "accept: 7.5", "Looks right.", "/attempts/1/info/review"),
        ("review", "model", "chosen_idx: 1", "The second.", "/info/chooser"),
    ]


def test_a_file_saved_before_an_attempt_was_chosen_is_read(load):
    tables = load({"attempts": retried()["attempts"]})
    assert len(list(tables.rows("core_steps"))) == 4
    assert {row["status"] for row in checks(tables).values()} == {"match"}
    assert load({"attempts": [5]}).unclaimed == {LOG: "unsupported_format"}


CONFIG = {"agent": {"model": {"name": "gpt-4o", "completion_kwargs": {"reasoning_effort": "high"}}}}


@pytest.mark.parametrize(
    ("config", "sent", "calls", "is_replay"),
    [
        (CONFIG, 100, 2, False),  # every run of 1.x carries its replay_config
        (CONFIG, 0, 11, True),
        (json.dumps(CONFIG), 0, 11, True),
        ({"agent": {"model": {"name": "replay"}}}, 0, 0, True),
        ({"agent": {"model": {"name": "human"}}}, 0, 11, None),
        (CONFIG, 0, 0, None),
        (None, 0, 11, None),
        ("{not json", 0, 11, None),
    ],
)
def test_a_replay_is_known_by_answers_nobody_was_asked_for(load, config, sent, calls, is_replay):
    stats = NEW_STATS | {"tokens_sent": sent, "api_calls": calls}
    (run,) = load(trajectory([step()], stats=stats, replay_config=config)).rows("core_runs")
    assert run["is_replay"] == is_replay


def test_a_run_is_named_by_its_file_and_described_by_what_the_file_says(load):
    document = trajectory([step()], [message()], replay_config=CONFIG)
    document["info"]["swe_agent_version"] = "1.1.0"
    tables = load(document)
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["agent_id"], run["exit_status"]) == (LOG, "main", "submitted")
    assert (run["platform"], run["model_id"], run["thinking"]) == ("swe-agent 1.1.0", "gpt-4o", "high")
    assert (run["started_at"], run["self_reported_status"]) == (None, None)
    assert [row["format_version"] for row in tables.rows("raw_log_files")] == ["1.1.0"]


def test_a_step_has_its_command_and_duration_but_no_exit_code_and_no_invented_status(load):
    (row,) = load(trajectory([step("pytest -q\n", "ok", execution_time=0.5)])).rows("core_steps")
    assert (row["tool"], row["command"], row["duration_s"]) == ("bash", "pytest -q", 0.5)
    assert (row["exit_code"], row["status"], row["at"]) == (None, None, None)


def test_the_submitted_patch_counts_only_where_no_edit_is_known_to_have_changed_a_file(load):
    blind = {"action": "edit 1:1\nb\nend_of_edit"}  # a projection cut the observation off
    tables = load(trajectory([blind, step("submit")], submission=PATCH))
    assert [(r["step_index"], r["file_path"], r["added_count"], r["deleted_count"], r["tool"], r["pointer"])
            for r in tables.rows("core_file_changes")] == [(2, "src/a.py", 2, 1, "submission", "/info/submission")]  # fmt: skip
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [1]


def test_edits_and_the_patch_that_repeats_them_are_not_both_counted(load):
    edit = step("edit 1:1\nb\nend_of_edit", "File updated.", state='{"open_file": "/r/src/a.py"}')
    tables = load(trajectory([edit, step("submit")], submission=PATCH))
    assert [(row["step_index"], row["file_path"], row["tool"]) for row in tables.rows("core_file_changes")] == [
        (1, "/r/src/a.py", "edit")
    ]


def test_a_submission_that_is_a_flag_is_no_patch(load):
    assert load(trajectory([step("submit")], submission="HTB{flag}")).frame("core_file_changes").empty


def test_a_trajectory_that_is_not_json_is_not_claimed(read):
    tables = read({LOG: '{\n "trajectory": [], "info": {},\n "response": The changes\n}'})
    assert tables.unclaimed == {LOG: "malformed_json"}


def test_a_trajectory_in_one_line_is_read_too(read):
    tables = read({"logs/x.jsonl": json.dumps(trajectory([step()], [message()])) + "\n"})
    assert len(tables.frame("core_steps")) == 1


@pytest.mark.parametrize(
    "entry", [None, 5, "x", [], {}, {"action": None}, {"action": 3, "observation": 4, "state": "{"}]
)
def test_a_step_of_any_shape_is_still_a_step(load, entry):
    tables = load(trajectory([step(), entry], [message(), entry]))
    assert len(tables.frame("core_steps")) == 2
    assert counts(tables)["steps"] == 2
