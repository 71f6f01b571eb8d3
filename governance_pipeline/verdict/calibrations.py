"""The calibrations in force, from what the ledger has: what a statistic may say, by signal.

What belongs here: from registered and evaluated plans to the records detectors ask. What does not: the record
(`calibration`), the ledger's fold, and whether a plan is a success (`calibration_evaluation`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.ledger.calibrations import in_force
from governance_pipeline.verdict.calibration import record_of
from governance_pipeline.verdict.round_view import NOT_CALIBRATED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.ledger.calibrations import CalibrationHistory
    from governance_pipeline.trust.root import TrustRoot
    from governance_pipeline.verdict.calibration import Records


def plans_in_force(
    history: CalibrationHistory | None, root: TrustRoot | None, now: datetime
) -> list[Mapping[str, Any]]:
    """Give the plan of each calibration in force; none without a trust root or a ledger."""
    if root is None or history is None:
        return []
    return [standing.plan for standing in in_force(history, root, now).values()]


def records_in_force(history: CalibrationHistory | None, root: TrustRoot | None, now: datetime) -> Records:
    """Give what detectors ask: code of a signal -> the record in force; empty without a trust root or a ledger."""
    plans = plans_in_force(history, root, now)
    return {plan["signal"]: record_of(plan) for plan in plans} or NOT_CALIBRATED
