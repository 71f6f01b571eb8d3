"""Cohorts that fail the test of exchangeability: against them p-values mean nothing, so they raise nothing.

What belongs here: reading it off the stored baselines. What does not: the test (`martingale`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from governance_pipeline.settings import SETTINGS

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["cohort", "baseline_version", "feature", "rounds_count", "known_count", "log_martingale_max"]


def drifting_cohorts(baselines: pd.DataFrame, bound: float = SETTINGS.martingale_bound) -> pd.DataFrame:
    """List the newest baseline of each cohort and feature whose largest martingale reached its bound.

    Args:
        baselines: `features_cohort_baseline`.
        bound: value of the martingale from which a cohort counts as drifting.

    Returns:
        One row per cohort, version and feature that drifts, ordered so.
    """
    newest = baselines.sort_values("rounds_count", kind="stable").drop_duplicates(_COLUMNS[:3], keep="last")
    drifts = newest[newest["log_martingale_max"] >= math.log(bound)]
    return drifts.sort_values(_COLUMNS[:3], kind="stable", ignore_index=True)[_COLUMNS]
