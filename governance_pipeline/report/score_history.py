"""Score history as a picture: the score of each subject and domain over days, from rows of `confidence_scores`.

What belongs here: the drawing, the same bytes for the same rows. What does not: scores. matplotlib is imported inside
the function: it costs a second that no other command should pay.
"""

from __future__ import annotations

import io
from datetime import date
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS: Final = ("svg", "png")
DOMAINS: Final = {
    "TECH": "#1f6fb2", "OPS": "#2a7f62", "JUDGMENT": "#8a5a00", "COMMS": "#b3261e", "ORCH": "#6a3d9a",
}  # fmt: skip
"""Domain -> colour, in the order of every confidence document."""
SHOWN_TRACKS: Final = 12
WIDTH_INCHES: Final = 7.2
PANEL_INCHES: Final = 1.9
_SESSION: Final = ("backend", "interactive", "toolbar", "timezone")
_METADATA: Final = {"svg": dict.fromkeys(("Date", "Creator", "Format", "Type")), "png": {"Software": None}}


def score_history(rows: Sequence[Mapping[str, Any]], file_format: str) -> bytes:
    """Draw one panel for each track, one line for each domain; at most `SHOWN_TRACKS`, the first by name.

    Args:
        rows: of `confidence_scores`, at least one.
        file_format: svg or png.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    tracks = sorted({_track(row) for row in rows})
    shown = tracks[:SHOWN_TRACKS]
    # A matplotlibrc of the current folder is none of ours: whatever it says is undone.
    shipped = {name: value for name, value in mpl.rcParamsDefault.items() if name not in _SESSION}
    with mpl.rc_context({**shipped, "svg.hashsalt": "governance-pipeline", "svg.fonttype": "none"}):
        figure = Figure(figsize=(WIDTH_INCHES, PANEL_INCHES * len(shown) + 0.6), layout="constrained")
        _draw(figure, rows, shown)
        if len(tracks) > len(shown):
            figure.suptitle(f"{len(shown)} of {len(tracks)} tracks", fontsize=8)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=file_format, dpi=150, metadata=_METADATA[file_format])
    return buffer.getvalue()


def _draw(figure: Figure, rows: Sequence[Mapping[str, Any]], tracks: Sequence[tuple[str, ...]]) -> None:
    panels = figure.subplots(len(tracks), 1, squeeze=False, sharex=True)[:, 0]
    for axes, track in zip(panels, tracks, strict=True):
        for domain, colour in DOMAINS.items():
            mine = sorted((r["day_on"], r["score"]) for r in rows if _track(r) == track and r["domain"] == domain)
            days = [date.fromisoformat(day) for day, _ in mine]
            if days:
                axes.plot(days, [score for _, score in mine], color=colour, marker="o", markersize=3, label=domain)
        # Names are text and never mathtext, which "$" would start.
        axes.set_title(" ".join(part for part in track if part), fontsize=8, loc="left", parse_math=False)
        axes.set_ylim(-105, 105)
        axes.axhline(0, color="#c9c9c9", linewidth=0.6)
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=6, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    _keep_in_calendar(panels[0])
    figure.autofmt_xdate()


def _keep_in_calendar(axes: Axes) -> None:
    """End the axis of days at its first and last day where the margin beside them would leave the years 1 to 9999."""
    from matplotlib.dates import date2num

    first, last = axes.get_xlim()
    earliest, latest = (date2num(day) for day in (date.min, date.max))  # type: ignore[no-untyped-call]
    if first < earliest or last > latest:
        axes.set_xlim(max(first, earliest), min(last, latest))


def _track(row: Mapping[str, Any]) -> tuple[str, ...]:
    runtime = row["runtime"]
    return str(row["role"]), str(row["subject_id"]), runtime if isinstance(runtime, str) else ""
