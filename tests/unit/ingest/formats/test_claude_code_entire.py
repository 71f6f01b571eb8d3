"""Entire checkpoints: totals are held against session folders, transcripts and committed files, and nothing is guessed."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.formats import claude_code_entire
from governance_pipeline.ingest.logfile import Sample

ROOT, FIRST, SECOND = "logs/metadata.json", "logs/0/metadata.json", "logs/1/metadata.json"
TRANSCRIPT, COMMIT = "logs/0/full.jsonl", "logs/commit.numstat.csv"
USAGE = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens", "api_call_count")


def counts(*values):
    return dict(zip(USAGE, values, strict=True))


def session(usage=None, session_id="s-1", files=("a.py",), **more):
    document = {
        "checkpoint_id": "c0ffee",
        "session_id": session_id,
        "checkpoints_count": 2,
        "files_touched": list(files),
        "agent": "Claude Code",
        **more,
    }
    return json.dumps(document | ({"token_usage": usage} if usage is not None else {}))


def root(usage, sessions=1, files=("a.py",), checkpoints=2):
    document = {"checkpoint_id": "c0ffee", "checkpoints_count": checkpoints, "files_touched": list(files)}
    return json.dumps(document | {"sessions": [{"metadata": "x"}] * sessions, "token_usage": usage})


@pytest.fixture
def checks(read):
    """Give a function that reads files and returns {(subject, check): (declared, computed, status or reason)}."""

    def _checks(files):
        tables = read(files)
        frames = (tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine"))
        rows = cross_checks(*frames).astype(object)
        rows = rows.where(rows.notna(), None).to_dict("records")
        return {
            (row["subject_id"], row["check_id"].removeprefix("claude_code_entire_")): (
                row["declared"],
                row["computed"],
                row["reason_code"] or row["status"],
            )
            for row in rows
        }

    return _checks


def test_root_totals_are_the_sums_of_all_session_folders_listed_or_not(checks):
    files = {
        ROOT: root(counts(1, 2, 3, 4, 5)),
        FIRST: session(counts(1, 2, 3, 4, 5)),
        SECOND: session(counts(10, 20, 30, 40, 50), "s-2", ["b.py", "a.py"]),
    }
    found = checks(files)
    assert found["c0ffee", "checkpoint_input_tokens"] == ("1", "11", "mismatch")
    assert found["c0ffee", "checkpoint_api_call_count"] == ("5", "55", "mismatch")
    assert found["c0ffee", "sessions_count"] == ("1", "2", "mismatch")
    assert found["c0ffee", "checkpoints_count"] == ("2", "4", "mismatch")
    assert found["c0ffee", "files_touched_count"] == ("1", "2", "mismatch")


def test_a_session_nobody_counted_adds_nothing_to_the_root(checks):
    found = checks({ROOT: root(counts(1, 2, 3, 4, 5), 2), FIRST: session(counts(1, 2, 3, 4, 5)), SECOND: session()})
    assert found["c0ffee", "checkpoint_input_tokens"] == ("1", "1", "match")
    assert ("c0ffee/1", "session_input_tokens") not in found


def test_five_zeros_are_no_measurement(checks):
    zeros = counts(0, 0, 0, 0, 0)
    found = checks({ROOT: root(zeros), FIRST: session(zeros)})
    assert found["c0ffee", "checkpoint_input_tokens"] == (None, "0", "declared_missing")
    assert found["c0ffee/0", "session_api_call_count"] == (None, None, "declared_missing")
    found = checks({ROOT: root(counts(0, 0, 0, 0, 1)), FIRST: session(counts(0, 0, 0, 0, 1))})
    assert found["c0ffee", "checkpoint_input_tokens"] == ("0", "0", "match")


def transcript(claude, tokens):
    return [
        claude.user(),
        claude.says(message_id="old", usage=tokens(100, 100)),
        claude.says(message_id="m1", usage=tokens(3, 1, creation=7, read=9)),
        claude.says(message_id="m1", usage=tokens(3, 50, creation=7, read=9)),
        claude.says(message_id="m2", usage=tokens(2, 5)),
        claude.line("progress", data={"type": "agent_progress", "agentId": "a", "message": {"message": {
            "id": "sub", "usage": tokens(1000, 1000)}}}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ({"checkpoint_transcript_start": 2}, "2"),
        ({"transcript_lines_at_start": 2}, "2"),
        ({"checkpoint_transcript_start": 2, "transcript_lines_at_start": 0}, "2"),
        ({"checkpoint_transcript_start": 2, "token_usage_version": 2, "token_transcript_start": 4}, "1"),
        ({"checkpoint_transcript_start": 2, "token_usage_version": 2}, "3"),
        ({"checkpoint_transcript_start": "2"}, "3"),
        ({}, "3"),
    ],
)
def test_calls_are_counted_from_the_start_the_session_names(checks, claude, tokens, start, expected):
    files = {FIRST: session(counts(5, 7, 9, 55, 2), **start), TRANSCRIPT: transcript(claude, tokens)}
    assert checks(files)["c0ffee/0", "session_api_call_count"][1] == expected


def test_each_message_counts_once_with_its_largest_output_and_replays_do_not(checks, claude, tokens):
    usage = counts(5, 7, 9, 55, 2)
    files = {FIRST: session(usage, checkpoint_transcript_start=2), TRANSCRIPT: transcript(claude, tokens)}
    found = checks(files)
    for name in USAGE:
        assert found["c0ffee/0", f"session_{name}"][2] == "match", name


def test_parts_point_into_the_transcript_they_were_read_from(read, claude, tokens):
    tables = read({FIRST: session(counts(5, 7, 9, 55, 2)), TRANSCRIPT: [claude.says(message_id="m", usage=tokens())]})
    parts = [row for row in tables.rows("core_components") if row["source"] == "calls"]
    assert {(row["path"], row["line"]) for row in parts} == {(TRANSCRIPT, 1)}
    assert {row["pointer"] for row in parts} >= {"/message/usage/cache_read_input_tokens", "/message/id"}


def test_a_torn_transcript_makes_the_tokens_unverifiable_and_nothing_else(checks, claude, tokens):
    lines = "".join(json.dumps(line) + "\n" for line in transcript(claude, tokens)) + '{"type": "assi'
    shares = {"agent_lines": 1, "total_committed": 4, "agent_percentage": 25}
    files = {FIRST: session(counts(5, 7, 9, 55, 2), initial_attribution=shares), TRANSCRIPT: lines}
    found = checks(files)
    assert found["c0ffee/0", "session_input_tokens"][2] == "components_incomplete"
    assert found["c0ffee/0", "agent_percentage"] == ("25", "25", "match")


def test_two_snapshots_of_one_session_are_each_counted_whole(checks, claude, tokens):
    lines = transcript(claude, tokens)
    files = {
        FIRST: session(counts(105, 7, 9, 155, 3)),
        SECOND: session(counts(105, 7, 9, 155, 3)),
        TRANSCRIPT: lines,
        "logs/1/full.jsonl": lines,
    }
    found = checks(files)
    assert found["c0ffee/0", "session_input_tokens"] == found["c0ffee/1", "session_input_tokens"]
    assert found["c0ffee/1", "session_output_tokens"] == ("155", "155", "match")


def test_snapshots_of_one_session_add_no_step_twice_and_mark_repeated_usage(read, claude, tokens):
    lines = [claude.calls("Bash", "t1", {"command": "ls"}, message_id="m", usage=tokens())]
    tables = read({FIRST: session(), SECOND: session(), TRANSCRIPT: lines, "logs/1/full.jsonl": lines})
    assert len(tables.frame("core_steps")) == 1
    assert [row["duplicate_of"] for row in tables.rows("core_usage")] == [None, f"{TRANSCRIPT}:1"]
    assert [row["duplicates"] for row in tables.rows("raw_log_files") if row["format"] == "claude_code"] == [0, 0]


def test_a_dialect_that_counted_nothing_leaves_the_totals_unknown(checks, claude, tokens):
    files = {FIRST: session(counts(5, 7, 9, 55, 1)), TRANSCRIPT: [claude.says(message_id="m", usage=tokens(0, 0))]}
    found = checks(files)
    assert found["c0ffee/0", "session_input_tokens"][2] == "component_missing_value"
    assert found["c0ffee/0", "session_api_call_count"][2] == "match"


def test_shares_are_recomputed_by_the_definition_of_their_version(checks):
    old = {"agent_lines": 32, "total_committed": 33, "agent_percentage": 96.96969696969697}
    assert checks({FIRST: session(initial_attribution=old)})["c0ffee/0", "agent_percentage"][2] == "match"
    new = old | {"agent_removed": 8, "human_added": 4, "human_modified": 3, "human_removed": 3}
    new |= {"total_lines_changed": 50, "agent_percentage": 80.0}
    found = checks({FIRST: session(initial_attribution=new)})
    assert found["c0ffee/0", "agent_changed_percentage"] == ("80", "80", "match")
    assert found["c0ffee/0", "total_lines_changed"] == ("50", "50", "match")
    none = {"agent_lines": 0, "total_committed": 0, "agent_percentage": 0}
    assert checks({FIRST: session(initial_attribution=none)})["c0ffee/0", "agent_percentage"][2] == "division_by_zero"


NUMSTAT = "commit,added,deleted,path\n"


def test_git_is_compared_only_where_a_table_of_committed_files_is_there(checks):
    shares = {"agent_lines": 1, "total_committed": 4}
    files = {ROOT: root(counts(1, 2, 3, 4, 5)), FIRST: session(initial_attribution=shares)}
    assert not [check for _, check in checks(files) if check.endswith("vs_commit")]
    files[COMMIT] = NUMSTAT + 'aa,3,1,a.py\naa,2,0,"b,c.py"\nbb,1,0,a.py\n'
    found = checks(files)
    assert found["c0ffee", "files_touched_vs_commit"] == ("1", "2", "mismatch")
    assert found["c0ffee/0", "total_committed_vs_commit"] == ("4", "6", "mismatch")


def test_a_binary_file_makes_the_added_lines_unknown_but_is_a_file(checks):
    shares = {"total_committed": 3}
    files = {ROOT: root(counts(1, 2, 3, 4, 5)), FIRST: session(initial_attribution=shares)}
    files[COMMIT] = NUMSTAT.replace("\n", "\r\n") + "aa,-,-,x.png\r\n"
    found = checks(files)
    assert found["c0ffee", "files_touched_vs_commit"] == ("1", "1", "match")
    assert found["c0ffee/0", "total_committed_vs_commit"][2] == "component_missing_value"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('aa,1,2,"open', "malformed_csv"),
        ("aa,1,2", "bad_row"),
        ("aa,1,2,a.py,x", "bad_row"),
        ("aa,-1,2,a.py", "bad_row"),
        ("aa,1.5,2,a.py", "bad_row"),
        ("aa,\u0661,2,a.py", "bad_row"),
        ("aa,1,2,", "bad_row"),
        (f"aa,{'9' * 19},2,a.py", "bad_row"),
    ],
)
def test_a_line_that_is_no_committed_file_is_quarantined(read, line, code):
    tables = read({COMMIT: f"{NUMSTAT}{line}\naa,0,0,b.py\n"})
    assert [(row["line"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [(2, code)]
    (file,) = tables.rows("raw_log_files")
    assert (file["format"], file["lines_in"], file["accepted"]) == ("claude_code_entire", 3, 2)


def test_a_second_line_that_is_no_checkpoint_is_quarantined(read):
    tables = read({"logs/x.jsonl": f"{session()}\n[]\n"})
    assert [(row["line"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [(2, "not_a_checkpoint")]


@pytest.mark.parametrize(
    "value",
    [
        {"checkpoint_id": "c", "sessions": []},
        {"checkpoint_id": "c", "checkpoints_count": 1},
        {"checkpoint_id": "", "checkpoints_count": 1, "session_id": "s"},
        {"session_id": "s", "checkpoints_count": 1, "sessions": []},
        [],
    ],
)
def test_other_documents_are_not_taken_for_checkpoints(value):
    assert not claude_code_entire.detect(Sample("x", "document", (value,)))


def test_a_session_without_a_transcript_is_still_a_run_and_one_with_it_is_not_doubled(read, claude):
    files = {FIRST: session(session_id=claude.user()["sessionId"]), SECOND: session(session_id="s-2")}
    tables = read(files | {TRANSCRIPT: [claude.user()]})
    runs = [(row["session_id"], row["format"], row["platform"]) for row in tables.rows("core_runs")]
    assert runs[1:] == [("s-2", "claude_code_entire", "Claude Code")]
    assert runs[0][1] == "claude_code"


def test_the_same_checkpoint_twice_in_a_round_is_two_subjects(read):
    tables = read(
        {"logs/a/metadata.json": root(counts(1, 2, 3, 4, 5)), "logs/b/metadata.json": root(counts(1, 2, 3, 4, 5))}
    )
    subjects = defaultdict(int)
    for row in tables.rows("core_declared"):
        subjects[row["subject_id"]] += 1
    assert dict(subjects) == {"c0ffee": 8, "c0ffee@logs/b/metadata.json": 8}


def test_numbers_of_the_wrong_type_are_declared_as_what_they_are(read):
    usage = counts("1", None, [], {}, True)
    tables = read({FIRST: session(usage, checkpoints_count="2", files_touched="a.py")})
    kinds = {row["field"]: row["value_kind"] for row in tables.rows("core_declared")}
    assert [kinds[f"session_{name}"] for name in USAGE] == ["text", "missing", "array", "object", "boolean"]
    assert (kinds["session_checkpoints_count"], kinds["session_files_touched_count"]) == ("text", "text")


def test_more_documents_of_a_kind_in_one_file_are_quarantined_and_not_counted_again(read):
    lines = f"{session(counts(1, 2, 3, 4, 5))}\n" * 3 + f"{root(counts(1, 2, 3, 4, 5))}\n" * 3
    tables = read({FIRST: lines})
    assert [row["reason_code"] for row in tables.rows("raw_quarantine")] == ["second_document"] * 4
    assert len(set(tables.frame("core_declared")["subject_id"])) == 2


def test_copies_of_a_checkpoint_never_share_a_subject_whatever_they_are_called(read):
    files = {f"logs/{name}/0/metadata.json": session(counts(1, 2, 3, 4, 5)) for name in "abc"}
    taken = json.loads(session(counts(1, 2, 3, 4, 5))) | {"checkpoint_id": "c0ffee/0@logs/b/0/metadata.json"}
    tables = read({"logs/a/metadata.json": json.dumps(taken | {"sessions": [], "session_id": None}), **files})
    subjects = tables.frame("core_declared").groupby("field")["subject_id"]
    assert all(found.is_unique for _, found in subjects)
    assert {f"c0ffee/0@logs/{n}/0/metadata.json" for n in "bc"} < set(tables.frame("core_declared")["subject_id"])
