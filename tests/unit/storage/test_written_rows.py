"""Rows written while they are found make the file that the same rows make at once: same bytes, same rules."""

from __future__ import annotations

import gc

import pyarrow as pa
import pytest

from governance_pipeline.contracts.frames import from_arrow, to_arrow
from governance_pipeline.contracts.registry import contract_of, frame_of
from governance_pipeline.errors import ContractBreach, StorageError, UsageError
from governance_pipeline.settings import Settings
from governance_pipeline.storage import parquet, written_rows
from governance_pipeline.storage.lake import Lake
from governance_pipeline.storage.written_rows import WrittenRows
from governance_pipeline.strict.files import digest_file

WHERE = {"round_id": "r-1", "run_id": "run", "path": "a", "file_sha256": "ab" * 32, "line": 1, "pointer": ""}


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    for module in (parquet, written_rows):
        monkeypatch.setattr(module, "SETTINGS", Settings(row_group_rows=10))


def steps(count, **more):
    return frame_of("core_steps", ({**WHERE, "step_index": n + 1, "tool": f"t{n % 7}", **more} for n in range(count)))


def written(frame, folder, rows, complete=lambda batch: batch):
    found = WrittenRows("core_steps", folder)
    for batch in to_arrow(contract_of("core_steps"), frame).to_batches(max_chunksize=rows):
        found.append(batch, complete)
    return found


def test_rows_that_break_the_contract_change_nothing(tmp_path):
    lake = Lake(tmp_path / "lake")
    kept = lake.put_batches("core_steps", "r-1", written(steps(13), tmp_path, 4), {})
    with pytest.raises(ContractBreach, match="ge"):
        lake.put_batches("core_steps", "r-1", written(steps(13, duration_s=-1.0), tmp_path, 4), {})
    assert lake.digest("core_steps", "r-1") == kept.digest
    assert list((tmp_path / "lake" / "core_steps" / "round=r-1").glob(".tmp-*")) == []


def test_a_key_that_occurs_in_two_row_groups_breaks_the_contract(tmp_path):
    twice = WrittenRows("core_steps", tmp_path)
    for batch in 2 * to_arrow(contract_of("core_steps"), steps(12)).to_batches():
        twice.append(batch, lambda batch: batch)
    with pytest.raises(ContractBreach, match="unique"):
        Lake(tmp_path / "lake").put_batches("core_steps", "r-1", twice, {})


def test_rows_of_another_round_are_refused(tmp_path):
    with pytest.raises(StorageError, match="rows of \\['r-2'\\]"):
        Lake(tmp_path / "lake").put_batches("core_steps", "r-1", written(steps(3, round_id="r-2"), tmp_path, 2), {})


def test_rows_of_another_table_are_judged_by_the_contract_of_the_one_asked_for(tmp_path):
    with pytest.raises((pa.ArrowInvalid, ValueError)):
        Lake(tmp_path / "lake").put_batches("core_runs", "r-1", written(steps(3), tmp_path, 2), {})


def test_a_metadata_key_of_storage_is_refused(tmp_path):
    with pytest.raises(UsageError, match="keeps for itself"):
        Lake(tmp_path / "lake").put_batches("core_steps", "r-1", written(steps(3), tmp_path, 2), {"govern.x": "1"})


def test_what_fails_while_writing_is_raised_to_whoever_asks(tmp_path):
    def fail(_):
        raise OSError(28, "No space left on device")

    lake, found = Lake(tmp_path / "lake"), written(steps(3), tmp_path, 2, fail)
    for _ in range(2):  # asked again, the rows before are not taken for all of them
        with pytest.raises(StorageError, match="No space left"):
            lake.put_batches("core_steps", "r-1", found, {})
    assert not lake.has("core_steps", "r-1")


def test_a_row_group_lost_on_the_way_is_told_while_rows_are_appended_and_again_when_they_are_asked_for(tmp_path):
    def lose_the_first(batch, seen=[]):  # noqa: B006 - remembers
        seen.append(batch)
        if len(seen) == 1:
            raise OSError(28, "No space left on device")
        return batch

    found = WrittenRows("core_steps", tmp_path)
    first, second = to_arrow(contract_of("core_steps"), steps(20)).to_batches(max_chunksize=10)
    found.append(first, lose_the_first)
    with pytest.raises(OSError, match="No space left"):
        found.append(second, lose_the_first)
    for _ in range(2):
        with pytest.raises(OSError, match="No space left"):
            list(found)


@pytest.mark.parametrize("count", [1, 10, 25])
@pytest.mark.parametrize("rows", [1, 7, 10, 1_000])
def test_the_bytes_are_those_of_the_frame_whatever_the_batches_and_the_metadata(tmp_path, rows, count):
    frame = steps(count)
    found = written(frame, tmp_path, rows)
    for place, metadata in enumerate(({}, {"input.x": "1", "a": "ö"})):
        as_frame = Lake(tmp_path / f"a{place}").put("core_steps", "r-1", frame, metadata)
        as_written = Lake(tmp_path / f"b{place}").put_batches("core_steps", "r-1", found, metadata)
        assert (as_written.digest, as_written.rows) == (as_frame.digest, count)
        assert digest_file(as_written.path).sha256 == as_frame.digest


def test_rows_can_be_read_back_and_again(tmp_path):
    frame, model = steps(25), contract_of("core_steps")
    found = written(frame, tmp_path, 7)
    for _ in range(2):
        assert from_arrow(model, pa.Table.from_batches(found)).equals(frame)


def test_no_row_is_the_empty_table(tmp_path):
    empty = Lake(tmp_path / "a").put("core_steps", "r-1", steps(0), {})
    found = WrittenRows("core_steps", tmp_path)
    assert list(found) == []
    assert Lake(tmp_path / "b").put_batches("core_steps", "r-1", found, {}).digest == empty.digest


def test_rows_nobody_wants_leave_nothing_behind(tmp_path):
    found = written(steps(25), tmp_path, 7)
    assert list(tmp_path.iterdir()) == []  # the file has no name
    del found
    gc.collect()
    assert list(tmp_path.iterdir()) == []
