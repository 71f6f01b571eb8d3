"""Checks of the tables that are made over all rounds at once; they have no partitions, so each is judged as a whole.

What belongs here: showing what the library says of them. What does not: the rules.
"""

import dagster as dg
import pandas as pd

from assets_defs.check_status import judged_rows
from assets_defs.tables import LEDGER_COPY, is_partitioned
from governance_pipeline.contracts.registry import REGISTRY, breaches, is_by_round
from governance_pipeline.pipeline import joined
from governance_pipeline.settings import SETTINGS
from governance_pipeline.trajectory.cohort_tables import BASELINE_TABLE
from governance_pipeline.trajectory.drifting import drifting_cohorts
from governance_pipeline.workspace import Workspace


def _meets_contract(table: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=table,
        name="meets_contract",
        description="The stored rows keep every rule of the table's contract: columns, types, nulls, values, key.",
        blocking=True,
    )
    def evaluate(workspace: dg.ResourceParam[Workspace]) -> dg.AssetCheckResult:
        return _result(_breaches(workspace, table))

    return evaluate


def _breaches(workspace: Workspace, table: str) -> pd.DataFrame:
    if not is_by_round(table):
        return workspace.lake.breaches(table, None)
    rows = joined(table, [workspace.lake.get(table, round_id) for round_id in workspace.lake.rounds(table)])
    return breaches(table, rows, large_rows=SETTINGS.large_table_rows)


@dg.asset_check(
    asset=BASELINE_TABLE,
    name="cohorts_do_not_drift",
    description="No cohort fails the test of exchangeability; p-values against one that does raise nothing.",
)
def _cohorts_do_not_drift(workspace: dg.ResourceParam[Workspace]) -> dg.AssetCheckResult:
    return _result(drifting_cohorts(workspace.lake.get(BASELINE_TABLE, None)), dg.AssetCheckSeverity.WARN)


def _result(rows: pd.DataFrame, severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR) -> dg.AssetCheckResult:
    passed, metadata, _ = judged_rows(rows)
    return dg.AssetCheckResult(passed=passed, metadata=metadata, severity=severity)


COHORT_CHECKS = [
    *(_meets_contract(table) for table in REGISTRY if not is_partitioned(table) and table != LEDGER_COPY),
    _cohorts_do_not_drift,
]
"""The contract of every table without partitions, and what else is asked of cohorts; gate_checks has the ledger's."""
