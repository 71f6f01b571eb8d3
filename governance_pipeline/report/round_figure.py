"""The figure of a published round: surface of each step as bars, proven evidence as a line, as inline SVG.

What belongs here: drawing, from numbers only. What does not: any text of a log. Plain SVG, because it is two shapes and
the same bytes everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, WIDEST = 720.0, 200.0, 48.0, 24.0, 12.0, 48.0
BAR, UNKNOWN, LINE = "#5b7db1", "#b8860b", "#2a7f62"
MOST_STEPS: Final = 2_000
"""Steps drawn at most, the first ones: beyond that a bar is thinner than a screen can show."""


def surface_by_step(steps: Sequence[Mapping[str, Any]]) -> str:
    """Draw S of each step (left axis) and E after it (0 to 1, whole height); empty text without steps.

    Args:
        steps: rows of `features_step_surface` of one round, in step order, null as None. A step whose S is unknown is
            a dotted mark on the axis, never a bar of height 0.
    """
    shown = list(steps)[:MOST_STEPS]
    if not shown:
        return ""
    highest = max((row["surface_sum"] or 0.0 for row in shown), default=0.0) or 1.0
    width = min((WIDTH - LEFT) / len(shown), WIDEST)
    end = LEFT + width * len(shown)
    floor, scale = HEIGHT - BOTTOM, (HEIGHT - BOTTOM - TOP) / highest
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" font-size="10">',
        f'<line x1="{LEFT:g}" y1="{floor:g}" x2="{WIDTH:g}" y2="{floor:g}" stroke="#999"/>',
        f'<text x="{LEFT - 4:g}" y="{TOP + 8:g}" text-anchor="end">{highest:.4g}</text>',
        f'<text x="{LEFT - 4:g}" y="{floor:g}" text-anchor="end">0</text>',
        f'<text x="{LEFT:g}" y="{HEIGHT - 8:g}">{shown[0]["step_index"]}</text>',
        f'<text x="{end:g}" y="{HEIGHT - 8:g}" text-anchor="end">{shown[-1]["step_index"]}</text>',
    ]
    for place, row in enumerate(shown):
        x, surface = LEFT + place * width, row["surface_sum"]
        if surface is None:
            parts.append(
                f'<line x1="{x:.2f}" y1="{floor - 3:g}" x2="{x + width * 0.9:.2f}" y2="{floor - 3:g}" '
                f'stroke="{UNKNOWN}" stroke-width="3" stroke-dasharray="2 2"/>'
            )
        else:
            tall = surface * scale
            parts.append(
                f'<rect x="{x:.2f}" y="{floor - tall:.2f}" width="{width * 0.9:.2f}" height="{tall:.2f}" fill="{BAR}"/>'
            )
    parts += _evidence_line(shown, width, floor)
    return "".join([*parts, "</svg>"])


def _evidence_line(steps: Sequence[Mapping[str, Any]], width: float, floor: float) -> list[str]:
    """Draw E where it is known; a gap where it is not."""
    runs: list[list[str]] = [[]]
    for place, row in enumerate(steps):
        if row["evidence_share"] is None:
            runs.append([])
        else:
            x, y = LEFT + (place + 0.45) * width, floor - row["evidence_share"] * (floor - TOP)
            runs[-1].append(f"{x:.2f},{y:.2f}")
    return [
        f'<polyline points="{" ".join(points)}" fill="none" stroke="{LINE}" stroke-width="2"/>'
        for points in runs
        if points
    ]
