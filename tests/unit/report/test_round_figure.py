"""Surface and evidence of a round, drawn from numbers; what is unknown is no number."""

from __future__ import annotations

from governance_pipeline.report.round_figure import MOST_STEPS, surface_by_step

STEPS = [
    {"step_index": 1, "surface_sum": 2.0, "evidence_share": 0.0},
    {"step_index": 2, "surface_sum": None, "evidence_share": None},
    {"step_index": 3, "surface_sum": 4.0, "evidence_share": 1.0},
]


def test_an_unknown_surface_is_a_dotted_mark_and_no_bar_of_height_zero():
    svg = surface_by_step(STEPS)
    assert (svg.count("<rect"), svg.count("stroke-dasharray")) == (2, 1)
    assert surface_by_step([STEPS[1]]).count("<rect") == 0


def test_the_line_of_evidence_breaks_where_it_is_unknown():
    assert surface_by_step(STEPS).count("<polyline") == 2


def test_a_round_without_steps_has_no_figure_and_one_with_very_many_is_cut():
    assert surface_by_step([]) == ""
    many = [{**STEPS[0], "step_index": n} for n in range(1, MOST_STEPS + 10)]
    assert surface_by_step(many).count("<rect") == MOST_STEPS


def test_the_same_steps_give_the_same_bytes_and_a_surface_of_zero_is_drawn():
    assert surface_by_step(STEPS) == surface_by_step(STEPS)
    assert 'height="0.00"' in surface_by_step([{**STEPS[0], "surface_sum": 0.0}])
