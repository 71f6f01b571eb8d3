"""AUS: the surface a round accumulated over its steps, and the steps that are missing.

What belongs here: the sum and what forbids it. The sum is discrete, one S per step: idle time adds no area, and a
change that is taken back later counts twice. Source: spec/trajectory.md §1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.trajectory.reasons import AusReason

if TYPE_CHECKING:
    from collections.abc import Sequence


class Accumulated(NamedTuple):
    """AUS of a round: its value or why it is unknown, and how many S of its steps are known."""

    value: float | None
    known_steps: int
    reason: AusReason | None


def step_gaps(steps: Sequence[int]) -> list[tuple[int, int]]:
    """Give the first and last of each run of missing steps before the last one; `steps` ascend and start from 1."""
    before = [0, *steps]
    return [(last + 1, step - 1) for last, step in zip(before, steps, strict=False) if step > last + 1]


def accumulated(surfaces: Sequence[float | None], *, has_gap: bool, has_quarantined: bool) -> Accumulated:
    """Add up S over the steps of a round.

    Args:
        surfaces: S of each step, None where unknown.
        has_gap: a step is missing.
        has_quarantined: a line of `changes.jsonl` could not be used; it may have been any step.
    """
    known = [surface for surface in surfaces if surface is not None]
    reason = _reason(surfaces, len(known), has_gap=has_gap, has_quarantined=has_quarantined)
    if reason is not None:
        return Accumulated(None, len(known), reason)
    try:
        return Accumulated(math.fsum(known), len(known), None)
    except OverflowError:  # numbers that events claim may add up beyond binary64: then no column can hold the sum
        return Accumulated(None, len(known), AusReason.S_UNKNOWN)


def _reason(surfaces: Sequence[object], known: int, *, has_gap: bool, has_quarantined: bool) -> AusReason | None:
    if not surfaces:
        return AusReason.NO_STEPS
    if has_quarantined:
        return AusReason.CHANGES_QUARANTINED
    if has_gap:
        return AusReason.STEP_GAP
    return None if known == len(surfaces) else AusReason.S_UNKNOWN
