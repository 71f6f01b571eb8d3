"""Figures of the audit report as inline SVG: no files, no network, the same bytes for the same document.

matplotlib is imported inside the functions: it costs a second that no other command should pay.
"""

from __future__ import annotations

import io
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from governance_pipeline.report import audit_summary as summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

COLOURS = {"match": "#2a7f62", "mismatch": "#b3261e", "unverifiable": "#b8860b"}
RECORD_COLOURS = {"accepted": "#2a7f62", "quarantined": "#b3261e", "blank": "#c9c9c9", "duplicates": "#5b7db1"}


def checks_by_format(document: dict[str, Any], words: dict[str, str]) -> str:
    """Return stacked bars of checks per format and status; empty text when nothing was checked."""
    rows = [row for row in summary.coverage(document) if row.match + row.mismatch + row.unverifiable]
    return _stacked(rows, COLOURS, words, words["figure_checks"]) if rows else ""


def records_by_format(document: dict[str, Any], words: dict[str, str]) -> str:
    """Return stacked bars of records per format and fate; empty text without files."""
    rows = summary.coverage(document)
    return _stacked(rows, RECORD_COLOURS, words, words["figure_records"]) if rows else ""


def declared_against_computed(document: dict[str, Any], words: dict[str, str]) -> str:
    """Return a scatter of declared over computed for every record where both are known; empty text when none."""
    known = [r for r in document["cross_checks"] if r["declared"] is not None and r["computed"] is not None]
    if not known:
        return ""
    figure, axes = _figure(words["figure_values"], 4.2)
    for status in ("match", "mismatch"):
        some = [r for r in known if r["status"] == status]
        x, y = ([float(Decimal(r[side])) for r in some] for side in ("computed", "declared"))
        axes.scatter(x, y, s=18, color=COLOURS[status], label=f"{words[status]} ({len(some)})", alpha=0.7)
    axes.axline((0, 0), slope=1, color="#999999", linewidth=0.8)
    axes.set_xscale("symlog", linthresh=1e-3)
    axes.set_yscale("symlog", linthresh=1e-3)
    axes.set_xlabel(words["computed"])
    axes.set_ylabel(words["declared"])
    axes.legend(frameon=False, fontsize=8)
    return _svg(figure)


def _stacked(rows: Sequence[Any], colours: dict[str, str], words: dict[str, str], title: str) -> str:
    figure, axes = _figure(title, 0.9 + 0.36 * len(rows))
    left = [0] * len(rows)
    names = [row.format for row in rows]
    for fate, colour in colours.items():
        widths = [getattr(row, fate) for row in rows]
        axes.barh(names, widths, left=left, color=colour, label=words["unknown" if fate == "unverifiable" else fate])
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.legend(frameon=False, fontsize=8, ncols=4, loc="upper left", bbox_to_anchor=(0, -0.18))
    return _svg(figure)


def _figure(title: str, height: float) -> tuple[Any, Axes]:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    return figure, axes


def _svg(figure: Any) -> str:
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "governance-pipeline", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
