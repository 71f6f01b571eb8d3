"""Feature tables come back from the lake only when they were made by the same formulas."""

from __future__ import annotations

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.storage.lake import Lake
from governance_pipeline.trajectory.formulas import formulas_text, metadata
from governance_pipeline.trajectory.step_surface import TABLE, step_surface
from governance_pipeline.trajectory.stored import read_features, write_formulas


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path / "lake")


@pytest.fixture
def frames(tables):
    changes = [{"step": 1, "F": 0}]
    frame = step_surface(tables({name: {"changes.jsonl": changes} for name in ("r-1", "r-2")}))
    return {name: frame[frame["round_id"] == name].reset_index(drop=True) for name in ("r-1", "r-2")}


@pytest.mark.parametrize("other", [{"features.epsilon": "0.001"}, {"features.version": "trajectory-features-v2"}])
def test_one_round_of_other_formulas_stops_the_whole_reading(lake, frames, other):
    lake.put(TABLE, "r-1", frames["r-1"], metadata())
    lake.put(TABLE, "r-2", frames["r-2"], {**metadata(), **other})
    with pytest.raises(StorageError, match="round r-2 was made by"):
        read_features(lake, TABLE, ["r-1", "r-2"])
    assert len(read_features(lake, TABLE, ["r-1"])) == 1


def test_a_table_stored_without_formulas_is_refused(lake, frames):
    lake.put(TABLE, "r-1", frames["r-1"])
    with pytest.raises(StorageError, match="None with epsilon None"):
        read_features(lake, TABLE, ["r-1"])


def test_a_round_that_has_none_is_named(lake):
    with pytest.raises(StorageError, match="r-9"):
        read_features(lake, TABLE, ["r-9"])


def test_rounds_are_read_in_the_order_asked_for(lake, frames):
    for round_id, frame in frames.items():
        lake.put(TABLE, round_id, frame, metadata())
    assert list(read_features(lake, TABLE, ["r-2", "r-1"])["round_id"]) == ["r-2", "r-1"]
    assert len(read_features(lake, TABLE, [])) == 0


def test_the_formulas_file_lies_in_the_lake_and_is_written_again_unchanged(lake, frames):
    lake.put(TABLE, "r-1", frames["r-1"], metadata())
    path = write_formulas(lake)
    assert path.name == "features_formulas.json"
    assert write_formulas(lake).read_text("utf-8") == formulas_text()
