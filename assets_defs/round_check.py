"""A check that judges each round of a run by itself.

What belongs here: making the Dagster definition of such a check. What does not: the rules (checks, verdict_checks,
gate_checks) and what Dagster is told of each round (check_status).
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import dagster as dg
import pandas as pd

from assets_defs.check_status import Judged, checked, judged_rows
from assets_defs.partitions import rounds
from governance_pipeline.workspace import Workspace

Judge = Callable[[Workspace, str], Judged]
"""Judges one round."""

Offenders = Callable[[Workspace, str], pd.DataFrame]
"""Gives the rows of one round that break a rule; none means that the check holds."""

AllHold = Callable[[Workspace, Sequence[str]], bool]
"""Judges many rounds at once; False means that each must be judged alone."""


def judged_check(
    table: str,
    name: str,
    judge: Judge,
    description: str,
    *,
    blocking: bool,
    all_hold: AllHold = lambda _, __: False,
) -> dg.AssetChecksDefinition:
    """Make a check of a table that judges each round by itself."""
    with warnings.catch_warnings():
        # Partitioned checks are a preview in the pinned version; decision 0003 says what we rely on.
        warnings.simplefilter("ignore", dg.PreviewWarning)

        @dg.asset_check(asset=table, name=name, description=description, blocking=blocking, partitions_def=rounds)
        def evaluate(
            context: dg.AssetCheckExecutionContext, workspace: dg.ResourceParam[Workspace]
        ) -> dg.AssetCheckResult:
            return checked(context, partial(judge, workspace), partial(all_hold, workspace))

    return evaluate


def row_check(
    table: str,
    name: str,
    offenders: Offenders,
    description: str,
    *,
    blocking: bool,
    all_hold: AllHold = lambda _, __: False,
) -> dg.AssetChecksDefinition:
    """Make a check of a table that holds for a round where no row breaks its rule."""

    def judge(workspace: Workspace, round_id: str) -> Judged:
        return judged_rows(offenders(workspace, round_id))

    return judged_check(table, name, judge, description, blocking=blocking, all_hold=all_hold)
