"""Claude Code sessions: calls are counted once, unknown stays unknown, and no line is lost."""

from __future__ import annotations

import json

import pytest

LOG = "logs/session.jsonl"


def test_one_call_written_once_per_block_counts_once_with_its_largest_output(claude, tokens, rows):
    lines = [
        claude.user(),
        claude.says({"type": "text", "text": "a"}, message_id="m1", usage=tokens(output_tokens=1)),
        claude.says({"type": "text", "text": "b"}, message_id="m1", usage=tokens(output_tokens=598)),
        claude.says({"type": "text", "text": "c"}, message_id="m1", usage=tokens(output_tokens=1)),
    ]
    usage = rows("core_usage", {LOG: lines})
    assert [(row["output_tokens"], row["duplicate_of"]) for row in usage] == [
        (1, "logs/session.jsonl:3"),
        (598, None),
        (1, "logs/session.jsonl:3"),
    ]
    assert {row["dedup_key"] for row in usage} == {"m1"}
    assert all("content block" in row["dedup_reason"] for row in usage)


def test_without_a_message_id_the_request_id_tells_the_call(claude, tokens, rows):
    lines = [claude.says(usage=tokens(), requestId="req-1"), claude.says(usage=tokens(), requestId="req-1")]
    usage = rows("core_usage", {LOG: lines})
    assert [row["duplicate_of"] for row in usage] == [None, "logs/session.jsonl:1"]


def test_without_any_id_each_report_is_a_call(claude, tokens, rows):
    usage = rows("core_usage", {LOG: [claude.says(usage=tokens()), claude.says(usage=tokens())]})
    assert [(row["dedup_key"], row["dedup_reason"], row["duplicate_of"]) for row in usage] == [(None, None, None)] * 2


def test_cached_tokens_are_outside_the_input_count(claude, tokens, one):
    row = one("core_usage", {LOG: [claude.says(message_id="m1", usage=tokens(3, 5, creation=7, read=11))]})
    assert (row["input_tokens"], row["cache_creation_tokens"], row["cache_read_tokens"]) == (3, 7, 11)
    assert row["is_cache_inside_input"] is False
    assert row["cost_usd"] is None


def test_a_dialect_that_writes_zeros_for_every_call_has_measured_nothing(claude, tokens, one):
    row = one("core_usage", {LOG: [claude.says(message_id="m1", usage=tokens(0, 0), model="glm-4.6")]})
    assert (row["input_tokens"], row["output_tokens"], row["cache_read_tokens"]) == (None, None, None)


def test_zeros_of_a_synthetic_message_are_true_and_it_names_no_model(claude, tokens, read):
    line = claude.says(message_id="m1", usage=tokens(0, 0), model="<synthetic>")
    tables = read({LOG: [line]})
    assert list(tables.frame("core_usage")["output_tokens"]) == [0]
    assert next(tables.rows("core_runs"))["model_id"] is None


@pytest.mark.parametrize("count", ["12", 1.5, -1, True, None, 2**70])
def test_a_token_count_that_is_no_count_is_unknown(claude, tokens, one, count):
    report = tokens() | {"input_tokens": count}
    row = one("core_usage", {LOG: [claude.says(message_id="m1", usage=report)]})
    assert (row["input_tokens"], row["output_tokens"]) == (None, 1)


def test_a_byte_identical_line_of_a_resumed_session_is_a_duplicate(claude, tokens, read):
    lines = [claude.user(), claude.calls("Bash", "t1", {"command": "ls"}, message_id="m1", usage=tokens())]
    new = claude.says({"type": "text", "text": "more"}, message_id="m2", usage=tokens())
    tables = read({"logs/a.jsonl": lines, "logs/b.jsonl": [*lines, new]})
    quarantine = list(tables.rows("raw_quarantine"))
    assert [(row["line"], row["duplicate_of"], row["reason_code"]) for row in quarantine] == [
        (1, "logs/a.jsonl:1", "repeated_line"),
        (2, "logs/a.jsonl:2", "repeated_line"),
    ]
    assert list(tables.frame("core_usage")["duplicate_of"].isna()) == [True, True]
    assert len(tables.frame("core_steps")) == 1
    files = {row["path"]: row for row in tables.rows("raw_log_files")}
    assert (files["logs/b.jsonl"]["accepted"], files["logs/b.jsonl"]["duplicates"]) == (1, 2)


def test_a_copied_line_with_a_new_session_id_adds_no_step_and_its_usage_is_a_repetition(claude, tokens, read):
    old = claude.calls("Bash", "t1", {"command": "ls"}, message_id="m1", usage=tokens())
    fork = json.loads(json.dumps(old).replace(old["sessionId"], "fork-session"))
    new = claude.calls("Bash", "t2", {"command": "pwd"}, message_id="m2", usage=tokens()) | {
        "sessionId": "fork-session"
    }
    tables = read({"logs/a.jsonl": [old], "logs/b.jsonl": [fork, new]})
    usage = list(tables.rows("core_usage"))
    assert [row["duplicate_of"] for row in usage] == [None, "logs/a.jsonl:1", None]
    assert [(row["run_id"], row["call_id"]) for row in tables.rows("core_steps")] == [
        (old["sessionId"], "t1"),
        ("fork-session", "t2"),
    ]
    fork_run = next(row for row in tables.rows("core_runs") if row["run_id"] == "fork-session")
    assert fork_run["started_at"].isoformat() == new["timestamp"].replace(".000Z", "+00:00")


def test_a_fork_has_the_session_it_copied_as_its_parent_and_a_resume_in_place_has_none(claude, read):
    old = [claude.user(), claude.user()]
    fork = json.loads(json.dumps(old).replace(old[0]["sessionId"], "fork"))
    again = json.loads(json.dumps(fork).replace('"fork"', '"again"'))
    files = {"logs/a.jsonl": old, "logs/b.jsonl": fork, "logs/c.jsonl": again, "logs/d.jsonl": [*old, claude.user()]}
    runs = {row["run_id"]: row["parent_run_id"] for row in read(files).rows("core_runs")}
    session = old[0]["sessionId"]
    assert runs == {session: None, "fork": session, "again": session}


def test_sessions_that_copied_from_each_other_are_put_in_no_circle(claude, read):
    one, two = claude.user(), claude.user() | {"sessionId": "b"}
    lines = [one, one | {"sessionId": "b"}, two, two | {"sessionId": one["sessionId"]}]
    runs = {row["run_id"]: row["parent_run_id"] for row in read({LOG: lines}).rows("core_runs")}
    assert list(runs.values()).count(None) >= 1


def test_a_line_that_breaks_off_at_the_end_of_a_live_file_is_quarantined_and_kept_apart(claude, tokens, read):
    good = json.dumps(claude.says(message_id="m1", usage=tokens()))
    tables = read({LOG: f"{good}\n{good[:-20]}"})
    assert [(row["line"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [(2, "malformed_json")]
    assert len(tables.frame("core_usage")) == 1


def test_the_same_message_id_in_two_files_counts_once(claude, tokens, rows):
    first = claude.says({"type": "text", "text": "a"}, message_id="m1", usage=tokens(output_tokens=9))
    second = claude.says({"type": "text", "text": "a"}, message_id="m1", usage=tokens(output_tokens=9), cwd="/else")
    usage = rows("core_usage", {"logs/a.jsonl": [first], "logs/b.jsonl": [second]})
    assert [row["duplicate_of"] for row in usage] == [None, "logs/a.jsonl:1"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('"massive error"', "not_an_object"),
        ("42", "not_an_object"),
        ('{"silly": "this"}', "no_type"),
        ('{"type": "user", "message": "error"}', "bad_message"),
        ('{"type": "assistant", "message": {"contenst": []}}', "bad_content"),
        ('{"type": "user", "message": {"content": ["wow error"]}}', "bad_content"),
        ('{"type": "assistant", "message": {"content"', "malformed_json"),
    ],
)
def test_a_line_that_cannot_be_used_is_quarantined_and_the_rest_goes_on(claude, tokens, read, line, code):
    good = claude.says(message_id="m1", usage=tokens())
    tables = read({LOG: f"{json.dumps(claude.user())}\n{line}\n{json.dumps(good)}\n"})
    assert [(row["line"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [(2, code)]
    assert len(tables.frame("core_usage")) == 1


def test_lines_of_a_type_nobody_has_seen_are_accepted(claude, read):
    tables = read({LOG: [claude.user(), claude.line("bridge-session"), {"type": "brand-new", "sessionId": "x"}]})
    assert [row["accepted"] for row in tables.rows("raw_log_files")] == [3]


def test_a_web_export_is_read_like_the_session_it_wraps(tokens, read):
    lines = [
        {"type": "user", "message": {"role": "user", "content": "hi"}, "timestamp": "2026-01-05T10:00:00Z"},
        {"type": "assistant", "message": {"role": "assistant", "content": [], "id": "m1", "usage": tokens()}},
        17,
    ]
    tables = read({"logs/web.json": json.dumps({"loglines": lines})})
    (file,) = tables.rows("raw_log_files")
    assert (file["format"], file["record_unit"], file["lines_in"], file["quarantined"]) == (
        "claude_code",
        "record",
        3,
        1,
    )
    (usage,) = tables.rows("core_usage")
    assert (usage["line"], usage["pointer"]) == (None, "/loglines/1/message/usage")
    assert usage["run_id"] == "logs/web.json"


def test_a_repetition_inside_a_web_export_is_named_by_its_pointer(claude, tokens, rows):
    lines = [claude.says(message_id="m1", usage=tokens()), claude.says(message_id="m1", usage=tokens())]
    usage = rows("core_usage", {"logs/web.json": json.dumps({"loglines": lines})})
    assert usage[1]["duplicate_of"] == "logs/web.json:/loglines/0/message/usage"


def test_the_folder_name_of_a_project_is_never_decoded(claude, tokens, read):
    lines = [claude.says(message_id="m1", usage=tokens())]
    (run,) = read({"logs/-a-b/s.jsonl": lines}).rows("core_runs")
    assert (run["run_id"], run["path"]) == (lines[0]["sessionId"], "logs/-a-b/s.jsonl")
    assert not any("/a/b" in str(value) for value in run.values())


def test_the_version_of_a_file_is_the_first_one_its_lines_state(claude, read):
    tables = read({LOG: [{"type": "summary", "leafUuid": "x"}, claude.user(), claude.user() | {"version": "9"}]})
    assert [row["format_version"] for row in tables.rows("raw_log_files")] == ["2.1.80"]


def test_a_run_has_the_span_and_the_models_of_its_messages(claude, tokens, one):
    lines = [
        claude.user(thinkingMetadata={"level": "high"}),
        claude.says(message_id="m1", usage=tokens(), model="claude-opus-4-6"),
        claude.says(message_id="m2", usage=tokens(), model="claude-haiku-4-5"),
    ]
    row = one("core_runs", {LOG: lines})
    assert (row["model_id"], row["thinking"]) == ("claude-opus-4-6, claude-haiku-4-5", "high")
    assert (row["platform"], row["session_id"]) == ("claude-code 2.1.80", lines[0]["sessionId"])
    assert (row["started_at"].second, row["ended_at"].second) == (1, 3)


def test_a_session_named_like_a_native_run_gets_an_id_of_its_own(claude, read, session):
    native = {"timestamp": "2026-01-05T10:00:00Z", "agent_id": "a", "run_id": session, "tool_called": "bash"}
    tables = read({"logs/audit.jsonl": [native], LOG: [claude.user()]})
    assert [row["run_id"] for row in tables.rows("core_runs")] == [session, f"{session}@logs/session.jsonl"]
