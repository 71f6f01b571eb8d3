"""Checks around the gate that are steps of their own: independence as the audit saw it, and files without a passage.

What belongs here: showing what the library says. What does not: any control; the gate asks all of this again.
"""

from collections.abc import Iterator

import dagster as dg
import pandas as pd

from assets_defs.check_status import judged_rows
from assets_defs.deciding import FACT_COLUMNS
from assets_defs.resources import Gatekeeper
from assets_defs.round_check import row_check
from assets_defs.tables import GATED, LEDGER_COPY
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.published import unaccounted_files
from governance_pipeline.storage.lake import Lake
from governance_pipeline.vocabulary import is_round_id
from governance_pipeline.workspace import Workspace


def _dependent(workspace: Workspace, round_id: str) -> pd.DataFrame:
    facts = workspace.lake.get("audit_independence", round_id)
    return facts.loc[~facts["is_independent"].fillna(value=False).astype(bool), FACT_COLUMNS]  # null is no yes


@dg.asset_check(
    asset=LEDGER_COPY,
    name="meets_contract",
    description="The stored rows keep every rule of the table's contract: columns, types, nulls, values, key.",
    blocking=True,
)
def _ledger_copy_meets_contract(workspace: dg.ResourceParam[Workspace]) -> dg.AssetCheckResult:
    passed, metadata, severity = judged_rows(workspace.lake.breaches(LEDGER_COPY, None))
    return dg.AssetCheckResult(passed=passed, metadata=metadata, severity=severity)


@dg.asset_check(
    asset=LEDGER_COPY,
    name="gated_materializations_are_consumed",
    description="Every published file, and every materialization Dagster shows of a gated asset, passed the gate.",
)
def _gated_materializations_are_consumed(
    context: dg.AssetCheckExecutionContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> dg.AssetCheckResult:
    rows = [
        *unaccounted_files(workspace.lake, read_history(gate.verifier(workspace.lake).ledger)),
        *_only_reported(context.instance, workspace.lake),
    ]
    passed, metadata, severity = judged_rows(pd.DataFrame(rows, columns=["asset", "round_id", "message"]))
    return dg.AssetCheckResult(passed=passed, metadata=metadata, severity=severity)


def _only_reported(instance: dg.DagsterInstance, lake: Lake) -> Iterator[tuple[str, str, str]]:
    """Give what Dagster shows as materialized although no file is there: somebody reported it, nobody made it."""
    for asset in GATED:
        for round_id in sorted(instance.get_materialized_partitions(dg.AssetKey(asset))):
            if not is_round_id(round_id) or not lake.has(asset, round_id):
                yield asset, round_id, "Dagster shows it as made and there is no file: it was reported, not published"


GATE_CHECKS = [
    row_check(
        "audit_independence",
        "validator_is_independent",
        _dependent,
        "Every validator is independent of every run that produced in its round; undecided counts as not independent.",
        blocking=False,
    ),
    _ledger_copy_meets_contract,
    _gated_materializations_are_consumed,
]
