"""An exported history read as a log: commits are steps, repeated ones count once, broken ones are quarantined."""

from __future__ import annotations

from governance_pipeline.ingest.formats import git_log
from governance_pipeline.ingest.logfile import Sample


def line(number, **members):
    return {
        "schema": "govern/git-log/v1", "sha": f"{number:040x}", "parents": [], "ts": f"2026-01-0{number}T00:00:00Z",
        "author": "p-1", "agent_coauthors": [], "files": [{"path": "a.py", "added": 2, "deleted": 1}], **members,
    }  # fmt: skip


def history(*lines):
    return {"logs/history.jsonl": list(lines)}


def test_a_broken_line_and_a_repeated_commit_are_accounted_for(read):
    found = read(history(line(1), line(1), line(2, ts="?"), line(3)))
    reasons = [(row["line"], row["reason_code"], row["disposition"]) for row in found.rows("raw_quarantine")]
    assert sorted(reasons) == [(2, "repeated_commit", "duplicate"), (3, "bad_ts", "quarantined")]
    assert [row["step_index"] for row in found.rows("core_steps")] == [1, 2]


def test_another_commit_with_the_id_of_one_is_quarantined(read):
    found = read(history(line(1), line(1, files=[{"path": "b.py", "added": 9, "deleted": 0}])))
    assert [(row["line"], row["reason_code"], row["duplicate_of"]) for row in found.rows("raw_quarantine")] == [
        (2, "repeated_id", None)
    ]
    assert [row["file_path"] for row in found.rows("core_file_changes")] == ["a.py"]


def test_a_history_of_one_line_is_read_too(one):
    assert one("core_steps", history(line(1)))["call_id"] == f"{1:040x}"


def test_lines_of_a_binary_file_are_unknown(one):
    row = one("core_file_changes", history(line(1, files=[{"path": "b.bin", "added": None, "deleted": None}])))
    assert (row["added_count"], row["deleted_count"]) == (None, None)


def test_agent_and_author_are_both_known(read):
    found = read(history(line(1, agent_coauthors=["claude"])))
    assert [row["agent_id"] for row in found.rows("core_steps")] == ["claude"]
    runs = [(row["run_id"], row["parent_run_id"], row["agent_id"]) for row in found.rows("core_runs")]
    assert runs == [("git", None, None), ("git:p-1", "git", "p-1")]


def test_it_is_known_by_its_schema_only():
    assert git_log.detect(Sample("x", "jsonl", (line(1),)))
    assert not git_log.detect(Sample("git-log.jsonl", "jsonl", ({"sha": "1"},)))
