"""Figures of one round: surface and evidence by step, position in its cohort, change amplification of touched files.

What belongs here: drawing, from the series only. What does not: choosing the numbers (trajectory_series). No figure
carries text of a log: touched files are numbered, and whoever shows the figure lists them beside it. Nothing unknown is
drawn at 0: a line has a gap there, and what has no place at all is said in words.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.report.drawing import blank_figure, new_figure, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from governance_pipeline.report.trajectory_series import CohortPosition, Trajectory

    Words = Mapping[str, str]

SURFACE, EVIDENCE = "#5b7db1", "#2a7f62"
SPREAD, MIDDLE, VALUE = "#c9c9c9", "#666666", "#b3261e"
_LEGEND: Final[dict[str, Any]] = {
    "frameon": False,
    "fontsize": 8,
    "ncols": 4,
    "loc": "upper left",
    "bbox_to_anchor": (0, -0.18),
}


def surface_figure(shown: Trajectory, words: Words) -> Figure | None:
    """Draw S (left axis) and E (right axis, 0 to 1) by step; None when there is no step.

    Steps whose S or E is unknown have a mark above the axes and none at 0.
    """
    steps = shown.steps
    if not steps.steps:
        return None
    figure, axes = new_figure(words["figure_surface"], 2.9)
    axes.set_title(words["figure_surface"], fontsize=10, loc="left", pad=14)  # room for the marks of unknown steps
    surface, evidence = gapped(steps.surface), gapped(steps.evidence)
    axes.plot(steps.steps, surface, color=SURFACE, marker="o", markersize=3, linewidth=1, label=words["surface"])
    _mark_unknown(axes, steps.steps, steps.surface, words["surface_unknown"], 1.02, SURFACE)
    axes.set_xlabel(words["step"], fontsize=8)
    axes.set_ylabel(words["surface"], fontsize=8)
    axes.set_ylim(bottom=0)
    right = axes.twinx()
    right.plot(steps.steps, evidence, color=EVIDENCE, marker="s", markersize=3, linewidth=1, label=words["proven"])
    _mark_unknown(right, steps.steps, steps.evidence, words["proven_unknown"], 1.06, EVIDENCE)
    right.set_ylim(-0.02, 1.02)
    right.set_ylabel(words["proven"], fontsize=8)
    right.spines["top"].set_visible(False)
    right.tick_params(labelsize=8)
    _whole_steps(axes, steps.steps)
    lines = [*axes.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
    axes.legend(lines, [str(line.get_label()) for line in lines], **_LEGEND)
    return figure


def cohort_figure(shown: Trajectory, words: Words) -> Figure | None:
    """Draw each compared feature on its own axis: quantiles of the comparable rounds, and this round as a dot.

    None when no feature has a number. A feature without one keeps its line, which says why.
    """
    places = shown.cohort
    if not any(place.has_anything for place in places):
        return None
    figure = blank_figure(0.6 + 0.62 * len(places))
    figure.suptitle(words["figure_cohort"], fontsize=10, x=0.01, ha="left")
    rows = figure.subplots(len(places), 1, squeeze=False)
    for place, (axes,) in zip(places, rows, strict=True):
        _draw_place(axes, place, words)
    return figure


def amplification_figure(shown: Trajectory, words: Words) -> Figure | None:
    """Draw frequency times impact of each touched file before and after the round; None when none is known.

    Files are numbered as they are in the series. A side that is unknown has no mark.
    """
    found = shown.amplification
    if all(unit.before is None and unit.after is None for unit in found.units):
        return None
    figure, axes = new_figure(words["figure_amplification"], 1.3 + 0.22 * len(found.units))
    places = range(1, len(found.units) + 1)
    before, after = (gapped([getattr(unit, side) for unit in found.units]) for side in ("before", "after"))
    axes.hlines(places, before, after, color=SPREAD, linewidth=2)
    axes.scatter(before, places, s=26, facecolors="none", edgecolors=SURFACE, label=words["before_round"], zorder=3)
    axes.scatter(after, places, s=14, color=SURFACE, label=words["after_round"], zorder=3)
    if found.threshold is not None:
        axes.axvline(found.threshold, color=VALUE, linewidth=1, linestyle="--", label=words["outlier_region"])
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(left=-0.1)
    axes.set_yticks(list(places), [str(place) for place in places])
    axes.set_ylim(len(found.units) + 0.6, 0.4)
    axes.legend(**_LEGEND)
    return figure


FIGURES: Final[dict[str, Callable[[Trajectory, Words], Figure | None]]] = {
    "surface": surface_figure,
    "cohort": cohort_figure,
    "amplification": amplification_figure,
}
"""Name of a figure -> what draws it."""


def gapped(values: Sequence[float | None]) -> list[float]:
    """Give values for matplotlib, which draws nothing where a number is none."""
    return [math.nan if value is None else value for value in values]


def place_text(place: CohortPosition, words: Words) -> str:
    """Say of one feature how extreme it is among how many rounds, or why nobody can say."""
    feature = words.get(f"feature_{place.feature}", place.feature)
    if place.p_value is None:
        return words["p_unknown"].format(feature=feature, reason=place.reason)
    said = words["p_known"].format(feature=feature, p=f"{place.p_value:.3g}", n=place.known_count)
    return said if place.reason is None else f"{said} ({place.reason})"


def _draw_place(axes: Axes, place: CohortPosition, words: Words) -> None:
    if place.q05 is not None and place.q95 is not None:
        axes.hlines(0, place.q05, place.q95, color=SPREAD, linewidth=2)
    if place.q25 is not None and place.q75 is not None:
        axes.hlines(0, place.q25, place.q75, color=SPREAD, linewidth=7)
    if place.median is not None:
        axes.scatter([place.median], [0], marker="|", s=90, color=MIDDLE)
    if place.value is not None:
        axes.scatter([place.value], [0], s=24, color=VALUE, zorder=3)
    axes.set_title(place_text(place, words), fontsize=8, loc="left", pad=1)
    axes.set_yticks([])
    plain(axes)
    axes.spines["left"].set_visible(False)
    axes.tick_params(labelsize=7)
    if not place.has_anything:
        axes.set_xticks([])


def _mark_unknown(
    axes: Axes, steps: Sequence[int], values: Sequence[float | None], label: str, height: float, colour: str
) -> None:
    unknown = [step for step, value in zip(steps, values, strict=True) if value is None]
    if unknown:
        heights = [height] * len(unknown)
        across = axes.get_xaxis_transform()
        axes.scatter(unknown, heights, marker="x", s=12, color=colour, transform=across, clip_on=False, label=label)


def _whole_steps(axes: Axes, steps: Sequence[int]) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(steps[0] - 0.5, steps[-1] + 0.5)
