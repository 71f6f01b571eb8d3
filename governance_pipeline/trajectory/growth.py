"""Numbers of a whole round that cohorts compare beside its sums: peaks, growth without evidence, rewriting.

What belongs here: the formulas, one pure function each. What does not: where the values come from (`step_surface`,
a repository at its base). Unknown stays unknown: one unknown term makes the number unknown.
Source: spec/trajectory.md §4.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class StepState(NamedTuple):
    """S and E of one step; None where unknown."""

    step: int
    surface: float | None
    evidence: float | None


class RewrittenFile(NamedTuple):
    """A touched file that existed at the base: lines deleted over the round (None: unknown), and lines at the base."""

    deleted: int | None
    base_lines: int


def largest(values: Sequence[float | None]) -> float | None:
    """Give the largest value of all steps (`largest_s`, `largest_h`); None when one is unknown or there is no step."""
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None


def unproven_growth(steps: Sequence[StepState]) -> float | None:
    """Give the sum of max(0, S_t - S_(t-1)) over the steps with E_t <= E_(t-1), where S_0 = E_0 = 0.

    None when an S or E is unknown, when a step is missing (then S of a step before is), and without any step.

    Args:
        steps: all steps of a round, ascending.
    """
    if not steps or [each.step for each in steps] != list(range(1, len(steps) + 1)):
        return None
    grown = []
    surface_before, evidence_before = 0.0, 0.0
    for each in steps:
        if each.surface is None or each.evidence is None:
            return None
        if each.evidence <= evidence_before:
            grown.append(max(0.0, each.surface - surface_before))
        surface_before, evidence_before = each.surface, each.evidence
    return math.fsum(grown)


def rewrite_share(files: Iterable[RewrittenFile] | None) -> float | None:
    """Give deleted lines / base lines of the touched files that existed at the base; a file counts once at most.

    A file that is deleted, written again and deleted again counts as its own lines, not twice that.

    Args:
        files: the files; None when the base is unknown.

    Returns:
        0 to 1; None without a base, with an unknown number, or when those files have no line.
    """
    known = None if files is None else list(files)
    if known is None or any(each.deleted is None for each in known):
        return None
    base = sum(each.base_lines for each in known)
    if base == 0:
        return None
    return sum(min(each.deleted or 0, each.base_lines) for each in known) / base
