"""Claims about the workspace: never stale, never half, the same bytes each time, and it says what it read."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from governance_pipeline import workspace as module
from governance_pipeline.contracts.registry import is_by_round
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.ingest.round import CORE_TABLES, RAW_TABLES
from governance_pipeline.pipeline import PIPELINE, STEPS, TABLES
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.workspace import RoundReader, Workspace

if TYPE_CHECKING:
    from pathlib import Path

IDS = ["r-1", "r-2"]


@pytest.fixture
def workspace(landing, tmp_path) -> Workspace:
    return Workspace(landing, tmp_path / "lake")


@pytest.fixture(scope="module")
def template(tmp_path_factory, write) -> Path:
    """Return a folder with a landing area and a lake in which every table is made."""
    folder = tmp_path_factory.mktemp("template")
    for name in IDS:
        write(folder / "landing" / name, 1, "r-1" if name == "r-2" else None)
    Workspace(folder / "landing", folder / "lake").make(TABLES, IDS)
    return folder


@pytest.fixture
def made(template, landing, tmp_path) -> Workspace:
    """Return a workspace in which every table is made."""
    return Workspace(landing, shutil.copytree(template / "lake", tmp_path / "lake"))


def bytes_of(workspace) -> dict:
    """Return the bytes in force of every table and round."""
    kept = [(t, r) for t in TABLES for r in (IDS if is_by_round(t) else [None])]
    return {key: workspace.lake.path(*key).read_bytes() for key in kept}


def test_core_tables_are_refused_while_the_raw_ones_are_not_there(workspace):
    with pytest.raises(StorageError, match="raw_log_files of round r-1 is not in the lake"):
        workspace.make(["core_runs"], IDS)


def test_a_table_is_refused_while_an_input_is_not_there(workspace):
    workspace.make(RAW_TABLES, IDS)
    with pytest.raises(StorageError, match="core_steps"):
        workspace.make(["audit_integrity"], IDS)
    assert not workspace.lake.has("audit_integrity", "r-1")


def appended(folder):
    with (folder / "logs" / "audit.jsonl").open("ab") as stream:
        stream.write(b"{}\n")


def added(folder):
    (folder / "logs" / "new.txt").write_bytes(b"new")


def removed(folder):
    (folder / "evidence.jsonl").unlink()


def rewritten(folder):
    """Other bytes of the same size under the same time."""
    path = folder / "declared.jsonl"
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"value": 3', b'"value": 4'))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("change", [appended, added, removed, rewritten])
def test_core_tables_are_refused_when_the_folder_changed_after_the_raw_tables(workspace, landing, change):
    workspace.make(RAW_TABLES, ["r-2"])
    change(landing / "r-2")
    for reader in (workspace, Workspace(landing, workspace.lake.root)):
        with pytest.raises(StorageError, match="round r-2 has changed since raw_log_files was made"):
            reader.make(["core_runs"], ["r-2"])
    workspace.make([*RAW_TABLES, "core_runs"], ["r-2"])


def test_a_table_that_does_not_exist_is_refused_before_anything_is_made(workspace):
    with pytest.raises(UsageError, match="there is no table 'audit_crosschecks'"):
        workspace.make(["raw_log_files", "audit_crosschecks"], IDS)
    assert not workspace.lake.has("raw_log_files", "r-1")


@pytest.mark.parametrize("round_id", ["r-9", "../r-1", "r-1/", ".", "r-1\x1b[2J"])
def test_a_round_without_a_folder_of_its_own_is_refused(workspace, round_id):
    with pytest.raises(StorageError, match="has no folder") as refused:
        workspace.make(RAW_TABLES, [round_id])
    assert "\x1b" not in str(refused.value)


def test_a_link_in_the_landing_area_is_no_round(workspace, landing):
    (landing / "r-4").symlink_to(landing / "r-1")
    with pytest.raises(StorageError, match="has no folder"):
        workspace.make(RAW_TABLES, ["r-4"])


def test_every_table_made_twice_has_the_same_bytes_and_nothing_is_written_again(made):
    before = bytes_of(made)
    stamps = {key: made.lake.path(*key).stat().st_mtime_ns for key in before}
    made.make(TABLES, IDS)
    assert bytes_of(made) == before
    assert {key: made.lake.path(*key).stat().st_mtime_ns for key in before} == stamps


def test_order_chunks_and_repetitions_of_rounds_change_no_byte(made, landing, tmp_path):
    other = Workspace(landing, tmp_path / "other")
    other.make(TABLES, ["r-2", "r-2"])
    other.make(TABLES, ["r-1"])
    assert bytes_of(other) == bytes_of(made)


def test_one_table_after_the_other_gives_the_same_bytes_as_all_at_once(made, landing, tmp_path):
    other = Workspace(landing, tmp_path / "other")
    for table in TABLES:
        other.make([table], IDS)
    assert bytes_of(other) == bytes_of(made)


def test_a_table_says_the_digests_of_what_it_was_made_from(made):
    for step in PIPELINE:
        if not is_by_round(step.table):  # it names the digests of all rounds: test_stored_cohorts
            continue
        metadata = made.lake.metadata(step.table, "r-2")
        named = {key: value for key, value in metadata.items() if key.startswith("input.")}
        assert named == {f"input.{name}": made.lake.digest(name, "r-2") for name in step.inputs}, step.table


def test_an_input_replaced_while_it_is_read_is_noticed_and_nothing_is_stored(made, monkeypatch):
    step = STEPS["audit_integrity"]

    def meanwhile(tables, trust):
        made.lake.put("core_steps", "r-1", made.lake.get("core_steps", "r-1"), {"from": "another process"})
        return step.make(tables, trust)

    monkeypatch.setattr(module, "PIPELINE", (step._replace(make=meanwhile),))
    before = made.lake.digest("audit_integrity", "r-1")
    with pytest.raises(StorageError, match="another process replaced an input of audit_integrity"):
        made.make(["audit_integrity"], IDS)
    assert made.lake.digest("audit_integrity", "r-1") == before


def test_a_parent_that_was_not_made_is_made_before_its_child_is_judged(workspace):
    workspace.make(TABLES, ["r-2"])
    parents = TABLES[: TABLES.index("verdict_rounds")]
    assert tuple(t for t in TABLES if not is_by_round(t) or workspace.lake.has(t, "r-1")) == parents


def test_raw_and_core_tables_of_a_chunk_share_one_reading_however_large_it_is(landing, tmp_path, monkeypatch):
    read = []
    real = module.read_round
    monkeypatch.setattr(
        module, "read_round", lambda folder, name, store: read.append(name) or real(folder, name, store)
    )
    workspace = Workspace(landing, tmp_path / "lake")
    workspace.reader = RoundReader(landing, ContentStore(tmp_path / "lake"), kept_rounds=1)
    for table in (*RAW_TABLES, *CORE_TABLES):
        workspace.make([table], IDS)
    assert sorted(read) == IDS
    workspace.make(["raw_log_files"], ["r-2"])
    workspace.make(["raw_log_files"], ["r-1"])
    assert sorted(read) == ["r-1", *IDS], "the last used is kept, the others are not"


def test_a_folder_whose_files_come_and_go_is_read_again_each_time(landing, tmp_path, monkeypatch):
    def vanished(folder):
        raise FileNotFoundError(folder)

    monkeypatch.setattr(module, "fingerprint", vanished)
    reader = RoundReader(landing, ContentStore(tmp_path / "lake"))
    first, second = reader.read(["r-1"])[0], reader.read(["r-1"])[0]
    assert first is not second
    assert first.frame("core_steps").equals(second.frame("core_steps"))
