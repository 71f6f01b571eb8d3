"""Figures of the audit report as inline SVG: no files, no network, the same bytes for the same document."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.report import audit_summary as summary
from governance_pipeline.report.drawing import new_figure, own_style, svg_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKED: Final = ("match", "mismatch")
COLOURS: Final = {"match": "#2a7f62", "mismatch": "#b3261e", "unverifiable": "#b8860b"}
RECORD_COLOURS: Final = {"accepted": "#2a7f62", "quarantined": "#b3261e", "blank": "#c9c9c9", "duplicates": "#5b7db1"}
LARGEST_DRAWN: Final = Decimal("1e60")
"""Far above any exact number, which ends below 1e38; near the largest binary64 the axes overflow."""


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
    known = [r for r in document["cross_checks"] if r["status"] in CHECKED]
    if not known:
        return ""
    with own_style():
        figure, axes = new_figure(words["figure_values"], 4.2)
        for status in CHECKED:
            some = [r for r in known if r["status"] == status]
            points = [point for r in some if (point := _point(r)) is not None]
            x, y = [x for x, _ in points], [y for _, y in points]
            axes.scatter(x, y, s=18, color=COLOURS[status], label=f"{words[status]} ({len(some)})", alpha=0.7)
        axes.axline((0, 0), slope=1, color="#999999", linewidth=0.8)
        axes.set_xscale("symlog", linthresh=1e-3)
        axes.set_yscale("symlog", linthresh=1e-3)
        axes.set_xlabel(words["computed"])
        axes.set_ylabel(words["declared"])
        axes.legend(frameon=False, fontsize=8)
        return svg_of(figure)


def _point(record: dict[str, Any]) -> tuple[float, float] | None:
    """Computed and declared of a record; None where the axes could not hold it."""
    x, y = (Decimal(record[side]) for side in ("computed", "declared"))
    return (float(x), float(y)) if max(abs(x), abs(y)) <= LARGEST_DRAWN else None


def _stacked(rows: Sequence[Any], colours: dict[str, str], words: dict[str, str], title: str) -> str:
    with own_style():
        figure, axes = new_figure(title, 0.9 + 0.36 * len(rows))
        left = [0] * len(rows)
        names = [row.format for row in rows]
        for fate, colour in colours.items():
            widths = [getattr(row, fate) for row in rows]
            label = words["unknown" if fate == "unverifiable" else fate]
            axes.barh(names, widths, left=left, color=colour, label=label)
            left = [a + b for a, b in zip(left, widths, strict=True)]
        axes.invert_yaxis()
        axes.legend(frameon=False, fontsize=8, ncols=4, loc="upper left", bbox_to_anchor=(0, -0.18))
        return svg_of(figure)
