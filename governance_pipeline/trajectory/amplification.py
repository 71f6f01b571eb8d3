"""Change amplification: how often a unit changes times how far a change of it reaches, and what that signals.

What belongs here: products, the outlier region and the four signals, as pure functions. What does not: where the two
factors come from (`touch_frequency`, or whoever wrote the input), and any judgement: all of it is passive telemetry.
Numbers are exact fractions, so that a unit on the edge of the region is never decided by rounding. Source of every
formula and default: spec/trajectory.md §6 and §9.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAD_TO_SIGMA: Final = Fraction("1.4826")
"""Scale of the MAD, so that k reads like a number of standard deviations for normal values."""


class Signal(StrEnum):
    """What a touched unit can show; kept apart, never added up.

    TOUCHED_OUTLIER: it was an outlier before this round, which is context only. IMPACT_INCREASE: its impact grew
    materially. OUTLIER_CROSSING: its impact carries it into the region at the frequency it had before.
    FREQUENCY_ONLY_CROSSING: its product entered the region, but not at the frequency it had before: only reported.
    """

    TOUCHED_OUTLIER = "touched_outlier"
    IMPACT_INCREASE = "impact_increase"
    OUTLIER_CROSSING = "outlier_crossing"
    FREQUENCY_ONLY_CROSSING = "frequency_only_crossing"


WITH_REASON: Final[tuple[Signal, ...]] = (Signal.TOUCHED_OUTLIER, Signal.IMPACT_INCREASE, Signal.OUTLIER_CROSSING)
"""Signals whose null has a reason; the fourth is only reported."""


class SignalReason(StrEnum):
    """Why one of the first three signals is null; the first that holds, in this order."""

    NO_BASELINE = "no_baseline"
    NO_CANDIDATE = "no_candidate"
    TOO_FEW = "too_few"
    MAD_ZERO = "mad_zero"
    FACTOR_UNKNOWN = "factor_unknown"


@dataclass(frozen=True, slots=True)
class AmplificationRule:
    """The thresholds in force.

    Attributes:
        k: scaled MADs above the median where the outlier region begins.
        min_units: fewest baseline products a region is made of.
        material_min: smallest growth that is material, in units of the impact.
        material_share: the same as a share of the baseline impact; the larger of both counts.
        max_files: most distinct files of a commit that counts for frequency.
    """

    k: Fraction = Fraction(3)
    min_units: int = 20
    material_min: Fraction = Fraction(1)
    material_share: Fraction = Fraction(1, 5)
    max_files: int = 30


@dataclass(frozen=True, slots=True)
class Factors:
    """The two factors of a unit on one side, at least 0 each; None when unknown."""

    frequency: Fraction | None = None
    impact: Fraction | None = None

    @property
    def amplification(self) -> Fraction | None:
        """Frequency times impact; None when either is unknown, even if the other is 0."""
        return product(self.frequency, self.impact)


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit: its id, whether the round touched it, and its factors before and after (None: it does not exist)."""

    id: str
    is_touched: bool
    baseline: Factors | None
    candidate: Factors | None


@dataclass(frozen=True, slots=True)
class Region:
    """The outlier region of a baseline, frozen for the candidate.

    Attributes:
        reference_units: known baseline products it is made of.
        median: of these products; None without any.
        mad: median distance of these products from their median; None without any.
        threshold: products above it are outliers; None when the region is unknown.
        reason: why the region is unknown; None when it is known.
    """

    reference_units: int
    median: Fraction | None
    mad: Fraction | None
    threshold: Fraction | None
    reason: SignalReason | None

    def contains(self, amplification: Fraction | None) -> bool | None:
        """Tell whether a product lies in the region; None when either is unknown."""
        if amplification is None or self.threshold is None:
            return None
        return amplification > self.threshold

    def robust_z(self, amplification: Fraction | None) -> Fraction | None:
        """Give the distance of a product from the median in scaled MADs; None without a MAD above 0."""
        if amplification is None or self.median is None or not self.mad:
            return None
        return (amplification - self.median) / (MAD_TO_SIGMA * self.mad)


@dataclass(frozen=True, slots=True)
class UnitSignals:
    """The four signals of a touched unit; None where unknown, with a reason for each of the first three."""

    values: Mapping[Signal, bool | None]
    unknown: Mapping[Signal, SignalReason]


def product(frequency: Fraction | None, impact: Fraction | None) -> Fraction | None:
    """Multiply two factors; an unknown one makes the product unknown."""
    return None if frequency is None or impact is None else frequency * impact


def region_of(units: Sequence[Unit], rule: AmplificationRule) -> Region:
    """Make the outlier region of all units whose baseline product is known, touched or not."""
    sides = [unit.baseline.amplification for unit in units if unit.baseline is not None]
    products = [amplification for amplification in sides if amplification is not None]
    if not products:
        return Region(0, None, None, None, SignalReason.TOO_FEW)
    median = statistics.median(products)
    mad = statistics.median([abs(amplification - median) for amplification in products])
    reason = None
    if len(products) < rule.min_units:
        reason = SignalReason.TOO_FEW
    elif not mad:
        reason = SignalReason.MAD_ZERO
    threshold = median + rule.k * MAD_TO_SIGMA * mad if reason is None else None
    return Region(len(products), median, mad, threshold, reason)


def impact_delta(unit: Unit) -> Fraction | None:
    """Give the growth of the impact in this round; None when the unit is new or gone, or an impact unknown."""
    if unit.baseline is None or unit.candidate is None:
        return None
    before, after = unit.baseline.impact, unit.candidate.impact
    return None if before is None or after is None else after - before


def is_material(unit: Unit, rule: AmplificationRule) -> bool | None:
    """Tell whether the impact grew materially; None as for `impact_delta`. No growth is never material."""
    delta = impact_delta(unit)
    if delta is None or unit.baseline is None or unit.baseline.impact is None:
        return None
    return delta > 0 and delta >= max(rule.material_min, rule.material_share * unit.baseline.impact)


def signals_of(unit: Unit, region: Region, rule: AmplificationRule) -> UnitSignals | None:
    """Give the signals of a unit; None when the round did not touch it."""
    if not unit.is_touched:
        return None
    baseline, candidate = unit.baseline or Factors(), unit.candidate or Factors()
    was_outlier = region.contains(baseline.amplification)
    is_crossing = _crossing(was_outlier, region.contains(product(baseline.frequency, candidate.impact)))
    has_entered = _crossing(was_outlier, region.contains(candidate.amplification))
    values = {
        Signal.TOUCHED_OUTLIER: was_outlier,
        Signal.IMPACT_INCREASE: is_material(unit, rule),
        Signal.OUTLIER_CROSSING: is_crossing,
        Signal.FREQUENCY_ONLY_CROSSING: _crossing(is_crossing, has_entered),
    }
    unknown = {signal: _reason(signal, unit, region) for signal in WITH_REASON if values[signal] is None}
    return UnitSignals(values, unknown)


def _crossing(before: bool | None, after: bool | None) -> bool | None:
    """True for outside before and inside after; an unknown side makes it unknown."""
    return None if before is None or after is None else after and not before


def _reason(signal: Signal, unit: Unit, region: Region) -> SignalReason:
    if unit.baseline is None:
        return SignalReason.NO_BASELINE
    if unit.candidate is None and signal is not Signal.TOUCHED_OUTLIER:
        return SignalReason.NO_CANDIDATE
    if region.reason is not None and signal is not Signal.IMPACT_INCREASE:
        return region.reason
    return SignalReason.FACTOR_UNKNOWN
