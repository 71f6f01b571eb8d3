"""A time limit for a unit of work, derived from units that were really measured; never invented.

What belongs here: the percentile of a sample, how sure it is, and the limit. What does not: who measures and who stops
a unit (`red_processes`, `locked_run`).

The percentile is a measured duration (nearest rank: the smallest that at least that share of the sample does not
exceed; Hyndman and Fan 1996, definition 1). Its confidence interval is between two order statistics and assumes no
shape of the distribution: the number of n durations at or below the true percentile is binomial (David and Nagaraja,
Order Statistics, 3rd ed. 2003, §7.1; Hahn and Meeker, Statistical Intervals, 1991, §5.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from numbers import Real  # numpy's numbers are registered there, too
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PERCENTILE: Final = 99
SAFETY_MULTIPLIER: Final = 2.0
"""A unit may take twice as long as 99 of 100 did before it is given up; own choice, for load differs between the sample
and the run, and to stop a unit that works costs more than to wait as long again."""
CONFIDENCE: Final = 0.95
LEAST_SAMPLE: Final = 10
"""Durations needed for any percentile: for n < 9 a 95 % interval of even the median is as wide as the whole sample."""
EVIDENCE: Final = (50, 90, 95, 99, 100)
"""Percentiles shown beside the one that is asked for; 100 is the largest duration."""
SAMPLE_MOST: Final = 10_000_000
"""Durations that are taken at most; a sample is no log."""

_STANDARD_DEVIATIONS: Final = 40.0
"""How far from its mean a binomial is summed: beyond it there is less than binary64 can tell from nothing."""


class TimeoutFault(StrEnum):
    """Why no limit is derived; the first that applies. The values never change their meaning."""

    NO_SAMPLE = "no_sample"
    NOT_A_DURATION = "not_a_duration"
    NOT_FINITE = "not_finite"
    NEGATIVE = "negative"
    SAMPLE_TOO_SMALL = "sample_too_small"
    SAMPLE_TOO_LARGE = "sample_too_large"
    NO_VARIATION = "no_duration_above_zero"
    BAD_PERCENTILE = "bad_percentile"
    BAD_MULTIPLIER = "bad_multiplier"


@dataclass(frozen=True, slots=True)
class DerivedTimeout:
    """A derived limit, or why there is none; all times in seconds.

    Attributes:
        ok: whether a real sample stands behind a limit.
        reason_code: why not.
        message: the same in words.
        threshold_s: the limit: the percentile times the multiplier.
        n: durations of the sample.
        least_n: durations this percentile needs at least.
        percentile: which percentile, above 0 and below 100.
        percentile_s: its value in the sample: a duration that was measured.
        interval_s: confidence interval of the true percentile; an end is None where so few do not bound it.
        confidence: how often such an interval holds the true percentile, at least.
        evidence_s: percentile -> its value in the sample.
        safety_multiplier: factor of the limit over the percentile.
    """

    ok: bool
    reason_code: TimeoutFault | None
    message: str
    n: int
    least_n: int | None = None
    percentile: float | None = None
    safety_multiplier: float | None = None
    threshold_s: float | None = None
    percentile_s: float | None = None
    interval_s: tuple[float | None, float | None] | None = None
    confidence: float | None = None
    evidence_s: dict[float, float] | None = None


def derive_timeout_from_percentiles(
    sample_durations: Iterable[Any],
    percentile: float = PERCENTILE,
    safety_multiplier: float = SAFETY_MULTIPLIER,
    *,
    minimum_n: int | None = None,
    confidence: float = CONFIDENCE,
) -> DerivedTimeout:
    """Derive the time limit of one unit of work from durations that were measured.

    Args:
        sample_durations: seconds; int, float or Decimal, finite, not negative.
        percentile: which one the limit rests on, above 0 and below 100.
        safety_multiplier: factor on top of it, 1 or more.
        minimum_n: durations that are needed at least; never fewer than `least_sample` says, which is the default.
        confidence: of the interval, above 0 and below 1.

    Returns:
        The limit with its evidence; `ok` is false, with a reason, when there is no real sample behind it.
    """
    parameters = _parameter_fault(percentile, safety_multiplier, confidence)
    if parameters is not None:
        return DerivedTimeout(False, *parameters, n=0)
    values, fault = _seconds(sample_durations)
    least = max(least_sample(percentile), minimum_n or 0)
    if fault is None and len(values) < least:
        said = (
            f"{len(values)} durations are too few for percentile {percentile:g}: it needs {least}; measure more units"
        )
        fault = (TimeoutFault.SAMPLE_TOO_SMALL, said)
    if fault is not None:
        return DerivedTimeout(False, *fault, n=len(values), least_n=least, percentile=percentile)
    values.sort()
    return _derived(values, least, percentile, safety_multiplier, confidence)


def _derived(
    ordered: list[float], least: int, percentile: float, safety_multiplier: float, confidence: float
) -> DerivedTimeout:
    found = nearest_rank(ordered, percentile)
    return DerivedTimeout(
        ok=True,
        reason_code=None,
        message="",
        n=len(ordered),
        least_n=least,
        percentile=percentile,
        safety_multiplier=safety_multiplier,
        threshold_s=found * safety_multiplier,
        percentile_s=found,
        interval_s=percentile_interval(ordered, percentile, confidence),
        confidence=confidence,
        evidence_s={
            share: nearest_rank(ordered, share) for share in sorted({*map(float, EVIDENCE), float(percentile)})
        },
    )


def least_sample(percentile: float) -> int:
    """Give how many durations a percentile needs: so many that one of them is expected beyond it, and never under 10.

    With fewer the "99th percentile" is just the largest duration under another name.
    """
    return max(LEAST_SAMPLE, math.ceil(100 / min(100 - percentile, 100) - 1e-9))


def nearest_rank(ordered: Sequence[float], percentile: float) -> float:
    """Give the smallest of the ordered values that at least `percentile` of 100 of them do not exceed."""
    rank = math.ceil(len(ordered) * percentile / 100 - 1e-9)  # 0.99 * 300 is a little above 297 in binary64
    return ordered[max(rank, 1) - 1]


def percentile_interval(
    ordered: Sequence[float], percentile: float, confidence: float
) -> tuple[float | None, float | None]:
    """Give order statistics that hold the true percentile between them with the confidence, whatever its distribution.

    Half of what may go wrong is given to each end. An end is None where not even the smallest or largest value bounds
    the percentile on that side with that confidence.
    """
    n, tail = len(ordered), (1 - confidence) / 2
    first, cumulated = _binomial(n, percentile / 100)
    # P(X_(l) > q) = P(B <= l - 1), B binomial: the largest l for which that is rare enough.
    lower = first + sum(1 for chance in cumulated if chance <= tail)
    # P(X_(u) < q) = P(B >= u) = 1 - P(B <= u - 1): the smallest u for which that is rare enough.
    upper = first + sum(1 for chance in cumulated if 1 - chance > tail) + 1
    return (
        ordered[lower - 1] if lower >= 1 else None,
        ordered[upper - 1] if upper <= n else None,
    )


def _binomial(n: int, p: float) -> tuple[int, list[float]]:
    """Give the first count that matters of a binomial, and P(B <= k) from there on; before it there is nothing."""
    reach = _STANDARD_DEVIATIONS * math.sqrt(n * p * (1 - p)) + _STANDARD_DEVIATIONS
    first, last = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))
    terms = (
        math.exp(
            math.lgamma(n + 1)
            - math.lgamma(k + 1)
            - math.lgamma(n - k + 1)
            + k * math.log(p)
            + (n - k) * math.log1p(-p)
        )
        for k in range(first, last + 1)
    )
    total, cumulated = 0.0, []
    for term in terms:
        total += term
        cumulated.append(min(total, 1.0))
    return first, cumulated


def _parameter_fault(percentile: Any, multiplier: Any, confidence: Any) -> tuple[TimeoutFault, str] | None:
    if not _is_number(percentile) or not 0 < percentile < 100:  # noqa: PLR2004 - percent
        return TimeoutFault.BAD_PERCENTILE, f"{percentile!r} is no percentile; give a number above 0 and below 100"
    if not _is_number(confidence) or not 0 < confidence < 1:
        return TimeoutFault.BAD_PERCENTILE, f"{confidence!r} is no confidence; give a number above 0 and below 1"
    if not _is_number(multiplier) or not 1 <= multiplier < math.inf:
        said = f"{multiplier!r} is no safety multiplier; give a finite number, 1 or more: less cuts off what is normal"
        return TimeoutFault.BAD_MULTIPLIER, said
    return None


def _seconds(sample: Any) -> tuple[list[float], tuple[TimeoutFault, str] | None]:
    """Give the durations, or those before the first that is none and what is wrong with it."""
    if isinstance(sample, str | bytes | int | float) or not hasattr(sample, "__iter__"):
        said = f"{sample!r} is no sample: a fixed number is no measurement; give the durations that were measured"
        return [], (TimeoutFault.NO_SAMPLE, said)
    values: list[float] = []
    for value in sample:
        fault = _value_fault(value, len(values))
        if fault is not None:
            return values, fault
        values.append(float(value))
    if not values:
        return values, (TimeoutFault.NO_SAMPLE, "there is no duration in the sample; measure some units of work first")
    if max(values) == 0:
        return values, (TimeoutFault.NO_VARIATION, "every duration is 0 s: that clock measured nothing")
    return values, None


def _value_fault(value: Any, at: int) -> tuple[TimeoutFault, str] | None:
    where = f"duration {at + 1} of the sample"
    if at >= SAMPLE_MOST:
        return TimeoutFault.SAMPLE_TOO_LARGE, f"more than {SAMPLE_MOST} durations; take a sample of them"
    if not _is_number(value):
        return TimeoutFault.NOT_A_DURATION, f"{where} is {type(value).__name__}, not a number of seconds"
    if not _is_finite(value):
        return TimeoutFault.NOT_FINITE, f"{where} is {value}; a unit that never ended is no measured duration"
    if value < 0:
        return TimeoutFault.NEGATIVE, f"{where} is {value} s, and no unit of work takes less than nothing"
    return None


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (ValueError, OverflowError):  # a signalling NaN of decimal; a whole number beyond binary64
        return False


def _is_number(value: Any) -> bool:
    """Tell whether a value is a real number; truth values, texts and missing values are not."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)
