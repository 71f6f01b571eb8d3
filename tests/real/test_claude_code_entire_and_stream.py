"""Public Entire checkpoints and stream output: every difference listed by hand comes out with its two numbers."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from governance_pipeline.crosscheck.builtin import cross_checks, unchecked
from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[2].parent / "shared"
REAL = SHARED / "data" / "real"
ENTIRE, STREAM = "claude_code_entire", "claude_code_stream"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")

WORDS = {
    "files_touched vs git commit paths": "files_touched_vs_commit",
    "files_touched vs union of sessions": "files_touched_count",
    "len(root.sessions) vs session folders": "sessions_count",
    "initial_attribution.total_committed vs git added lines": "total_committed_vs_commit",
}
"""Words of the hand-made list -> field."""


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Give a function that reads one folder as `govern audit` does and returns its tables and checks."""
    store = ContentStore(tmp_path_factory.mktemp("lake"))
    known = {}

    def _read(name):
        if name not in known:
            rounds = [
                read_files([file.found() for file in planned.files], planned.round_id, store)
                for planned in plan_import([REAL / name])
            ]
            tables = {
                table: pd.concat([each.frame(table) for each in rounds], ignore_index=True) for table in rounds[0].found
            }
            parts = tables["core_components"], tables["raw_quarantine"]
            known[name] = tables, cross_checks(tables["core_declared"], *parts)
        return known[name]

    return _read


def by_hand(name):
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.DictReader(stream) if row["format"] == name]


def field_of(words):
    if words in WORDS:
        return WORDS[words]
    scope, _, name = words.partition(".token_usage.")
    return f"{'checkpoint' if scope == 'root' else 'session'}_{name}"


@pytest.mark.parametrize("name", [ENTIRE, STREAM])
def test_every_file_but_the_manifest_is_claimed_and_no_record_disappears(read, name):
    files = read(name)[0]["raw_log_files"]
    assert (files["lines_in"] == files[["accepted", "quarantined", "blank", "duplicates"]].sum(axis=1)).all()
    unread = files[files["format"].isna()]
    assert unread["path"].tolist() == ["logs/manifest.csv"]
    claimed = files[files["format"].notna()]
    assert claimed["quarantined"].sum() == claimed["duplicates"].sum() == 0
    counts = Counter(claimed["format"])
    assert counts == ({ENTIRE: 67, "claude_code": 8} if name == ENTIRE else {STREAM: 2})


@pytest.mark.parametrize("name", [ENTIRE, STREAM])
def test_every_declared_number_has_its_answer(read, name):
    tables, checks = read(name)
    assert unchecked(tables["core_declared"], checks).empty


def test_all_fifty_differences_of_the_checkpoints_are_reproduced_exactly(read):
    checks = read(ENTIRE)[1]
    found = {(row.subject_id, row.field): row for row in checks.itertuples()}
    rows = by_hand(ENTIRE)
    for row in rows:
        record = found[row["file_or_record"], field_of(row["field"])]
        assert (record.declared, record.computed) == (row["declared"], row["computed"].partition(" ")[0]), row
        is_same_count = row["delta"] == "0.0"  # four files each, not the same four: a count cannot tell
        assert record.status == ("match" if is_same_count else "mismatch"), row
    assert len(rows) == 50


def test_what_the_list_leaves_out_is_known_one_by_one(read):
    checks = read(ENTIRE)[1]
    listed = {(row["file_or_record"], field_of(row["field"])) for row in by_hand(ENTIRE)}
    wrong = checks[checks["status"] == "mismatch"]
    others = {(row.subject_id, row.field) for row in wrong.itertuples()} - listed
    recounted = {("0e3fdc072c53/0", field) for _, field in others if field.startswith("session_")}
    later_sessions = {
        (subject, "total_committed_vs_commit")
        for subject in (
            "1c5eb527b36d/1",
            "2938d5d1ba71/2",
            "4a4241ca5b3d/2",
            "4a8cc61ef902/2",
            "9b04c3d92e38/1",
            "9b04c3d92e38/2",
            "9b04c3d92e38/3",
            "9b04c3d92e38/4",
            "cff7f96ad60a/1",
        )
    }  # fmt: skip - the list has the first session of a checkpoint only
    assert others == recounted | later_sessions | {("9b04c3d92e38", "checkpoints_count")}
    assert len(recounted) == 5  # it covers the session from line 0 although it names 446 as its start


def test_a_naive_sum_over_the_lines_would_be_more_than_twice_the_truth(read):
    usage = read(ENTIRE)[0]["core_usage"]
    usage = usage[usage["round_id"] == "021a892a9da1"]
    counted = usage[usage["duplicate_of"].isna()]
    assert (len(usage), len(counted)) == (46, 20)
    columns = usage["cache_creation_tokens"].sum(), counted["cache_creation_tokens"].sum()
    assert columns == (205_330, 57_172)


def test_modes_and_refusals_of_the_transcripts_are_kept(read):
    approvals = read(ENTIRE)[0]["core_approvals"]
    assert Counter(approvals["kind"]) == {"mode": 8, "rejected": 2}
    assert set(approvals.loc[approvals["kind"] == "rejected", "by"]) == {"human"}


def test_the_recording_of_the_sdk_adds_up_and_its_unfinished_output_is_unknown(read):
    checks = read(STREAM)[1]
    found = {(row.subject_id, row.field): (row.declared, row.status, row.reason_code) for row in checks.itertuples()}
    session = "7ed3c21d-374b-491a-8c66-05e191f6a0be"
    assert found[session, "total_cost_usd"][:2] == ("0.01039005", "match")
    for field in ("result_input_tokens", "result_cache_creation_tokens", "result_cache_read_tokens", "num_turns"):
        assert found[session, field][1] == "match", field
    # the list has 5 against the 1 of an event written before its message was complete
    assert found[session, "result_output_tokens"] == ("5", "unverifiable", "component_missing_value")


def test_a_result_without_num_turns_shows_the_turns_that_were_counted(read):
    checks = read(STREAM)[1]
    (row,) = checks[(checks["subject_id"] == "sample-session-id") & (checks["field"] == "num_turns")].itertuples()
    assert (row.reason_code, row.computed) == ("declared_missing", "4")
    assert pd.isna(row.declared)
