"""Audit log entries: one step each, what they do not say is null, what they claim is kept."""

from __future__ import annotations

import hashlib

import pandas as pd
import pytest

from governance_pipeline.ingest.native import audit_log

ENTRY = {
    "timestamp": "2025-01-02T03:04:05Z",
    "agent_id": "worker",
    "run_id": "run-1",
    "input_hash": "aa",
    "tool_called": "bash",
    "output_result": "done",
    "output_hash": hashlib.sha256(b"done").hexdigest(),
    "token_cost": 0.5,
    "self_reported_status": "ok",
    "independently_verified": False,
    "verification_method": None,
}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"run_id": None}, "bad_run_id"),
        ({"run_id": ""}, "bad_run_id"),
        ({"run_id": 7}, "bad_run_id"),
        ({"agent_id": 7}, "bad_agent_id"),
        ({"tool_called": ["bash"]}, "bad_tool_called"),
        ({"independently_verified": "yes"}, "bad_independently_verified"),
        ({"output_hash": 5}, "bad_output_hash"),
        ({"runtime": 5}, "bad_runtime"),
        ({"runtime": {"platform": 1}}, "bad_platform"),
        ({"session_id": 5}, "bad_session_id"),
    ],
)
def test_an_entry_of_the_wrong_shape_is_quarantined_and_makes_no_run(read_one, change, code):
    file, out = read_one(audit_log, [ENTRY, ENTRY | {"run_id": "run-2"} | change])
    assert [(row["line"], row["reason_code"]) for row in file.rejected] == [(2, code)]
    assert out.frame("core_runs")["run_id"].tolist() == ["run-1"]
    assert len(out.frame("core_steps")) == 1


def test_a_line_that_is_no_entry_is_quarantined(read):
    tables = read({"logs/a.jsonl": [ENTRY, [1], "text"]})
    assert [row["reason_code"] for row in tables.rows("raw_quarantine")] == ["not_an_object"] * 2


def test_an_audit_log_is_known_by_its_content_whatever_its_name(read):
    tables = read({"logs/strange.txt": [ENTRY], "audit.log": [ENTRY], "logs/other.jsonl": [{"run_id": "x"}]})
    formats = {row["path"]: row["format"] for row in tables.rows("raw_log_files")}
    assert formats == {
        "logs/strange.txt": "native_audit_log",
        "audit.log": "native_audit_log",
        "logs/other.jsonl": None,
    }


def test_steps_are_numbered_inside_their_run_across_files_in_path_order(rows):
    steps = rows("core_steps", {"logs/b.jsonl": [ENTRY], "logs/a.jsonl": [ENTRY, ENTRY | {"run_id": "run-2"}]})
    assert [(row["path"], row["run_id"], row["step_index"]) for row in steps] == [
        ("logs/a.jsonl", "run-1", 1),
        ("logs/a.jsonl", "run-2", 1),
        ("logs/b.jsonl", "run-1", 2),
    ]


def test_claims_and_computed_digests_are_kept_apart(rows):
    (step,) = rows("core_steps", {"logs/a.jsonl": [ENTRY | {"output_hash": "made up", "independently_verified": True}]})
    assert step["output_hash"] == "made up"
    assert step["output_result_sha256"] == ENTRY["output_hash"]
    assert (step["is_independently_verified"], step["self_reported_status"], step["status"]) == (True, "ok", None)


@pytest.mark.parametrize("output", [None, 5, {"file": "x"}, ["a"]])
def test_the_digest_of_an_output_that_is_no_text_is_unknown(read_one, output):
    _, out = read_one(audit_log, [ENTRY | {"output_result": output}])
    assert out.frame("core_steps")["output_result_sha256"].isna().all()


@pytest.mark.parametrize(
    ("output_path", "is_found"),
    [("out/data.csv", True), ("./out/../out/data.csv", True), ("out/other.csv", False), ("/out/data.csv", False),
     ("../out/data.csv", False), ("OUT/data.csv", False)],
)  # fmt: skip
def test_the_digest_of_an_output_file_is_that_of_the_file_in_the_round(rows, output_path, is_found):
    files = {"logs/a.jsonl": [ENTRY | {"output_path": output_path}], "out/data.csv": "a,b\n"}
    (step,) = rows("core_steps", files)
    assert step["output_file_sha256"] == (hashlib.sha256(b"a,b\n").hexdigest() if is_found else None)


def test_a_run_takes_the_values_its_entries_agree_on(rows):
    entries = [
        ENTRY | {"runtime": "claude-code/opus/4/high", "parent_run_id": "p", "session_id": "s"},
        ENTRY | {"timestamp": "2025-01-02T02:00:00+00:00", "agent_id": "validator", "self_reported_status": "failed"},
    ]
    (run,) = rows("core_runs", {"logs/a.jsonl": entries})
    assert run["agent_id"] is None
    assert (run["parent_run_id"], run["session_id"]) == ("p", "s")
    assert (run["platform"], run["model_id"], run["thinking"]) == ("claude-code", "opus/4", "high")
    assert (run["started_at"].hour, run["ended_at"].hour) == (2, 3)
    assert (run["self_reported_status"], run["opaque_step_count"], run["is_replay"]) == ("failed", 2, None)


@pytest.mark.parametrize(
    ("runtime", "expected"),
    [
        (None, (None, None, None)),
        ("codex", ("codex", None, None)),
        ("codex/gpt", ("codex/gpt", None, None)),
        ({"platform": "codex", "model": "gpt"}, ("codex", "gpt", None)),
    ],
)
def test_a_runtime_that_does_not_say_all_leaves_the_rest_unknown(read_one, runtime, expected):
    _, out = read_one(audit_log, [ENTRY | {"runtime": runtime}])
    named = out.frame("core_runs")[["platform", "model_id", "thinking"]].iloc[0]
    assert tuple(None if value is pd.NA else value for value in named) == expected


def test_components_exist_for_declared_subjects_only(rows):
    log = [ENTRY, ENTRY | {"run_id": "run-2", "token_cost": None}, ENTRY | {"token_cost": "0.5"}]
    assert rows("core_components", {"logs/a.jsonl": log}) == []


def test_components_of_a_run_and_of_the_round_are_numbered_apart(rows):
    log = [ENTRY, ENTRY | {"run_id": "run-2", "token_cost": None}, ENTRY | {"token_cost": "0.5"}]
    declared = [
        {"subject": "run-1", "field": "total_cost_usd", "value": 1.0},
        {"subject": "r-1", "field": "total_cost_usd", "value": 1.5},
        {"subject": "nobody", "field": "total_cost_usd", "value": 1},
    ]
    components = rows("core_components", {"logs/a.jsonl": log, "declared.jsonl": declared})
    costs = [row for row in components if row["column"] == "token_cost"]
    assert [(c["subject_id"], c["row_index"], c["value_raw"], c["value_kind"], c["line"]) for c in costs] == [
        ("run-1", 1, "0.5", "number", 1),
        ("r-1", 1, "0.5", "number", 1),
        ("r-1", 2, None, "missing", 2),
        ("run-1", 2, "0.5", "text", 3),
        ("r-1", 3, "0.5", "text", 3),
    ]
    assert {(row["source"], row["format"]) for row in components} == {("audit_log", "native")}
    assert {row["column"] for row in components} == {"token_cost", "tool_called", "agent_id", "run_id"}
    assert {row["pointer"] for row in costs} == {"/token_cost"}


def test_a_run_called_like_the_round_has_one_set_of_components(rows):
    files = {
        "logs/a.jsonl": [ENTRY | {"run_id": "r-1"}, ENTRY],
        "declared.jsonl": [{"subject": "r-1", "field": "step_count", "value": 2}],
    }
    costs = [row["row_index"] for row in rows("core_components", files) if row["column"] == "token_cost"]
    assert costs == [1, 2]
