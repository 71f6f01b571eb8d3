"""What a calibrated statistic may say: the record in force for a signal, and what it makes of a p-value.

What belongs here: the record, how it is looked up, and the comparison of one row with its levels. What does not: how a
calibration is registered and evaluated (`calibration_evaluation`, the ledger), and what follows (`decision_table`).
Records come in as an argument; without one a statistic is recorded and nothing else. Source: spec/verdict.md §3.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.verdict.signals import Calibration, Cohort, Extremity

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]
    Records = Mapping[str, "CalibrationRecord"]
    """Code of a signal -> the record in force."""

_SUSPECT: Final = "exchangeability_suspect"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRecord:
    """A calibration that was evaluated with success.

    Attributes:
        calibration_id: its id.
        signal: code of the signal it is of.
        score: feature of `features_conformal` whose p-value is compared.
        moderate: level of the milder step; exact.
        extreme: level of the other, below it.
        cohorts: cohorts it holds for, as lists of names; None: every one.
        minimum_reference: reference rounds below which a cohort is small.
        validated: how it was validated.
    """

    calibration_id: str
    signal: str
    score: str
    moderate: Fraction
    extreme: Fraction
    cohorts: tuple[tuple[str, ...], ...] | None
    minimum_reference: int
    validated: Calibration


class Extreme(NamedTuple):
    """What the decision table asks of a statistic."""

    calibration: Calibration
    extremity: Extremity
    cohort: Cohort


def record_of(plan: Row) -> CalibrationRecord:
    """Give the record of a registered plan (`govern/calibration/v1`) whose evaluation was a success."""
    cohorts = plan["cohorts"]
    return CalibrationRecord(
        calibration_id=plan["calibration_id"],
        signal=plan["signal"],
        score=plan["score"],
        moderate=Fraction(plan["alpha"]["moderate"]),
        extreme=Fraction(plan["alpha"]["extreme"]),
        cohorts=None if cohorts is None else tuple(tuple(names) for names in cohorts),
        minimum_reference=plan["minimum_reference"],
        validated=Calibration(plan["design"]),
    )


def calibration_of(code: str, records: Records) -> CalibrationRecord | None:
    """Give the record in force for a signal; None: it is not calibrated. A record of another signal is no record."""
    record = records.get(code)
    return record if record is not None and record.signal == code else None


def judged(row: Row, record: CalibrationRecord | None) -> Extreme | None:
    """Say how extreme a row of `features_conformal` is; None when it is not, or cannot be compared.

    With a record the raw p-value of its score is compared with its levels, because that is what was validated. Without
    one the p-value adjusted among the features of the round is compared with the level of the settings, which gives a
    signal to record. A drifting cohort has no adjusted p-value; its raw one is compared, so that the record says what
    was not raised, and why.
    """
    if row["at_least_count"] is None or row["known_count"] is None:
        return None
    p = Fraction(1 + int(row["at_least_count"]), int(row["known_count"]) + 1)
    if record is None:
        is_extreme = row["is_extreme"] if row["reason"] != _SUSPECT else p <= Fraction(row["level"])
        return Extreme(Calibration.NONE, Extremity.MODERATE, _cohort(row, None)) if is_extreme else None
    if row["feature"] != record.score or p > record.moderate:
        return None
    extremity = Extremity.EXTREME if p <= record.extreme else Extremity.MODERATE
    return Extreme(record.validated, extremity, _cohort(row, record))


def _cohort(row: Row, record: CalibrationRecord | None) -> Cohort:
    if row["reason"] == _SUSPECT:
        return Cohort.EXCHANGEABILITY_SUSPECT
    if record is None:
        return Cohort.OK
    names = None if row["cohort"] is None else tuple(json.loads(row["cohort"]))
    if record.cohorts is not None and names not in record.cohorts:
        return Cohort.NOT_COMPARABLE
    return Cohort.SMALL if row["known_count"] < record.minimum_reference else Cohort.OK
