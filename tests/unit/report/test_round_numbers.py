"""Numbers of a round for lists of rounds: an unknown one is not there, and never 0."""

from __future__ import annotations

import pytest

from governance_pipeline.contracts.registry import REGISTRY, empty_frame
from governance_pipeline.report.round_numbers import MOST_BLOCKS, NUMBERS, ROUND_NUMBERS, blocks, round_numbers


def test_unknown_steps_are_dots_and_zero_is_the_lowest_block():
    assert blocks([0.0, None, 7.0, 3.5]) == "▁·█▅ (0 to 7)"
    assert blocks([0.0, 0.0]) == "▁▁ (0 to 0)"


def test_a_line_without_a_known_number_says_so():
    assert (blocks([None, None]), blocks([])) == ("unknown in all 2 steps", "no steps")


def test_a_long_line_says_that_it_is_cut():
    assert blocks([1.0] * (MOST_BLOCKS + 1)) == "█" * MOST_BLOCKS + " (0 to 1, first steps)"


def test_only_known_numbers_of_a_round_are_given(everything):
    frame = everything["features_round"]
    found = round_numbers("features_round", frame)
    assert found == {name: frame[name].iloc[0] for name in ROUND_NUMBERS if frame[name].notna().iloc[0]}
    assert set(found) < set(ROUND_NUMBERS), "this round has unknown ones"


def test_steps_are_drawn_from_their_rows(everything):
    assert set(round_numbers("features_step_surface", everything["features_step_surface"])) == {
        "surface_by_step", "evidence_by_step",
    }  # fmt: skip


@pytest.mark.parametrize("table", list(REGISTRY))
def test_a_table_without_rows_gives_no_number(table):
    assert [value for value in round_numbers(table, empty_frame(table)).values() if not isinstance(value, str)] == []


def test_the_tables_drawn_from_exist():
    assert set(NUMBERS) <= set(REGISTRY)
