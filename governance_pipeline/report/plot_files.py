"""The figures of one round as files, and the `govern/features-plot/v1` document that says what they show.

What belongs here: names, bytes and data of the figures. What does not: writing them (cli), and drawing.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, Literal

from governance_pipeline.report.drawing import own_style, png_of, svg_of
from governance_pipeline.report.trajectory_figures import FIGURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.report.trajectory_series import Trajectory

Form = Literal["svg", "png"]
FORMS: Final[tuple[Form, ...]] = ("svg", "png")
SCHEMA: Final = "govern/features-plot/v1"


def plot_files(shown: Trajectory, words: Mapping[str, str], form: Form) -> dict[str, bytes]:
    """Give figure -> bytes of its file, for the figures of a round that have something to draw."""
    files: dict[str, bytes] = {}
    with own_style():
        for name, draw in FIGURES.items():
            figure = draw(shown, words)
            if figure is not None:
                files[name] = png_of(figure) if form == "png" else svg_of(figure).encode()
    return files


def file_name(round_id: str, figure: str, form: Form) -> str:
    """Name the file of a figure of a round."""
    return f"{round_id}-{figure}.{form}"


def plot_document(shown: Trajectory, files: Mapping[str, bytes], form: Form) -> dict[str, Any]:
    """Say which figures were made, of which numbers (null: unknown, a gap), and which have nothing to draw."""
    steps, units = shown.steps, shown.amplification
    return {
        "schema": SCHEMA,
        "round_id": shown.round_id,
        "files": [
            {
                "figure": name,
                "file": file_name(shown.round_id, name, form),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
            for name, data in files.items()
        ],
        "nothing_to_draw": [name for name in FIGURES if name not in files],
        "surface": [
            {"step": step, "S": surface, "E": evidence}
            for step, surface, evidence in zip(steps.steps, steps.surface, steps.evidence, strict=True)
        ],
        "steps_left_out": steps.left_out,
        "cohort": [place._asdict() for place in shown.cohort],
        "amplification": [unit._asdict() | {"signals": list(unit.signals)} for unit in units.units],
        "outliers_above": units.threshold,
        "units_left_out": units.left_out,
    }
