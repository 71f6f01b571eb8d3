"""What Dagster plots over rounds: known numbers only."""

from __future__ import annotations


def test_dagster_is_told_the_known_numbers_of_a_round_and_never_a_zero_for_an_unknown_one(house):
    house.write_rounds("r-1")
    folder = house.workspace.landing / "r-1"
    (folder / "changes.jsonl").write_text('{"step": 1, "F": 2}\n')
    assert house.run("r-1", job="measure_job").success
    assert house.metadata("features_step_surface", "r-1")["surface_by_step"] == "unknown in all 1 steps"
    assert "aus_round" not in house.metadata("features_round", "r-1")
