"""The amounts of the scoring model, in whole thousandths of a point, so that every step of the fold is exact.

What belongs here: constants with their source. What does not: when they apply (`fold`). A score has at most three
decimals: whole points, halves of them, and half the difference of two numbers with two decimals.
"""

from __future__ import annotations

from typing import Final

from governance_pipeline.confidence.terms import Severity

POINT: Final = 1000
"""One point. Every score, delta, net and penalty in memory is an integer of thousandths."""

START: Final = 50 * POINT
"""Score of a domain nobody has judged (spec/confidence.md §2)."""

LOWEST: Final = -100 * POINT
HIGHEST: Final = 100 * POINT
"""Bounds of a score (spec/confidence.md §2)."""

ERROR_DELTA: Final[dict[Severity, int]] = {
    Severity.MILD: -1 * POINT,
    Severity.MEDIUM: -3 * POINT,
    Severity.SEVERE: -5 * POINT,
    Severity.CRITICAL: -10 * POINT,
}
"""Delta of an error (spec/confidence.md §2)."""

REPEAT_DELTA: Final = -10 * POINT
"""Delta of a pattern repeated within a session, and the most one error can cost before caps (§2, §11.3)."""

EXCUSE_EXTRA: Final = 5 * POINT
"""What EXCUSE costs more from the second incident on (§2)."""

PRO_PATTERN_DELTA: Final = 3 * POINT
"""Delta of a pro-pattern, fixed (§2)."""

STREAK_TOTAL: Final[tuple[int, ...]] = tuple(points * POINT for points in (0, 0, 0, 0, 1, 2, 4, 6, 8, 10, 12))
"""ACC: what a streak of n has earned in all; a correct answer earns the difference (§2)."""

STREAK_FOR_EXCEPTIONAL: Final = 3
"""Streak a track needs in the domain before an exceptional event (§2)."""

BONUSES_PER_DAY: Final = 3
"""Accepted bonuses per subject and day (§2)."""

WARM_UP_CAP: Final = (-30 * POINT, 15 * POINT)
DAY_CAP: Final = (-20 * POINT, 10 * POINT)
"""Lowest and highest net of a day in one domain, in warm-up and later (§2)."""

HALF: Final = 1
EVALUATION: Final = 2 * HALF
"""Evaluations are counted in halves: an implicit continue is one of two (§2)."""

WARM_UP_EVALUATIONS: Final = 40 * EVALUATION
WARM_UP_PER_DOMAIN: Final = 6 * EVALUATION
"""Evaluations that end the warm-up, in all and in each domain (§2)."""

RECOVERY_BELOW: Final = 20 * POINT
RECOVERY_ABOVE: Final = 35 * POINT
RECOVERY_DAYS: Final = 3
"""Trust recovery: entered below, left after so many closed days above (§4)."""

GOOD_FROM: Final = 50 * POINT
"""A side of a team is good from this global on, unrounded (§11.10)."""

MATURITY_FROM: Final[tuple[int, ...]] = (101, 501, 2001)
"""Whole evaluations from which a track is JUNIOR, ESTABLISHED, MATURE (§4)."""

CI_HALF_WIDTH_OF_ONE: Final = 25
"""Half-width of the interval at one evaluation; it falls with the square root of their number (§4)."""
