"""The part of an HTML report that shows how the work of rounds spread: their figures, and the files these number.

What belongs here: which rounds are drawn, as inline SVG. What does not: the numbers (trajectory_series) and how they
are drawn (trajectory_figures).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.report.drawing import own_style, svg_of
from governance_pipeline.report.trajectory_figures import FIGURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from governance_pipeline.report.trajectory_series import Trajectory, UnitReach

MOST_ROUNDS: Final = 10
"""Rounds drawn at most, the first of the report that have something to draw: a figure costs a fifth of a second."""


class RoundSection(NamedTuple):
    """One round: its figures as SVG, and its touched files in the order they are numbered."""

    round_id: str
    figures: tuple[Markup, ...]
    units: tuple[UnitReach, ...]
    units_left_out: int
    steps_left_out: int


class TrajectorySection(NamedTuple):
    """The rounds that are drawn, and how many more could be."""

    rounds: tuple[RoundSection, ...]
    not_drawn: int


def trajectory_section(found: Sequence[Trajectory], words: Mapping[str, str]) -> TrajectorySection:
    """Draw the first rounds that have something to draw."""
    able = [each for each in found if has_numbers(each)]
    return TrajectorySection(tuple(_round_section(each, words) for each in able[:MOST_ROUNDS]), len(able[MOST_ROUNDS:]))


def has_numbers(found: Trajectory) -> bool:
    """Tell whether a round has a known number that a figure would show."""
    steps, units = found.steps, found.amplification.units
    series = (*steps.surface, *steps.evidence, *(side for unit in units for side in (unit.before, unit.after)))
    return any(value is not None for value in series) or any(place.value is not None for place in found.cohort)


def _round_section(found: Trajectory, words: Mapping[str, str]) -> RoundSection:
    from markupsafe import Markup

    with own_style():
        drawn = [figure for draw in FIGURES.values() if (figure := draw(found, words)) is not None]
        figures = tuple(Markup(svg_of(figure)) for figure in drawn)  # noqa: S704 - SVG drawn by us, from numbers
    units = found.amplification
    return RoundSection(found.round_id, figures, units.units, units.left_out, found.steps.left_out)
