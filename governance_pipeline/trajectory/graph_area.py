"""AUS of version 2, step by step: the surface accumulated so far, in three ways that are kept apart.

What belongs here: the running sums and what forbids them. What does not: S. `aus` adds every S; `discrete` adds S of
steps with changes only; `seconds` weighs S with the time since the step before, so that idle time shows there and
nowhere else. Sums are exact until they are written. Source: spec/trajectory.md §2.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.trajectory.reasons import AusReason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime


class SurfaceAt(NamedTuple):
    """What one step contributes: its number, S, whether it changed a file, and when; None where unknown."""

    step: int
    surface: float | None
    has_changes: bool | None
    at: datetime | None


class Area(NamedTuple):
    """The sums up to a step, None where unknown, and why `aus` is."""

    aus: float | None
    discrete: float | None
    seconds: float | None
    reason: AusReason | None


def areas(steps: Sequence[SurfaceAt], *, has_quarantined: bool) -> Iterator[Area]:
    """Give the sums up to each step.

    Args:
        steps: the steps of one round, ascending.
        has_quarantined: a line of `changes.jsonl` could not be used; it may have been any step.
    """
    sums: dict[str, Fraction | None] = dict.fromkeys(("aus", "discrete", "seconds"), Fraction(0))
    has_gap = is_known = False
    before: SurfaceAt | None = None
    for step in steps:
        has_gap = has_gap or step.step != (0 if before is None else before.step) + 1
        is_known = step.surface is not None and (before is None or is_known)
        for name, weight in _weights(step, before).items():
            total = sums[name]
            sums[name] = None if total is None or weight is None else total + weight
        reason = _reason(has_quarantined=has_quarantined, has_gap=has_gap, is_known=is_known)
        if reason is not None:
            sums = dict.fromkeys(sums)
        yield Area(_number(sums["aus"]), _number(sums["discrete"]), _number(sums["seconds"]), reason)
        before = step


def _weights(step: SurfaceAt, before: SurfaceAt | None) -> dict[str, Fraction | None]:
    if step.surface is None:
        return dict.fromkeys(("aus", "discrete", "seconds"))
    surface = Fraction(step.surface)
    seconds: Fraction | None = Fraction(0)
    if before is not None:
        is_timed = step.at is not None and before.at is not None
        seconds = Fraction((step.at - before.at).total_seconds()) if is_timed else None  # type: ignore[operator]  # both known
    return {
        "aus": surface,
        "discrete": None if step.has_changes is None else surface * step.has_changes,
        "seconds": None if seconds is None else surface * seconds,
    }


def _reason(*, has_quarantined: bool, has_gap: bool, is_known: bool) -> AusReason | None:
    if has_quarantined:
        return AusReason.CHANGES_QUARANTINED
    if has_gap:
        return AusReason.STEP_GAP
    return None if is_known else AusReason.S_UNKNOWN


def _number(total: Fraction | None) -> float | None:
    if total is None:
        return None
    try:
        return float(total)
    except OverflowError:  # numbers that events claim may add up beyond binary64: then no column can hold the sum
        return None
