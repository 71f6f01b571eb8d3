"""Inspect AI: documents and archives hold the same log, and a total is no better than the samples beside it."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib

import pyarrow as pa
import pytest

MODEL = "openai/m"
FULL = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}


def header(results=None, usage=None, *, config=None, **members):
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": "log-1",
            "run_id": "set-1",
            "created": "2026-01-05T10:00:00+00:00",
            "task": "t",
            "model": MODEL,
            "config": config or {},
            "packages": {"inspect_ai": "0.3.128"},
        },
        "results": results or {},
        "stats": {"model_usage": usage or {}},
        **members,
    }


def score(name="match", metrics=None, **members):
    values = {key: {"name": key, "value": value} for key, value in (metrics or {}).items()}
    return {"name": name, "scorer": name, "metrics": values, **members}


def call(usage=None, **members):
    return {"event": "model", "model": MODEL, "output": {"usage": FULL if usage is None else usage}, **members}


def tool(function="bash", result="a\n", **members):
    event = {"event": "tool", "id": "c-1", "function": function, "arguments": {"cmd": "ls"}, "result": result}
    return {**event, "timestamp": "2026-01-05T10:00:01+00:00", "completed": "2026-01-05T10:00:03+00:00", **members}


def sample(number=1, epoch=1, value="C", events=(), **members):
    scores = {} if value is None else {"match": {"value": value, "explanation": "as it says"}}
    return {"id": number, "epoch": epoch, "scores": scores, "events": list(events), **members}


def zstd_archive(members):
    """Write what the standard library cannot write yet: a zip archive with members packed by zstd (method 93)."""
    body, directory = b"", b""
    for name, text in members.items():
        data, path = text.encode(), name.encode()
        content = pa.compress(data, codec="zstd", asbytes=True)
        common = (20, 0x800, 93, 0, 0, zlib.crc32(data), len(content), len(data), len(path), 0)
        directory += struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, *common, 0, 0, 0, 0, len(body)) + path
        body += struct.pack("<4s5H3I2H", b"PK\x03\x04", *common) + path + content
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + end


def deflated_archive(members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in members.items():
            out.writestr(name, text)
    return data.getvalue()


def members_of(top, *samples, **more):
    found = {"_journal/start.json": json.dumps({"version": 2, "eval": top["eval"], "plan": {}})}
    found |= {f"samples/{s['id']}_epoch_{s['epoch']}.json": json.dumps(s) for s in samples}
    return found | {"_journal/summaries/1.json": "[]", "summaries.json": "[]", "header.json": json.dumps(top)} | more


@pytest.fixture
def log(read):
    """Give a function that reads one log from a document."""
    return lambda top, *samples: read({"logs/x.json": json.dumps({**top, "samples": list(samples)})})


def declared(tables):
    return {(row["subject_id"], row["field"]): row["value_raw"] for row in tables.rows("core_declared")}


def parts(tables, source, column):
    found = [r for r in tables.rows("core_components") if (r["source"], r["column"]) == (source, column)]
    return [row["value_raw"] for row in sorted(found, key=lambda row: (row["subject_id"], row["row_index"]))]


@pytest.mark.parametrize("pack", [deflated_archive, zstd_archive])
def test_an_archive_holds_what_its_document_holds(read, log, pack):
    top = header({"total_samples": 2, "scores": [score(metrics={"accuracy": 0.5})]}, {MODEL: FULL})
    samples = [sample(1, events=[call(), tool()], model_usage={MODEL: FULL}), sample(2, value="I", model_usage={})]
    of_document = log(top, *samples)
    of_archive = read({"logs/x.eval": pack(members_of(top, *samples))})
    for table in ("core_runs", "core_steps", "core_usage", "core_declared", "core_components", "core_approvals"):
        left, right = ([{k: v for k, v in row.items() if k not in ("path", "file_sha256", "pointer", "component_paths")}
                        for row in tables.rows(table)] for tables in (of_document, of_archive))  # fmt: skip
        assert left == right
        assert left
    (file,) = of_archive.rows("raw_log_files")
    assert (file["lines_in"], file["accepted"], file["duplicates"], file["format_version"]) == (6, 4, 2, "2")
    assert [row["duplicate_of"] for row in of_archive.rows("raw_quarantine")] == [
        "logs/x.eval:/header.json",
        "logs/x.eval:/summaries.json",
    ]
    pointers = {row["pointer"] for row in of_archive.rows("core_declared")}
    assert "/header.json/results/total_samples" in pointers
    assert "/samples~11_epoch_1.json/model_usage/openai~1m/input_tokens" in pointers


def test_an_archive_that_was_never_finished_is_read_from_its_journal(read):
    files = members_of(header(), sample())
    del files["header.json"], files["summaries.json"]
    tables = read({"logs/x.eval": deflated_archive(files)})
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["log-1/1/1", "log-1"]
    assert [row["accepted"] for row in tables.rows("raw_log_files")] == [3]


def test_members_that_cannot_be_used_are_quarantined_one_by_one(read):
    files = members_of(header({"total_samples": 3}), sample(), **{
        "samples/2_epoch_1.json": '{"value": NaN}',
        "samples/3_epoch_1.json": "[]",
        "notes.json": "{}",
    })  # fmt: skip
    tables = read({"logs/x.eval": deflated_archive(files)})
    found = {(r["pointer"], r["reason_code"]) for r in tables.rows("raw_quarantine") if r["duplicate_of"] is None}
    assert found == {
        ("/samples~12_epoch_1.json", "not_finite"),
        ("/samples~13_epoch_1.json", "not_an_object"),
        ("/notes.json", "unknown_member"),
    }


@pytest.mark.parametrize("pack", [deflated_archive, zstd_archive])
def test_a_bomb_among_the_samples_is_quarantined_and_the_rest_is_read(read, pack):
    files = members_of(header({"total_samples": 2}), sample(), **{"samples/2_epoch_1.json": " " * 8 * 2**20})
    tables = read({"logs/x.eval": pack(files)})
    found = [(r["pointer"], r["reason_code"]) for r in tables.rows("raw_quarantine") if r["duplicate_of"] is None]
    assert found == [("/samples~12_epoch_1.json", "archive_ratio")]
    assert [row["run_id"] for row in tables.rows("core_runs")] == ["log-1/1/1", "log-1"]


def test_half_an_archive_is_left_unread_with_its_reason(read):
    data = deflated_archive(members_of(header(), sample()))
    assert read({"logs/x.eval": data[:-40]}).unclaimed == {"logs/x.eval": "archive_malformed"}


@pytest.mark.parametrize(
    "value", [{"version": 2, "eval": {"task": "t"}, "status": "x"}, {"version": "2", **header()} | {"version": "2"}, []]
)
def test_what_has_no_header_is_no_log(read, value):
    assert read({"logs/x.json": json.dumps(value)}).unclaimed == {"logs/x.json": "unsupported_format"}
    packed = deflated_archive({"header.json": json.dumps(value), "x": "1"})
    assert read({"logs/x.eval": packed}).unclaimed == {"logs/x.eval": "unsupported_format"}


def test_each_epoch_of_a_sample_is_a_run_of_its_log(log):
    tables = log(header(), sample(1, 1), sample(1, 2, error={"message": "x"}), sample("1", 1, limit={"type": "token"}))
    runs = {row["run_id"]: row for row in tables.rows("core_runs")}
    assert list(runs) == ["log-1/1/1", "log-1/1/2", "log-1/1/1@logs/x.json", "log-1"]
    assert [row["exit_status"] for row in runs.values()] == [None, "error", "token limit", "success"]
    assert {row["parent_run_id"] for row in runs.values()} == {"log-1", None}
    assert {(row["session_id"], row["model_id"], row["platform"]) for row in runs.values()} == {
        ("set-1", MODEL, "inspect_ai 0.3.128")
    }


def test_samples_of_the_wrong_kind_and_repeated_ones_are_accounted_for(log):
    tables = log(header(), sample(uuid="u"), 7, sample(uuid="u"))
    (file,) = tables.rows("raw_log_files")
    assert (file["lines_in"], file["accepted"], file["quarantined"], file["duplicates"]) == (3, 1, 1, 1)
    assert [(r["pointer"], r["reason_code"], r["duplicate_of"]) for r in tables.rows("raw_quarantine")] == [
        ("/samples/1", "not_an_object", None),
        ("/samples/2", "repeated_sample", "logs/x.json:/samples/0"),
    ]


@pytest.mark.parametrize("change", [{"value": "I"}, {"events": [tool()]}, {"target": [1]}, {"target": True}])
def test_another_sample_with_the_id_of_one_is_quarantined(log, change):
    tables = log(header(), sample(uuid="u", target=1), sample(uuid="u", **{"target": 1} | change))
    (file,) = tables.rows("raw_log_files")
    assert (file["lines_in"], file["accepted"], file["quarantined"], file["duplicates"]) == (2, 1, 1, 0)
    assert [(r["pointer"], r["reason_code"]) for r in tables.rows("raw_quarantine")] == [("/samples/1", "repeated_id")]


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (tool(), "ok"),
        (tool(error={"type": "timeout"}), "error"),
        (tool(error={"type": "approval"}), "rejected"),
        (tool(failed=True), "error"),
        (tool(pending=True), None),
        (tool(pending=False), "ok"),
    ],
)
def test_how_a_tool_call_ended_is_its_error(log, event, status):
    (step,) = log(header(), sample(events=[event])).rows("core_steps")
    assert (step["status"], step["command"], step["duration_s"], step["exit_code"]) == (status, "ls", 2.0, None)


@pytest.mark.parametrize(
    ("about", "files", "opaque"),
    [
        ({"result": "", "pending": True}, [], 1),
        ({"result": "No replacement was performed, old_str `x` did not appear verbatim in a."}, [], 1),
        ({"result": "", "error": {"type": "file_not_found"}}, [], 0),
        ({"result": "", "error": {"type": "permission"}}, [], 0),
        ({"result": "", "error": {"type": "timeout"}}, [], 1),
        ({"result": "", "error": {"type": "output_limit"}}, [], 1),
        ({"result": "", "error": {"type": "unknown"}}, [], 0),
        ({"result": "The file a has been edited."}, ["a"], 0),
        ({"result": [{"type": "text", "text": "attachment://d"}]}, ["a"], 0),
    ],
)
def test_an_edit_is_counted_unless_it_failed_or_never_ended(log, about, files, opaque):
    edit = {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}
    tables = log(header(), sample(events=[tool("text_editor", arguments=edit, **about)]))
    assert [row["file_path"] for row in tables.rows("core_file_changes")] == files
    assert sum(row["opaque_step_count"] for row in tables.rows("core_runs")) == opaque


def test_nested_events_and_agents_of_spans_are_found(log):
    span = {"event": "span_begin", "id": "s", "type": "agent", "name": "coder"}
    inner = {"event": "span_begin", "id": "i", "parent_id": "s", "type": "tool", "name": "x"}
    events = [span, inner, tool(span_id="i"), {"event": "subtask", "events": [call(), tool("think")]}]
    tables = log(header(), sample(events=events))
    assert [(row["tool"], row["agent_id"]) for row in tables.rows("core_steps")] == [("bash", "coder"), ("think", None)]
    assert [row["pointer"] for row in tables.rows("core_usage")] == ["/samples/0/events/3/events/0/output/usage"]


def test_without_events_the_calls_stand_in_the_messages(log):
    messages = [
        {"role": "assistant", "tool_calls": [{"id": "c", "function": "bash", "arguments": {"cmd": "ls"}}]},
        {"role": "tool", "tool_call_id": "c", "function": "bash", "content": "a", "error": {"type": "timeout"}},
    ]
    (step,) = log(header(), sample(messages=messages)).rows("core_steps")
    assert (step["command"], step["status"], step["call_id"]) == ("ls", "error", "c")


def test_an_attachment_is_the_text_it_stands_for(log):
    events = [tool(result="attachment://d"), tool(result="attachment://lost", arguments={"cmd": "attachment://d"})]
    one, two = log(header(), sample(events=events, attachments={"d": "a\n"})).rows("core_steps")
    plain = next(log(header(), sample(events=[tool()])).rows("core_steps"))
    assert one["output_result_sha256"] == plain["output_result_sha256"]
    assert (two["output_result_sha256"], two["command"]) == (None, "a")


def test_tokens_of_a_log_are_checked_against_samples_and_calls(log):
    usage = {MODEL: {**FULL, "reasoning_tokens": 1}}
    events = [call({**FULL, "reasoning_tokens": 1}), call({**FULL}, cache="read"), {"event": "model", "error": "x"}]
    tables = log(header(usage=usage), sample(events=events, model_usage=usage))
    assert declared(tables)["log-1/openai/m", "total_tokens"] == "12"
    assert declared(tables)["log-1/1/1/openai/m", "sample_reasoning_tokens"] == "1"
    assert parts(tables, "sample_usage", "total_tokens") == ["12"]
    assert parts(tables, "model_events", "total_tokens") == ["12", "12"]
    assert parts(tables, "kinds", "tokens") == ["10", "2"]
    (row,) = tables.rows("core_usage")
    assert (row["input_tokens"], row["cache_read_tokens"], row["is_cache_inside_input"]) == (10, None, False)


def test_the_reasoning_of_google_is_outside_its_output(log):
    usage = {"google/g": {**FULL, "total_tokens": 20, "reasoning_tokens": 8, "input_tokens_cache_read": 0}}
    tables = log(header(usage=usage))
    assert declared(tables)["log-1/google/g", "total_tokens_with_reasoning"] == "20"
    assert parts(tables, "kinds_with_reasoning", "tokens") == ["10", "2", "0", "8"]


@pytest.mark.parametrize("lost", [{"error_retries": [{}], "model_usage": {}}, {"model_usage": None, "events": None}])
def test_usage_that_is_not_in_the_log_is_unknown(log, lost):
    tables = log(header(usage={MODEL: FULL}), sample() | lost)
    assert parts(tables, "sample_usage", "input_tokens") == [None]
    assert parts(tables, "model_events", "input_tokens") == [None]


def test_a_sample_without_a_call_reports_its_totals(log):
    tables = log(header(), sample(model_usage={MODEL: FULL}))
    assert [(r["pointer"], r["input_tokens"]) for r in tables.rows("core_usage")] == [
        ("/samples/0/model_usage/openai~1m", 10)
    ]


def test_scores_are_reduced_over_epochs_and_spread_is_worked_out(log):
    top = header({"scores": [score(metrics={"accuracy": 0.75, "stderr": 0.25}, scored_samples=2)]})
    tables = log(top, sample(1, 1, "C"), sample(1, 2, "I"), sample(2, 1, 1.0), sample(3, 1, None))
    assert parts(tables, "scores", "value") == ["0.5", "1.0"]
    assert parts(tables, "spread", "standard_error") == ["0.25"]
    assert declared(tables)["log-1/match", "scored_samples"] == "2"


def test_a_score_that_is_no_number_or_another_reducer_is_unknown(log):
    top = header({"scores": [score(metrics={"mean": 1}, reducer="max")]})
    tables = log(top, sample(1, 1, "C"), sample(1, 2, "C"), sample(2, 1, "odd"))
    assert parts(tables, "scores", "value") == [None, None]
    assert parts(tables, "spread", "variance") == [None]


def test_one_of_several_values_is_found_by_its_name(log):
    top = header({"scores": [{"name": "b", "scorer": "match", "metrics": {"mean": {"name": "mean", "value": 3}}}]})
    assert parts(log(top, sample(value={"a": 1, "b": 3})), "scores", "value") == ["3"]


def test_a_metric_with_options_or_of_the_tasks_own_is_not_taken_for_a_known_one(log):
    clustered = {"name": "stderr", "value": 0.1, "params": {"cluster": "c"}}
    scores = score(metrics={"mine": 2}) | {"unscored_samples": 0}
    scores["metrics"]["stderr"] = clustered
    rows = log(header({"scores": [scores]}), sample()).rows("core_declared")
    assert {(row["field"], row["pointer"].rpartition("/scores/0/")[2]) for row in rows} == {
        ("metric", "metrics/mine/value"),
        ("metric", "metrics/stderr/value"),
        ("unscored_samples", "unscored_samples"),
    }


def test_a_log_told_not_to_keep_samples_does_not_say_how_many_there_were(log):
    tables = log(header({"total_samples": 3}, config={"log_samples": False}), sample())
    assert parts(tables, "samples", "id") == [None]


def test_decisions_reviews_and_the_approval_mode_are_kept(log):
    config = {"approval": {"approvers": [{"name": "human", "tools": "*"}, {"name": "auto", "tools": "bash"}]}}
    decision = {"event": "approval", "approver": "human", "call": {"id": "c"}, "timestamp": "2026-01-05T10:00:00Z"}
    events = [{**decision, "decision": d, "explanation": "no"} for d in ("approve", "reject", "escalate")]
    rows = list(log(header(config=config), sample(events=events)).rows("core_approvals"))
    assert [(r["kind"], r["by"], r["by_id"], r["call_id"], r["result"]) for r in rows] == [
        ("approved", "human", "human", "c", "approve"),
        ("rejected", "human", "human", "c", "reject"),
        ("review", "human", "human", "c", "escalate"),
        ("review", None, "match", None, "C"),
        ("mode", None, None, None, "human, auto"),
    ]


@pytest.mark.parametrize("broken", [1, "x", None, [], [[]], {"a": 1}])
def test_members_of_the_wrong_type_are_unknown_and_stop_nothing(log, broken):
    names = ("scores", "events", "model_usage", "messages", "error_retries", "attachments", "limit", "uuid")
    top = header({"scores": broken, "total_samples": broken}, config={"approval": broken, "epochs_reducer": broken})
    top["stats"] = broken
    tables = log(top, sample() | dict.fromkeys(names, broken), sample(2, events=[broken, {"event": "tool"}]))
    assert len(list(tables.rows("core_runs"))) == 3
