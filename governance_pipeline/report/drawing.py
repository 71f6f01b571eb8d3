"""How every figure of the reports is drawn: as matplotlib ships it, the same bytes for the same numbers.

What belongs here: a new figure, and a figure as SVG or PNG. What does not: what is drawn (figures, trajectory_figures).
matplotlib is imported inside the functions: it costs a second that no other command should pay.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_INCHES: Final = 7.2
PNG_DOTS_PER_INCH: Final = 150

_NO_SVG_METADATA: Final = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_SESSION: Final = ("backend", "interactive", "toolbar", "timezone")  # settings of a session, not of a drawing


@contextmanager
def own_style() -> Iterator[None]:
    """Draw as matplotlib ships, with ids that depend on the drawing alone.

    A file `matplotlibrc` in the current folder may be part of what is audited; whatever it says (LaTeX for texts,
    say, which would start a program) is undone here.
    """
    import matplotlib as mpl

    shipped = {name: value for name, value in mpl.rcParamsDefault.items() if name not in _SESSION}
    with mpl.rc_context({**shipped, "svg.hashsalt": "governance-pipeline", "svg.fonttype": "none"}):
        yield


def new_figure(title: str, height: float) -> tuple[Figure, Axes]:
    """Give an empty figure of one pair of axes, `height` inches high, with its title."""
    figure = blank_figure(height)
    axes = figure.subplots()
    axes.set_title(title, fontsize=10, loc="left")
    plain(axes)
    return figure, axes


def blank_figure(height: float) -> Figure:
    """Give a figure without axes, `height` inches high."""
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH_INCHES, height), layout="constrained")


def plain(axes: Axes) -> None:
    """Leave away what carries no number: the frame above and at the right."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def svg_of(figure: Figure) -> str:
    """Give a figure as one `<svg>` element; call it inside `own_style`."""
    text = _saved(figure, format="svg", metadata=_NO_SVG_METADATA).decode()
    return text[text.index("<svg") :]


def png_of(figure: Figure) -> bytes:
    """Give a figure as PNG without a word of who made it; call it inside `own_style`."""
    return _saved(figure, format="png", dpi=PNG_DOTS_PER_INCH, metadata={"Software": None})


def _saved(figure: Figure, **options: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, **options)
    return buffer.getvalue()
