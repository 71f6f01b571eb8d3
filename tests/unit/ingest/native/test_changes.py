"""Change events: what breaks a rule is quarantined whole, what is valid is kept as written."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.ingest.native import changes

VALID = {"step": 1, "F": 1}


def _codes(rows):
    return [row["reason_code"] for row in rows]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("[1]", "not_an_object"),
        ("{}", "bad_step"),
        ('{"F": 1}', "bad_step"),
        ('{"step": null, "F": 1}', "bad_step"),
        ('{"step": 0, "F": 1}', "bad_step"),
        ('{"step": -1, "F": 1}', "bad_step"),
        ('{"step": 1.0, "F": 1}', "bad_step"),
        ('{"step": true, "F": 1}', "bad_step"),
        ('{"step": "1", "F": 1}', "bad_step"),
        ('{"step": 9223372036854775808, "F": 1}', "bad_step"),
        ('{"step": 1}', "nothing_declared"),
        ('{"step": 1, "F": null, "H": null, "files": null}', "nothing_declared"),
        ('{"step": 1, "F": -1}', "bad_F"),
        ('{"step": 1, "F": 2.0}', "bad_F"),
        ('{"step": 1, "L": true}', "bad_L"),
        ('{"step": 1, "M": "1"}', "bad_M"),
        ('{"step": 1, "P": 1e3}', "bad_P"),
        ('{"step": 1, "H": -0.1}', "bad_H"),
        ('{"step": 1, "H": 1e999}', "bad_H"),
        ('{"step": 1, "H": "0.5"}', "bad_H"),
        ('{"step": 1, "H": true}', "bad_H"),
        ('{"step": 1, "H": NaN}', "not_finite"),
        ('{"step": 1, "files": {}}', "bad_files"),
        ('{"step": 1, "files": ["a.py"]}', "bad_files"),
        ('{"step": 1, "files": [{}]}', "bad_path"),
        ('{"step": 1, "files": [{"path": ""}]}', "bad_path"),
        ('{"step": 1, "files": [{"path": 5}]}', "bad_path"),
        ('{"step": 1, "files": [{"path": "a", "added": -1}]}', "bad_added"),
        ('{"step": 1, "files": [{"path": "a", "deleted": 1.5}]}', "bad_deleted"),
        ('{"step": 1, "files": [{"path": "a", "module": 5}]}', "bad_module"),
        ('{"step": 1, "files": [{"path": "a", "symbols": "f"}]}', "bad_symbols"),
        ('{"step": 1, "files": [{"path": "a", "symbols": [1]}]}', "bad_symbols"),
        ('{"step": 1, "F": 1, "run_id": 7}', "bad_run_id"),
        ('{"step": 1, "F": 1, "F": 1}', "duplicate_member"),
        ('{"step": 1, "F": 1', "malformed_json"),
    ],
)
def test_an_event_that_breaks_a_rule_is_quarantined_and_the_next_one_is_read(read_one, line, code):
    file, out = read_one(changes, f'{line}\n{{"step": 2, "F": 1}}\n')
    assert [(row["line"], row["reason_code"]) for row in file.rejected] == [(1, code)]
    assert out.frame("core_changes")["step_index"].tolist() == [2]
    assert len(out.frame("core_file_changes")) == 0


def test_numbers_are_kept_as_the_event_declares_them(rows):
    event = '{"step": 3, "ts": "2025-01-02T03:04:05Z", "run_id": "r", "agent_id": "a", "F": 0, "L": -0, "H": 6.90e-1}\n'
    (row,) = rows("core_changes", {"changes.jsonl": event})
    assert (row["files_count"], row["churn_count"], row["modules_count"], row["public_count"]) == (0, 0, None, None)
    assert (row["entropy_lexeme"], row["has_files"], row["run_id"], row["agent_id"]) == ("6.90e-1", False, "r", "a")
    assert row["at"].isoformat() == "2025-01-02T03:04:05+00:00"


def test_an_unknown_time_is_null_and_unknown_members_play_no_part(rows):
    (row,) = rows("core_changes", {"changes.jsonl": [VALID | {"ts": "yesterday", "note": {"x": 1}}]})
    assert row["at"] is None


def test_an_empty_list_of_files_is_not_an_absent_one(rows):
    events = [{"step": 1, "files": []}, {"step": 2, "F": 0}]
    assert [row["has_files"] for row in rows("core_changes", {"changes.jsonl": events})] == [True, False]


def test_files_are_kept_as_written_and_unknown_lines_stay_unknown(rows):
    files = [
        {"path": "./src/../a.py", "added": 3, "deleted": 0, "symbols": ["f", "é"], "module": "m"},
        {"path": "b.png", "added": None},
    ]
    first, second = rows("core_file_changes", {"changes.jsonl": [{"step": 1, "files": files}]})
    assert (first["file_path"], first["added_count"], first["deleted_count"]) == ("./src/../a.py", 3, 0)
    assert (json.loads(first["symbols"]), first["module"], first["pointer"]) == (["f", "é"], "m", "/files/0")
    assert (second["added_count"], second["deleted_count"], second["symbols"]) == (None, None, None)
    assert [(row["origin"], row["run_id"], row["change_index"]) for row in (first, second)] == [
        ("native", "", 1),
        ("native", "", 2),
    ]


def test_a_repeated_line_stays_in_core_changes_and_its_files_count_once(read):
    event = {"step": 1, "files": [{"path": "a.py", "added": 9, "deleted": 0}]}
    other = {"step": 1, "files": [{"path": "a.py", "added": 8, "deleted": 0}]}
    tables = read(
        {
            "changes.jsonl": [event, event, other],
            "declared.jsonl": [{"subject": "r-1", "field": "lines_added", "value": 17}],
        }
    )
    events = list(tables.rows("core_changes"))
    assert len({row["line_sha256"] for row in events}) == 2
    assert len(events) == 3
    assert [(row["line"], row["change_index"]) for row in tables.rows("core_file_changes")] == [(1, 1), (3, 2)]
    assert tables.frame("raw_log_files")["accepted"].sum() == 4
    added = [row["value_raw"] for row in tables.rows("core_components") if row["column"] == "added"]
    assert added == ["9", "8"]


def test_an_event_that_lists_no_files_makes_sums_over_files_unknown(rows):
    files = {
        "changes.jsonl": [{"step": 1, "F": 2, "L": 10}, {"step": 2, "F": 0}],
        "declared.jsonl": [{"subject": "r-1", "field": "lines_added", "value": 10}],
    }
    components = rows("core_components", files)
    assert [(row["column"], row["value_raw"], row["value_kind"]) for row in components] == [
        ("added", None, "missing"),
        ("deleted", None, "missing"),
        ("path", None, "missing"),
    ]


def test_a_quarantined_event_leaves_nothing_behind(read):
    tables = read({"changes.jsonl": [{"step": 1, "files": [{"path": "a"}, {"path": ""}]}]})
    assert len(tables.frame("core_changes")) == len(tables.frame("core_file_changes")) == 0
    assert _codes(tables.rows("raw_quarantine")) == ["bad_path"]
