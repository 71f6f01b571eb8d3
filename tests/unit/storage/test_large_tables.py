"""A table stored as batches is the table stored as a frame: same bytes, same digest, same rules."""

from __future__ import annotations

import pyarrow as pa
import pytest

from governance_pipeline.contracts.frames import to_arrow
from governance_pipeline.contracts.registry import contract_of, frame_of
from governance_pipeline.errors import ContractBreach, StorageError
from governance_pipeline.settings import Settings
from governance_pipeline.storage import parquet
from governance_pipeline.storage.lake import Lake

WHERE = {"round_id": "r-1", "run_id": "run", "path": "a", "file_sha256": "ab" * 32, "line": 1, "pointer": ""}


def steps(count, **more):
    return frame_of("core_steps", ({**WHERE, "step_index": n + 1, "tool": f"t{n % 7}", **more} for n in range(count)))


def batches(frame, rows):
    return to_arrow(contract_of("core_steps"), frame).to_batches(max_chunksize=rows)


@pytest.mark.parametrize("rows", [1, 7, 10, 1_000])
def test_the_digest_does_not_depend_on_the_batches(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(parquet, "SETTINGS", Settings(row_group_rows=10))
    frame = steps(25)
    as_frame = Lake(tmp_path / "a").put("core_steps", "r-1", frame, {"input.x": "1"})
    lake = Lake(tmp_path / "b")
    as_batches = lake.put_batches("core_steps", "r-1", batches(frame, rows), {"input.x": "1"})
    assert (as_batches.digest, as_batches.rows) == (as_frame.digest, 25)
    assert lake.get("core_steps", "r-1").equals(frame)


def test_no_batch_is_the_empty_table(tmp_path):
    empty = Lake(tmp_path / "a").put("core_steps", "r-1", steps(0), {})
    assert Lake(tmp_path / "b").put_batches("core_steps", "r-1", [], {}).digest == empty.digest


def test_rows_that_break_the_contract_change_nothing(tmp_path):
    lake = Lake(tmp_path)
    kept = lake.put_batches("core_steps", "r-1", batches(steps(3), 2), {})
    with pytest.raises(ContractBreach, match="ge"):
        lake.put_batches("core_steps", "r-1", batches(steps(3, duration_s=-1.0), 2), {})
    assert lake.digest("core_steps", "r-1") == kept.digest
    assert [path.name for path in (tmp_path / "core_steps" / "round=r-1").glob(".tmp-*")] == []


def test_rows_of_another_round_are_refused(tmp_path):
    with pytest.raises(StorageError, match="rows of \\['r-2'\\]"):
        Lake(tmp_path).put_batches("core_steps", "r-1", batches(steps(3, round_id="r-2"), 2), {})


def test_what_a_killed_writer_left_does_not_stop_the_next(tmp_path):
    lake = Lake(tmp_path)
    lake.put("core_steps", "r-1", steps(1), {})
    (tmp_path / "core_steps" / "round=r-1" / ".tmp-large").write_bytes(b"half")
    assert lake.put_batches("core_steps", "r-1", batches(steps(2), 2), {}).rows == 2


def test_a_column_too_few_is_refused(tmp_path):
    with pytest.raises((pa.ArrowInvalid, ValueError)):
        Lake(tmp_path).put_batches("core_steps", "r-1", [pa.record_batch({"round_id": ["r-1"]})], {})
