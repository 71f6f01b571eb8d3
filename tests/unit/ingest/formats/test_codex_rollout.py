"""Codex rollouts: counts written twice, forks that copy their parent, and calls known by item, output and event."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.formats.codex_rollout import belonging, detect
from governance_pipeline.ingest.logfile import Sample

LOG = "logs/rollout.jsonl"


def line(kind, payload, second=0):
    return {"timestamp": f"2026-02-23T11:40:{second:02d}.000Z", "type": kind, "payload": payload}


def meta(session="s-1", **members):
    return line("session_meta", {"id": session, "originator": "codex_cli_rs", "cli_version": "0.104.0", **members})


def turn(**members):
    return line("turn_context", {"model": "gpt-5", "effort": "high", "approval_policy": "on-request", **members})


def event(kind, second=0, **members):
    return line("event_msg", {"type": kind, **members}, second)


def item(kind, **members):
    return line("response_item", {"type": kind, **members})


def tokens(inputs, outputs, total=None):
    return {
        "input_tokens": inputs,
        "cached_input_tokens": inputs // 2,
        "output_tokens": outputs,
        "reasoning_output_tokens": 0,
        "total_tokens": inputs + outputs if total is None else total,
    }


def count(total, last, second=0):
    return event("token_count", second, info={"total_token_usage": total, "last_token_usage": last})


def call(call_id="c-1", command="ls", **members):
    return item(
        "function_call", name="exec_command", arguments=json.dumps({"cmd": command}), call_id=call_id, **members
    )


def output(text, call_id="c-1"):
    return item("function_call_output", call_id=call_id, output=text)


FIRST, SECOND = tokens(100, 10), tokens(50, 5)
BOTH = tokens(150, 15)
COUNTS = [event("token_count", info=None), count(FIRST, FIRST), count(FIRST, FIRST, 1), count(BOTH, SECOND, 2)]


@pytest.fixture
def checks(read):
    """Give a function that reads files and returns {(subject, check): (status, declared, computed)}."""

    def _checks(files):
        tables = read(files)
        frames = [tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")]
        found = cross_checks(*frames)
        found = found.astype(object).where(found.notna(), None).to_dict("records")
        return {(r["subject_id"], r["check_id"]): (r["status"], r["declared_raw"], r["computed"]) for r in found}

    return _checks


def test_a_count_written_twice_is_one_call(checks, read):
    log = [meta(), turn(), *COUNTS]
    assert checks({LOG: log})["s-1", "codex_rollout_total_input_tokens"] == ("match", "150", "150")
    usage = list(read({LOG: log}).rows("core_usage"))
    assert [row["duplicate_of"] for row in usage] == [None, f"{LOG}:4", None]
    assert {row["model_id"] for row in usage} == {"gpt-5"}
    assert all(row["dedup_reason"] and row["is_cache_inside_input"] for row in usage)


def test_a_total_that_its_calls_contradict_is_a_mismatch(checks):
    zeros = tokens(0, 0)
    found = checks({LOG: [meta(), count(FIRST, FIRST), count(zeros, zeros)]})
    assert found["s-1", "codex_rollout_total_tokens"] == ("mismatch", "0", "110")
    assert found["s-1", "codex_rollout_total_tokens_by_parts"] == ("mismatch", "0", "110")


def test_a_compaction_repeats_the_total_with_the_size_of_the_new_context(checks, read):
    log = [meta(), count(FIRST, FIRST), count(FIRST, tokens(0, 0, total=43_656)), line("compacted", {"message": ""})]
    assert checks({LOG: log})["s-1", "codex_rollout_total_tokens"] == ("match", "110", "110")
    rows = list(read({LOG: log}).rows("core_components"))
    naive = [r["value_raw"] for r in rows if (r["source"], r["column"]) == ("reports", "total_tokens")]
    assert naive == ["110", "43656"]


def test_a_total_that_an_overflow_replaced_by_the_window_is_no_sum(checks):
    full = {**tokens(0, 0), "total_tokens": 1000}
    info = {"total_token_usage": full, "last_token_usage": {**tokens(0, 0), "total_tokens": 890}}
    overflow = event("token_count", info={**info, "model_context_window": 1000})
    later = count({**SECOND, "total_tokens": 1055}, SECOND, 3)
    found = checks({LOG: [meta(), count(FIRST, FIRST), overflow, later]})
    assert {status for status, _, _ in found.values()} == {"unverifiable"}


def test_history_in_a_compaction_makes_no_second_call(read):
    history = [{"type": "function_call", "name": "exec_command", "call_id": "c-1", "arguments": "{}"}]
    log = [meta(), call(), line("compacted", {"message": "", "replacement_history": history})]
    assert len(list(read({LOG: log}).rows("core_steps"))) == 1


def test_a_fork_copies_the_counts_and_calls_of_its_parent(checks, read):
    parent = [meta("p"), turn(), call(), *COUNTS]
    third = tokens(250, 25)
    child = [
        meta("c", forked_from_id="p"),
        meta("p"),
        turn(),
        {**call(), "timestamp": "2026-02-24T00:00:00Z"},
        *({**copied, "timestamp": "2026-02-24T00:00:00Z"} for copied in COUNTS),
        call("c-2", "make"),
        count(third, tokens(100, 10), 9),
    ]
    files = {"logs/a-child.jsonl": child, "logs/b-parent.jsonl": parent}
    found = checks(files)
    assert found["c", "codex_rollout_total_tokens"] == ("match", "275", "275")
    assert found["p", "codex_rollout_total_tokens"] == ("match", "165", "165")
    tables = read(files)
    runs = {run["run_id"]: run for run in tables.rows("core_runs")}
    assert (runs["c"]["parent_run_id"], runs["p"]["parent_run_id"]) == ("p", None)
    counted = [(r["run_id"], r["input_tokens"]) for r in tables.rows("core_usage") if r["duplicate_of"] is None]
    assert counted == [("p", 100), ("p", 50), ("c", 100)]
    assert [(r["run_id"], r["command"]) for r in tables.rows("core_steps")] == [("p", "ls"), ("c", "make")]


def test_a_fork_whose_parent_goes_on_is_not_a_copy_of_what_came_later(read):
    parent = [meta("p"), *COUNTS, count(tokens(151, 16), tokens(1, 1), 5)]
    child = [meta("c", forked_from_id="p"), *COUNTS, count(tokens(152, 16), tokens(2, 1), 5)]
    usage = read({"logs/a.jsonl": child, "logs/b.jsonl": parent}).rows("core_usage")
    assert sum(r["input_tokens"] for r in usage if r["duplicate_of"] is None) == 153


def test_a_sub_agent_is_a_run_of_its_parent(read):
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "agent_nickname": "Ada", "agent_role": "worker"}}}
    spawned = event("collab_agent_spawn_end", new_thread_id="k")
    tables = read(
        {"logs/a.jsonl": [meta("p"), spawned], "logs/b.jsonl": [meta("c", source=spawn)], "logs/k.jsonl": [meta("k")]}
    )
    runs = {run["run_id"]: run for run in tables.rows("core_runs")}
    assert (runs["c"]["parent_run_id"], runs["c"]["agent_id"], runs["k"]["parent_run_id"]) == ("p", "Ada", "p")


def test_sessions_that_name_each_other_as_parents_are_still_read(read):
    logs = {f"logs/{a}.jsonl": [meta(a, forked_from_id=b), *COUNTS] for a, b in ("xy", "yx", "zz")}
    assert len(list(read(logs).rows("core_runs"))) == 3


def test_a_copy_of_a_session_taken_while_it_grew_repeats_lines(read):
    log = [meta(), turn(), *COUNTS]
    tables = read({"archived/x.jsonl": log[:4], "logs/x.jsonl": log})
    files = {r["path"]: r for r in tables.rows("raw_log_files")}
    assert (files["logs/x.jsonl"]["duplicates"], files["logs/x.jsonl"]["accepted"]) == (4, 2)
    assert len(list(tables.rows("core_runs"))) == 1
    assert {r["reason_code"] for r in tables.rows("raw_quarantine")} == {"repeated_line"}


def test_equal_lines_of_one_file_are_no_copies(read):
    (file,) = read({LOG: [meta(), *COUNTS[:1] * 3]}).rows("raw_log_files")
    assert (file["accepted"], file["duplicates"]) == (4, 0)


def test_a_run_tells_its_session_version_model_and_end(read):
    log = [
        meta(session_id="root"),
        turn(),
        event("task_started"),
        event("task_complete", turn_id="t", duration_ms=1200),
    ]
    tables = read({LOG: log})
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["session_id"], run["platform"]) == ("s-1", "root", "codex_cli_rs 0.104.0")
    assert (run["model_id"], run["thinking"], run["exit_status"]) == ("gpt-5", "high", "task_complete")
    assert [(r["field"], r["value_raw"], r["subject_id"]) for r in tables.rows("core_declared")] == [
        ("task_duration_ms", "1200", "s-1/t")
    ]
    (open_run,) = read({LOG: [*log, event("task_started")]}).rows("core_runs")
    assert open_run["exit_status"] is None
    (aborted,) = read({LOG: [*log, event("turn_aborted", reason="interrupted")]}).rows("core_runs")
    assert aborted["exit_status"] == "turn_aborted: interrupted"


def test_a_session_without_its_meta_line_is_named_by_its_file(read):
    (run,) = read({LOG: [turn(), call()]}).rows("core_runs")
    assert run["run_id"] == LOG


def test_a_truncated_last_line_makes_totals_unknown(checks):
    text = "".join(json.dumps(each) + "\n" for each in [meta(), *COUNTS]) + '{"timestamp": "2026'
    assert checks({LOG: text})["s-1", "codex_rollout_total_tokens"][0] == "unverifiable"


def test_lines_that_cannot_be_used_are_quarantined_with_their_reason(read):
    text = "".join(
        json.dumps(each) + "\n"
        for each in [meta(), [1], {"payload": {}}, {"type": "event_msg"}, {"type": "x", "payload": {}}]
    )
    tables = read({LOG: text + "{\n\n"})
    assert [(r["line"], r["reason_code"]) for r in tables.rows("raw_quarantine")] == [
        (2, "not_an_object"),
        (3, "no_type"),
        (4, "bad_payload"),
        (6, "malformed_json"),
    ]
    (file,) = tables.rows("raw_log_files")
    assert (file["lines_in"], file["accepted"], file["blank"]) == (7, 2, 1)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "event_msg"},
        {"type": "user", "payload": {}, "timestamp": "t"},
        {"type": [], "payload": {}, "timestamp": ""},
        5,
    ],
)
def test_other_lines_are_not_claimed(value):
    assert not detect(Sample("x.jsonl", "jsonl", (value,)))


def test_a_rollout_is_of_the_session_of_its_first_meta_line_and_comes_from_the_one_it_names():
    sample = Sample("x.jsonl", "jsonl", (turn(), meta("c", forked_from_id="p"), meta("p")))
    assert belonging(sample, Path("x.jsonl"))[:2] == ("c", "p")
    assert belonging(Sample("x.jsonl", "jsonl", (5,)), Path("x.jsonl"))[:2] == (None, None)
