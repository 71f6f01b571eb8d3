"""A round is a pure function of its bytes, and no file of it disappears."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.registry import REGISTRY
from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.ingest.layout import FoundFile, scan
from governance_pipeline.ingest.round import CORE_TABLES, RAW_TABLES, read_files, read_round
from governance_pipeline.storage.content import ContentStore

ENTRY = {"timestamp": "2025-01-02T03:04:05Z", "agent_id": "a", "run_id": "run-1", "tool_called": "bash"}
CONTRACT = """schema = "govern/round/v1"
[round]
objective = "Parser accepts nested quotes"
contributes_to = ["KR1"]
[scope]
include = ["src/**"]
public = []
[[key_result]]
id = "KR1"
[[criterion]]
id = "C1"
kr = "KR1"
text = "é"
check = "make test"
[repo]
path = "../repo"
"""


def _files(tables):
    return {row["path"]: row for row in tables.rows("raw_log_files")}


def test_an_illegal_round_id_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(UsageError, match="no legal round id"):
        read_round(tmp_path, "a..b", ContentStore(tmp_path / "lake"))


def test_a_round_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "r-1").symlink_to("real")
    with pytest.raises(UnreadableError, match="is not a folder"):
        read_round(tmp_path / "r-1", "r-1", ContentStore(tmp_path / "lake"))


def test_what_may_not_be_opened_is_accounted_for_with_its_reason(read, tmp_path):
    (tmp_path / "outside").write_text(json.dumps(ENTRY))
    folder = tmp_path / "rounds" / "r-1" / "logs"
    folder.mkdir(parents=True)
    (folder / "link.jsonl").symlink_to(tmp_path / "outside")
    os.mkfifo(folder / "pipe")
    tables = read({"logs/a.jsonl": [ENTRY]})
    files = _files(tables)
    for path, reason in (("logs/link.jsonl", "symlink"), ("logs/pipe", "fifo")):
        row = files[path]
        assert (row["file_sha256"], row["format"], row["record_unit"], row["reason_code"]) == (
            None,
            None,
            "file",
            reason,
        )
        assert (row["lines_in"], row["accepted"], row["quarantined"]) == (1, 0, 1)
    quarantine = {row["path"]: row["reason_code"] for row in tables.rows("raw_quarantine")}
    assert quarantine == {"logs/link.jsonl": "symlink", "logs/pipe": "fifo"}
    assert len(tables.frame("core_steps")) == 1


def test_a_file_that_vanishes_after_it_was_listed_is_accounted_for(tmp_path):
    gone = FoundFile("logs/gone.jsonl", tmp_path / "gone.jsonl", 12, None)
    tables = read_files([gone], "r-1", ContentStore(tmp_path / "lake"))
    assert _files(tables)["logs/gone.jsonl"]["reason_code"] == "not_found"


def test_a_file_of_no_format_is_one_unread_record(read):
    tables = read({"notes.md": "# hello", ".hidden": b"\x00\x01", "logs/torn.json": '{\n"a":', "logs/empty.jsonl": ""})
    reasons = {path: row["reason_code"] for path, row in _files(tables).items()}
    assert reasons == {
        "notes.md": "unsupported_format",
        ".hidden": "unsupported_format",
        "logs/torn.json": "malformed_json",
        "logs/empty.jsonl": "empty",
    }
    assert {(row["lines_in"], row["quarantined"], row["record_unit"]) for row in _files(tables).values()} == {
        (1, 1, "file")
    }
    (torn,) = [row for row in tables.rows("raw_quarantine") if row["path"] == "logs/torn.json"]
    assert (torn["byte_offset"], torn["excerpt"], torn["line"]) == (6, '{\\n"a":', None)


def test_an_empty_native_file_is_a_file_without_lines(read):
    row = _files(read({"changes.jsonl": ""}))["changes.jsonl"]
    assert (row["format"], row["lines_in"], row["quarantined"], row["reason_code"]) == ("native_changes", 0, 0, None)


def test_native_names_are_native_at_the_top_of_the_round_only(read):
    event = [{"step": 1, "F": 1}]
    tables = read({"changes.jsonl": event, "logs/changes.jsonl": event})
    assert _files(tables)["logs/changes.jsonl"]["reason_code"] == "unsupported_format"
    assert len(tables.frame("core_changes")) == 1


def test_a_contract_becomes_a_round_and_its_criteria(read):
    tables = read({"round.toml": CONTRACT})
    (row,) = tables.rows("core_rounds")
    assert (row["contract_state"], row["contract_fault"], row["mode"]) == ("valid", None, "quick")
    assert row["contract_sha256"] == hashlib.sha256(CONTRACT.encode()).hexdigest()
    assert (row["scope_include"], row["scope_public"], row["scope_non_goals"]) == ('["src/**"]', "[]", None)
    assert (row["module_rule"], row["modules"], row["key_results"]) == (None, None, '[{"id": "KR1", "text": null}]')
    assert (row["repo_path"], row["is_repo_directed"], row["goal_substitution"]) == ("../repo", False, None)
    (criterion,) = tables.rows("core_criteria")
    assert (criterion["criterion_id"], criterion["statement"], criterion["check_command"]) == ("C1", "é", "make test")
    assert (criterion["is_required"], criterion["weight"]) == (True, 1.0)
    file = _files(tables)["round.toml"]
    assert (file["format"], file["format_version"], file["accepted"]) == ("round_contract", "govern/round/v1", 1)


def test_only_a_table_of_modules_leaves_no_module_rule(rows):
    contract = 'schema = "govern/round/v1"\n[modules]\nb = ["src/**"]\na = []\n'
    (row,) = rows("core_rounds", {"round.toml": contract})
    assert (row["module_rule"], row["modules"]) == (None, '[["b", ["src/**"]], ["a", []]]')


def test_an_invalid_contract_does_not_stop_the_logs(read):
    tables = read({"round.toml": CONTRACT.replace("mode", "moed") + "\nbroken", "logs/a.jsonl": [ENTRY]})
    (row,) = tables.rows("core_rounds")
    assert row["contract_state"] == "invalid"
    assert row["contract_fault"].startswith("line ")
    assert (row["objective"], row["module_rule"], row["runs_count"]) == (None, None, 1)
    assert len(tables.frame("core_criteria")) == 0
    file = _files(tables)["round.toml"]
    assert (file["quarantined"], file["accepted"], file["record_unit"]) == (1, 0, "record")
    (quarantined,) = tables.rows("raw_quarantine")
    assert (quarantined["path"], quarantined["reason_code"]) == ("round.toml", file["reason_code"])


def test_a_contract_that_is_a_link_is_invalid_and_not_absent(read, tmp_path):
    (tmp_path / "rounds" / "r-1").mkdir(parents=True)
    (tmp_path / "rounds" / "r-1" / "round.toml").symlink_to("elsewhere.toml")
    (row,) = read({}).rows("core_rounds")
    assert (row["contract_state"], row["contract_sha256"]) == ("invalid", None)


def test_a_round_without_a_contract_has_one_row_of_unknowns(rows):
    (row,) = rows("core_rounds", {"logs/a.txt": "x"})
    known = {name: value for name, value in row.items() if value is not None}
    assert known == {"round_id": "r-1", "contract_state": "absent", "runs_count": 0}


def test_the_span_of_a_round_covers_every_source(rows):
    files = {
        "logs/a.jsonl": [ENTRY],
        "changes.jsonl": [{"step": 1, "F": 0, "ts": "2025-01-01T00:00:00Z"}],
        "evidence.jsonl": [{"step": 1, "criterion_id": "C", "state": "proven", "ts": "2025-01-03T00:00:00Z"}],
    }
    (row,) = rows("core_rounds", files)
    assert (row["started_at"].day, row["ended_at"].day) == (1, 3)


def test_tables_are_those_of_the_registry_and_no_others(read):
    tables = read({})
    assert (*RAW_TABLES, *CORE_TABLES) == tuple(tables.frames)
    assert set(tables.frames) == {name for name in REGISTRY if name.startswith(("raw_", "core_"))}
    with pytest.raises(UsageError, match="not read from a round folder"):
        tables.frame("audit_cross_checks")


def test_sources_are_untouched_and_their_bytes_are_kept(read, tmp_path):
    read({"logs/a.jsonl": [ENTRY], "x.bin": b"\xff"})
    folder = tmp_path / "rounds" / "r-1"
    assert (folder / "x.bin").read_bytes() == b"\xff"
    store = ContentStore(tmp_path / "lake")
    for file in scan(folder):
        data = file.source.read_bytes()
        assert store.path(hashlib.sha256(data).hexdigest()).read_bytes() == data


def test_the_same_bytes_give_the_same_tables_whatever_the_order_of_the_files(write_files, tmp_path):
    files = {
        "logs/b.jsonl": [ENTRY, ENTRY | {"run_id": "run-2"}],
        "logs/a.jsonl": [ENTRY],
        "declared.jsonl": [
            {"subject": "r-1", "field": "f", "value": 1},
            {"subject": "run-1", "field": "f", "value": 1},
        ],
        "round.toml": CONTRACT,
        "x": "y",
    }
    store = ContentStore(tmp_path / "lake")
    first = read_round(write_files(tmp_path / "one", files), "r-1", store)
    second_folder = write_files(tmp_path / "two", dict(reversed(files.items())))
    second = read_round(second_folder, "r-1", ContentStore(tmp_path / "other lake"))
    backwards = read_files(scan(second_folder)[::-1], "r-1", store)
    for name, frame in first.frames.items():
        assert frame.equals(second.frame(name)), name
        assert frame.equals(backwards.frame(name)), name


def test_rows_give_null_as_none_and_whole_numbers_as_such(read):
    (row,) = read({"changes.jsonl": [{"step": 1, "L": 3}]}).rows("core_changes")
    assert (row["churn_count"], row["files_count"], row["at"], row["has_files"]) == (3, None, None, False)


_LINES = st.sampled_from(
    [b"", b"{}", b"[]", b'{"a":', b"\xff", b"NaN", json.dumps(ENTRY).encode(), b'{"step":1,"F":1}', b'{"run_id":"r"}',
     b'{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"x"}}', b"text", b" "]
)  # fmt: skip
_NAMES = st.sampled_from(
    ["changes.jsonl", "declared.jsonl", "evidence.jsonl", "round.toml", "logs/a.jsonl", "b.json", "c"]
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.dictionaries(_NAMES, st.lists(_LINES, max_size=6).map(b"\n".join), max_size=5))
def test_nothing_disappears_from_any_round(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("round")
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    tables = read_round(folder, "r-1", ContentStore(tmp_path_factory.mktemp("lake")))
    found = tables.frame("raw_log_files")
    assert set(found["path"]) == set(files)
    assert (found["lines_in"] == found[["accepted", "quarantined", "blank", "duplicates"]].sum(axis=1)).all()
    assert found["quarantined"].sum() + found["duplicates"].sum() == len(tables.frame("raw_quarantine"))
    for row in tables.rows("raw_log_files"):
        data = files[row["path"]]
        assert row["bytes"] == len(data)
        if row["record_unit"] == "line":
            assert row["lines_in"] == data.count(b"\n") + bool(data and not data.endswith(b"\n"))


@pytest.mark.parametrize(
    "data", ["", "[draft] notes\n", '{"torn": ', "a,b\n", "- a: 1\n  b: [\n", b"PK\x03\x04", b"\xff"]
)
def test_an_output_a_step_names_was_used_whatever_it_is(read, data):
    tables = read({"logs/a.jsonl": [ENTRY | {"output_path": "out/x"}], "out/x": data, "out/y": data})
    files = {row["path"]: (row["format"], row["reason_code"]) for row in tables.rows("raw_log_files")}
    assert files["out/x"] == ("output", None)
    assert files["out/y"][0] is None
    assert [row["path"] for row in tables.rows("raw_quarantine")] == ["out/y"]


def test_an_output_that_was_never_opened_stays_unread(read, tmp_path):
    folder = tmp_path / "rounds" / "r-1" / "out"
    folder.mkdir(parents=True)
    (folder / "x").symlink_to("y")
    tables = read({"logs/a.jsonl": [ENTRY | {"output_path": "out/x"}]})
    assert [(row["path"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [("out/x", "symlink")]


def test_a_name_that_is_not_utf8_lands_in_the_table_as_text(tmp_path):
    folder = tmp_path / "r-1"
    folder.mkdir()
    with open(os.fsencode(folder) + b"/\xff.jsonl", "wb") as stream:  # noqa: PTH123 - bytes name
        stream.write(json.dumps(ENTRY).encode())
    tables = read_round(Path(folder), "r-1", ContentStore(tmp_path / "lake"))
    assert tables.frame("raw_log_files")["accepted"].tolist() == [1]
