"""What is stored is what its contract allows, comes back as it was, and is refused when its bytes are not its own."""

from __future__ import annotations

import hashlib
import threading
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from governance_pipeline.contracts.core_runs import CoreRuns
from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.errors import ContractBreach, StorageError, UsageError
from governance_pipeline.settings import Settings
from governance_pipeline.storage import lake as lake_module
from governance_pipeline.storage.lake import Lake

NOW = datetime(2100, 1, 1, tzinfo=UTC)
DAMAGE = {
    "flipped": lambda data: data[:50] + bytes([data[50] ^ 1]) + data[51:],
    "cut": lambda data: data[:-1],
    "emptied": lambda _: b"",
    "longer": lambda data: data + b"x",
}


def _files(lake):
    return {path: path.stat().st_ino for path in lake.root.rglob("*") if path.is_file()}


def test_a_frame_that_breaks_its_contract_is_not_stored(lake, usage):
    with pytest.raises(ContractBreach, match=r"column line, row 0: ge\(1\), found '0'"):
        lake.put("core_usage", "r1", usage(rows=1, line=0))
    assert not lake.root.exists()


def test_a_large_frame_is_held_to_the_same_contract(lake, usage, monkeypatch):
    monkeypatch.setattr(lake_module, "SETTINGS", Settings(large_table_rows=2))
    with pytest.raises(ContractBreach, match=r"column file_sha256, row 0: matches\(\[0-9a-f\]\{64\}\), found 'x'"):
        lake.put("core_usage", "r1", usage(rows=3, file_sha256="x"))
    lake.put("core_usage", "r1", usage(rows=3))


def test_rows_of_another_round_are_refused(lake, usage):
    with pytest.raises(
        StorageError, match=r"core_usage of round r2 holds rows of \['r1'\]; store them under their own"
    ):
        lake.put("core_usage", "r2", usage("r1"))


@pytest.mark.parametrize(
    "round_id", ["", ".", "..", "a/b", "/etc", "a..b", "-a", "a\n", "a.", "é", "a" * 81, "a\x00", "x') OR 1=1 --"]
)
def test_an_illegal_round_id_never_becomes_a_path(lake, round_id):
    for act in (lake.get, lake.has, lake.digest, lake.path, lambda t, r: lake.put(t, r, empty_frame(t))):
        with pytest.raises(StorageError, match="is no round id"):
            act("core_usage", round_id)
    assert not lake.root.exists()


def test_round_ids_that_differ_in_case_only_cannot_both_be_stored(lake, usage):
    lake.put("core_usage", "Run-1", usage("Run-1"))
    for other in (lake, Lake(lake.root)):
        with pytest.raises(StorageError, match="'run-1' differs from round 'Run-1' in upper and lower case only"):
            other.put("core_runs", "run-1", empty_frame("core_runs"))
    Lake(lake.root).put("core_runs", "Run-1", empty_frame("core_runs"))
    assert lake.rounds("core_usage") == ["Run-1"]


def test_a_table_is_kept_by_round_or_over_all_rounds_never_both(lake, monkeypatch):
    with pytest.raises(StorageError, match="kept round by round, so name one"):
        lake.put("core_runs", None, empty_frame("core_runs"))
    monkeypatch.setitem(CoreRuns.Config.metadata, "by_round", False)
    with pytest.raises(StorageError, match="kept over all rounds, so name none"):
        lake.put("core_runs", "r1", empty_frame("core_runs"))
    stored = lake.put("core_runs", None, empty_frame("core_runs"))
    assert stored.path.parent == lake.root / "core_runs" / "all"
    assert lake.digests("core_runs") == {None: stored.digest}
    assert lake.rounds("core_runs") == []
    pd.testing.assert_frame_equal(lake.get("core_runs", None), empty_frame("core_runs"))


def test_an_unknown_table_is_refused(lake):
    with pytest.raises(UsageError, match="there is no table 'core_run'"):
        lake.get("core_run", "r1")


def test_what_was_never_stored_is_an_error_and_not_an_empty_table(lake):
    with pytest.raises(StorageError, match=r"table core_usage of round r1 is not in the lake .*; make it first"):
        lake.get("core_usage", "r1")
    assert (lake.has("core_usage", "r1"), lake.digest("core_usage", "r1"), lake.rounds("core_usage")) == (
        False,
        None,
        [],
    )


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_bytes_are_never_handed_out_and_making_the_table_again_heals_them(lake, usage, damage):
    stored = lake.put("core_usage", "r1", usage())
    spoiled = DAMAGE[damage](stored.path.read_bytes())
    stored.path.write_bytes(spoiled)
    found = hashlib.sha256(spoiled).hexdigest()
    with pytest.raises(
        StorageError, match=f"{stored.digest}.parquet is damaged: .*{stored.digest}, its bytes have {found}"
    ):
        lake.get("core_usage", "r1")
    with pytest.raises(StorageError):
        lake.breaches("core_usage", "r1")
    lake.put("core_usage", "r1", usage())
    pd.testing.assert_frame_equal(lake.get("core_usage", "r1"), usage())


def test_a_table_comes_back_as_it_was_put(lake, usage):
    stored = lake.put("core_usage", "r1", usage(), {"input.raw_log_files": "x"})
    assert stored.path == lake.root / "core_usage" / "round=r1" / f"{stored.digest}.parquet"
    assert stored == (hashlib.sha256(stored.path.read_bytes()).hexdigest(), 3, lake.path("core_usage", "r1"))
    pd.testing.assert_frame_equal(Lake(lake.root).get("core_usage", "r1"), usage())
    assert lake.metadata("core_usage", "r1") == {"input.raw_log_files": "x"}
    assert lake.digest("core_usage", "r1") == stored.digest
    assert lake.digests("core_usage") == {"r1": stored.digest}


def test_the_same_frame_again_changes_nothing_on_disk(lake, usage):
    lake.put("core_usage", "r1", usage())
    before = _files(lake)
    lake.put("core_usage", "r1", usage())
    Lake(lake.root).put("core_usage", "r1", usage())
    assert _files(lake) == before


def test_two_lakes_of_the_same_tables_have_the_same_files(tmp_path, usage):
    names = []
    for root in (tmp_path / "one", tmp_path / "two"):
        for round_id in ("r1", "r2") if root.name == "one" else ("r2", "r1"):
            Lake(root).put("core_usage", round_id, usage(round_id))
        files = [path for path in sorted(root.rglob("*")) if path.is_file() and "locks" not in path.parts]
        names.append([(path.relative_to(root), path.read_bytes()) for path in files])
    assert names[0] == names[1]


def test_a_stored_table_can_be_checked_again_large_or_small(lake, usage, monkeypatch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lake_module, "validate", lambda *_, **__: None)
        lake.put("core_usage", "r1", usage(rows=3, file_sha256="x"))
    small = lake.breaches("core_usage", "r1")
    monkeypatch.setattr(lake_module, "SETTINGS", Settings(large_table_rows=2))
    pd.testing.assert_frame_equal(lake.breaches("core_usage", "r1"), small)
    assert list(small["rule"]) == ["matches([0-9a-f]{64})"] * 3


def test_strange_folders_in_a_table_are_no_rounds(lake, usage):
    lake.put("core_usage", "r1", usage())
    for name in ("round=..", "round=", "other", "round=r2"):
        (lake.root / "core_usage" / name).mkdir()
    (lake.root / "core_usage" / "round=r3").symlink_to(lake.root / "core_usage" / "round=r1")
    assert lake.rounds("core_usage") == ["r1"]


def test_a_sweep_keeps_what_is_in_force_young_or_pinned(lake, usage):
    old, pinned, current = (lake.put("core_usage", "r1", usage(run_id=name)) for name in ("a", "b", "c"))
    assert lake.sweep(datetime.now(UTC)) == []
    assert lake.sweep(datetime.now(UTC) + timedelta(days=29)) == []
    assert lake.sweep(NOW, pinned=[pinned.digest]) == [old.path]
    assert lake.sweep(NOW) == [pinned.path]
    assert lake.path("core_usage", "r1") == current.path
    pd.testing.assert_frame_equal(lake.get("core_usage", "r1"), usage(run_id="c"))


def test_threads_that_put_the_same_table_leave_one_of_their_frames_whole(lake, usage):
    frames = [usage(run_id=f"run-{i}") for i in range(6)]
    threads = [threading.Thread(target=lake.put, args=("core_usage", "r1", frame)) for frame in frames]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lake.get("core_usage", "r1")["run_id"].iloc[0] in {frame["run_id"].iloc[0] for frame in frames}
    assert len(list(lake.path("core_usage", "r1").parent.glob("*.parquet"))) == 6


def test_nothing_temporary_is_left_after_a_put(lake, usage):
    stored = lake.put("core_usage", "r1", usage())
    (stored.path.parent / ".tmp-1-1").write_bytes(b"half")
    lake.put("core_usage", "r1", usage(run_id="other"))
    assert list(stored.path.parent.glob(".tmp*")) == []
