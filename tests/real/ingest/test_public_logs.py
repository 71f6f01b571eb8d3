"""Public logs of the four agents: every file of each folder is accounted for, whichever way it is read."""

from __future__ import annotations

import pytest

from governance_pipeline.ingest.importing import import_round
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.planning import By, plan_import
from governance_pipeline.ingest.round import read_files, read_round
from governance_pipeline.storage.content import ContentStore

FOLDERS = ["claude_code", "swe_agent", "mini_swe_agent", "openhands"]
SIDE_FILES = (".csv",)


@pytest.mark.parametrize(("name", "by"), [*((name, By.SESSION) for name in FOLDERS), ("mini_swe_agent", By.DIR)])
def test_every_public_log_is_in_one_round_and_its_account_balances(real_logs, tmp_path, name, by):
    folder = real_logs / name
    plan = plan_import([folder], by)
    sources = [file.source for planned in plan for file in planned.files]
    assert sorted(sources) == sorted(file.source for file in scan(folder))
    store = ContentStore(tmp_path / "lake")
    for planned in plan:
        tables = read_files([file.found() for file in planned.files], planned.round_id, store)
        found = tables.frame("raw_log_files")
        assert len(found) == len(planned.files)
        assert (found["lines_in"] == found[["accepted", "quarantined", "blank", "duplicates"]].sum(axis=1)).all()
        assert found["quarantined"].sum() + found["duplicates"].sum() == len(tables.frame("raw_quarantine"))


@pytest.mark.parametrize("name", FOLDERS)
def test_only_side_files_and_the_broken_trajectory_are_unread(real_logs, name):
    unread = [
        file.source.name for planned in plan_import([real_logs / name]) for file in planned.files if file.format is None
    ]
    logs = [file for file in unread if not file.endswith(SIDE_FILES)]
    assert logs == (["BabyEncryption.invalid_json.traj"] if name == "swe_agent" else [])


def test_the_trajectory_that_is_no_json_is_quarantined_where_it_breaks(real_logs, tmp_path):
    path = real_logs / "swe_agent" / "BabyEncryption.invalid_json.traj"
    (planned,) = plan_import([path])
    tables = read_files([file.found() for file in planned.files], planned.round_id, ContentStore(tmp_path))
    (row,) = tables.rows("raw_quarantine")
    assert row["reason_code"] == "malformed_json"
    assert path.read_bytes()[: row["byte_offset"]].count(b"\n") == 69  # line 70, as found by hand


def test_an_imported_round_reads_as_it_did_from_where_it_lay(real_logs, tmp_path):
    sources = [real_logs / "claude_code" / name for name in ("subagent_pair", "simonw_sample_session.jsonl")]
    plan = plan_import(sources)
    store = ContentStore(tmp_path / "lake")
    for planned in plan:
        assert import_round(planned, tmp_path / "landing").conflicts == ()
        landed = read_round(tmp_path / "landing" / planned.round_id, planned.round_id, store)
        direct = read_files([file.found() for file in planned.files], planned.round_id, store)
        assert all(frame.equals(direct.frame(table)) for table, frame in landed.frames.items())
    again = [import_round(planned, tmp_path / "landing") for planned in plan_import(sources)]
    assert [result.copied for result in again] == [()] * len(plan)


def test_a_sub_agent_file_lands_with_the_session_that_started_it(real_logs):
    (planned,) = plan_import([real_logs / "claude_code" / "subagent_pair"])
    assert planned.round_id == "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
    assert [file.path for file in planned.files] == ["logs/agent-a0ad4f44468bdf20d.jsonl", "logs/parent.jsonl"]


def test_a_public_conversation_folder_is_one_round(real_logs):
    (planned,) = plan_import([real_logs / "openhands" / "sdk_conversation_cd945624"])
    assert (planned.round_id, len(planned.files)) == ("cd945624-03b9-487e-bdd4-018e3f531dfd", 9)
