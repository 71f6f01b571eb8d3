"""What the figures show is what the tables say: null is a gap, a missing step is a gap, and nothing becomes 0."""

from __future__ import annotations

import pytest

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.report.trajectory_series import (
    MOST_STEPS,
    MOST_UNITS,
    TABLES,
    amplification_series,
    cohort_positions,
    step_series,
    trajectories,
)


def step(index, surface, evidence=None):
    return {"step_index": index, "surface_sum": surface, "evidence_share": evidence}


def unit(name, before, after, threshold=9.0, **signals):
    off = dict.fromkeys(
        ("is_touched_outlier", "is_impact_increase", "is_outlier_crossing", "is_frequency_only_crossing"), None
    )
    products = {"baseline_amplification": before, "candidate_amplification": after}
    return {"unit": name, **products, "region_threshold": threshold, **off, **signals}


def test_a_missing_step_and_an_unknown_one_are_gaps_and_a_zero_is_a_zero():
    series = step_series([step(2, 0.0, 0.0), step(3, None, 0.5), step(5, 4.0)])
    assert series.steps == (2, 3, 4, 5)
    assert series.surface == (0.0, None, None, 4.0)
    assert series.evidence == (0.0, 0.5, None, None)
    assert series.left_out == 0


def test_a_round_without_steps_has_an_empty_series():
    assert step_series([]) == ((), (), (), 0)


def test_steps_beyond_the_screen_are_counted_not_dropped_without_a_word():
    series = step_series([step(n, 1.0) for n in range(1, MOST_STEPS + 4)])
    assert (len(series.steps), series.left_out) == (MOST_STEPS, 3)


def test_a_gap_of_a_billion_steps_costs_no_memory():
    series = step_series([step(1, 1.0), step(10**9, 2.0)])
    assert (len(series.steps), series.surface[0], set(series.surface[1:]), series.left_out) == (
        MOST_STEPS, 1.0, {None}, 1,
    )  # fmt: skip


def test_files_are_ordered_by_their_larger_product_and_unknown_ones_are_last():
    found = amplification_series(
        [unit("a", None, None), unit("b", 1.0, 2.0), unit("c", 7.0, None), unit("d", 0.0, 0.0)]
    )
    assert [each.unit for each in found.units] == ["c", "b", "d", "a"]
    assert found.units[0].after is None
    assert (found.units[2].before, found.threshold) == (0.0, 9.0)


def test_only_signals_that_are_on_are_named_and_a_region_nobody_knows_is_none():
    found = amplification_series([unit("a", 1.0, 2.0, None, is_impact_increase=True, is_outlier_crossing=False)])
    assert (found.units[0].signals, found.threshold) == (("impact_increase",), None)


def test_files_left_out_are_counted():
    found = amplification_series([unit(f"f{n:03d}", float(n), None) for n in range(MOST_UNITS + 2)])
    assert (len(found.units), found.left_out, found.units[0].before) == (MOST_UNITS, 2, MOST_UNITS + 1.0)


def test_the_place_in_a_cohort_keeps_every_null():
    row = dict.fromkeys(
        ("value", "q05", "q25", "median", "q75", "q95", "known_count", "p_value"), None
    ) | {"feature": "largest_s", "reason": "no_cohort", "round_id": "r"}  # fmt: skip
    [place] = cohort_positions([row])
    assert (place.value, place.median, place.p_value, place.reason, place.has_anything) == (
        None, None, None, "no_cohort", False,
    )  # fmt: skip


def test_every_round_has_its_series_in_the_order_of_the_rounds(everything):
    found = trajectories(everything)
    assert [each.round_id for each in found] == list(everything["core_rounds"]["round_id"])
    steps = everything["features_step_surface"]
    known = steps[steps["round_id"] == found[0].round_id].set_index("step_index")["surface_sum"]
    drawn = dict(zip(found[0].steps.steps, found[0].steps.surface, strict=True))
    assert {index: value for index, value in drawn.items() if value is not None} == known.dropna().to_dict()


@pytest.mark.parametrize("table", TABLES)
def test_every_table_it_reads_has_a_contract(table):
    assert len(empty_frame(table)) == 0
