"""Kept frames follow the digest in force, forget the oldest first, and never hide a damaged or missing table."""

from __future__ import annotations

import pytest

from governance_pipeline.contracts.registry import empty_frame, frame_of
from governance_pipeline.errors import StorageError
from governance_pipeline.storage.kept_frames import KeptFrames
from governance_pipeline.storage.lake import Lake


def criteria(round_id: str, *names: str):
    rows = [{"round_id": round_id, "criterion_id": name, "is_required": True, "weight": 1.0} for name in names]
    return frame_of("core_criteria", rows)


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path)


def test_a_table_that_was_never_stored_is_refused_each_time(lake):
    frames = KeptFrames(lake)
    for _ in range(2):
        with pytest.raises(StorageError):
            frames.get("core_criteria", "r-1")


def test_the_second_read_gives_the_same_frame_without_reading(lake, monkeypatch):
    lake.put("core_criteria", "r-1", criteria("r-1", "C1"))
    frames = KeptFrames(lake)
    first = frames.get("core_criteria", "r-1")
    monkeypatch.setattr(Lake, "get", lambda *_: pytest.fail("read again"))
    assert frames.get("core_criteria", "r-1") is first


def test_a_table_that_was_made_again_is_read_again(lake):
    frames = KeptFrames(lake)
    lake.put("core_criteria", "r-1", criteria("r-1", "C1"))
    frames.get("core_criteria", "r-1")
    lake.put("core_criteria", "r-1", criteria("r-1", "C1", "C2"))
    assert list(frames.get("core_criteria", "r-1")["criterion_id"]) == ["C1", "C2"]


def test_the_least_recently_used_frame_is_forgotten_first(lake, monkeypatch):
    for name in ("r-1", "r-2", "r-3"):
        lake.put("core_criteria", name, criteria(name, "C1"))
    frames = KeptFrames(lake, kept_rows=4)
    for name in ("r-1", "r-2", "r-1", "r-3"):
        frames.get("core_criteria", name)
    read: list[str] = []
    monkeypatch.setattr(Lake, "get", lambda _self, table, name: read.append(name) or empty_frame(table))
    for name in ("r-1", "r-3", "r-2"):
        frames.get("core_criteria", name)
    assert read == ["r-2"]
