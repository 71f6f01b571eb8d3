"""The figures of a round by the numbers drawn in them: gaps where a value is unknown, and no text of a log."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from governance_pipeline.report.drawing import own_style, png_of, svg_of
from governance_pipeline.report.texts import LANGUAGES, words
from governance_pipeline.report.trajectory_figures import (
    FIGURES,
    amplification_figure,
    cohort_figure,
    gapped,
    place_text,
    surface_figure,
)
from governance_pipeline.report.trajectory_section import MOST_ROUNDS, trajectory_section
from governance_pipeline.report.trajectory_series import (
    Amplification,
    CohortPosition,
    StepSeries,
    Trajectory,
    UnitReach,
)

WORDS = words("en")
HOSTILE = "$\\frac{1}{0}$<script>alert(1)</script>"
PLACES = (
    CohortPosition("aus_round", 12.0, 1.0, 3.0, 5.0, 8.0, 20.0, 40, 0.2, None),
    CohortPosition("largest_h", None, 0.0, 0.2, 0.5, 0.8, 1.0, 40, None, "value_unknown"),
    CohortPosition("rewrite_share", None, None, None, None, None, None, 0, None, "value_unknown"),
)
UNITS = (UnitReach(HOSTILE, 12.0, 14.0, ()), UnitReach("b", None, 5.0, ()), UnitReach("d", None, None, ()))
SHOWN = Trajectory(
    "r-1",
    StepSeries((1, 2, 3, 4), (3.0, None, 12.5, 0.0), (0.0, 0.0, None, 1.0), 0),
    PLACES,
    Amplification(UNITS, 9.0, 0),
)
NOTHING = Trajectory("r-0", StepSeries((), (), (), 0), (PLACES[2],), Amplification((UNITS[2],), None, 0))


def lines_of(axes):
    return [[None if math.isnan(y) else y for y in line.get_ydata()] for line in axes.lines]


def dots_of(axes):
    drawn = [each for each in axes.collections if isinstance(each, PathCollection)]
    return [[tuple(point) for point in np.ma.filled(each.get_offsets(), np.nan)] for each in drawn]


def test_surface_and_evidence_are_drawn_as_they_are_with_gaps_for_what_is_unknown():
    surface, evidence = surface_figure(SHOWN, WORDS).axes
    assert lines_of(surface) == [[3.0, None, 12.5, 0.0]]
    assert lines_of(evidence) == [[0.0, 0.0, None, 1.0]]


def test_an_unknown_step_has_a_mark_above_the_axes_and_none_at_zero():
    surface, evidence = surface_figure(SHOWN, WORDS).axes
    assert [[x for x, _ in dots] for dots in dots_of(surface)] == [[2.0]]
    assert [[x for x, _ in dots] for dots in dots_of(evidence)] == [[3.0]]
    assert all(y > 1 for axes in (surface, evidence) for dots in dots_of(axes) for _, y in dots)


def test_a_feature_is_drawn_beside_its_cohort_and_an_unknown_one_has_no_dot():
    known, no_value, nothing = cohort_figure(SHOWN, WORDS).axes
    assert (12.0, 0.0) in [point for dots in dots_of(known) for point in dots]
    assert dots_of(no_value) == [[(0.5, 0.0)]], "the median of the cohort alone"
    assert (len(nothing.collections), len(nothing.lines), list(nothing.get_xticks())) == (0, 0, [])


def test_each_feature_says_how_extreme_it_is_or_why_nobody_knows():
    titles = [axes.get_title(loc="left") for axes in cohort_figure(SHOWN, WORDS).axes]
    assert titles[0] == "AUS, sum of S: p = 0.2 among 40 rounds"
    assert titles[1] == "largest H of a step, nats: p unknown, value_unknown"
    suspect = PLACES[0]._replace(reason="exchangeability_suspect")
    assert place_text(suspect, words("es")).endswith("p = 0.2 entre 40 rondas (exchangeability_suspect)")


def test_both_sides_of_a_file_are_drawn_only_where_they_are_known():
    [axes] = amplification_figure(SHOWN, WORDS).axes
    before, after = (dots for dots in dots_of(axes) if len(dots) == len(UNITS))
    known = [[point for point in dots if not math.isnan(point[0])] for dots in (before, after)]
    assert known == [[(12.0, 1.0)], [(14.0, 1.0), (5.0, 2.0)]]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["1", "2", "3"]
    assert [line.get_xdata()[0] for line in axes.lines] == [9.0]


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_known_draws_nothing(name):
    assert FIGURES[name](NOTHING, WORDS) is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_one_svg_without_text_of_a_log_and_the_same_bytes_again(name, language):
    def svg():
        with own_style():
            return svg_of(FIGURES[name](SHOWN, words(language)))

    first = svg()
    assert ET.fromstring(first).tag == "{http://www.w3.org/2000/svg}svg"
    assert "alert" not in first
    assert "frac" not in first
    assert first == svg()


def test_a_png_names_nobody_and_is_the_same_bytes_again():
    def png():
        with own_style():
            return png_of(surface_figure(SHOWN, WORDS))

    first = png()
    assert first.startswith(b"\x89PNG")
    assert b"matplotlib" not in first.lower()
    assert first == png()


def test_gaps_are_no_numbers():
    assert gapped([1.0, None])[0] == 1.0
    assert math.isnan(gapped([None])[0])


@pytest.mark.long
def test_a_report_draws_the_first_rounds_with_numbers_and_counts_the_others():
    section = trajectory_section([NOTHING, *[SHOWN] * (MOST_ROUNDS + 2)], WORDS)
    assert ([each.round_id for each in section.rounds], section.not_drawn) == (["r-1"] * MOST_ROUNDS, 2)
    assert [len(each.figures) for each in section.rounds] == [3] * MOST_ROUNDS
    assert section.rounds[0].units == UNITS
    assert trajectory_section([NOTHING], WORDS) == ((), 0)
