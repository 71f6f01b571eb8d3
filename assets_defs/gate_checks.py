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
from governance_pipeline.gate.events import History, read_history
from governance_pipeline.gate.published import unaccounted_files
from governance_pipeline.storage.lake import Lake
from governance_pipeline.vocabulary import is_round_id
from governance_pipeline.workspace import Workspace

PAGE_RECORDS = 1000
"""Materializations read at a time."""

_HIDDEN = (
    "it is published, but what Dagster shows of it was reported, not made by the run that passed the gate; "
    "executing that run again shows it as it is"
)


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
    verifier = gate.verifier(workspace.lake)
    history = read_history(verifier.ledger)
    rows = [
        *unaccounted_files(workspace.lake, history, verifier.root),
        *_only_reported(context.instance, workspace.lake, history),
    ]
    passed, metadata, severity = judged_rows(pd.DataFrame(rows, columns=["asset", "round_id", "message"]))
    return dg.AssetCheckResult(passed=passed, metadata=metadata, severity=severity)


def _only_reported(instance: dg.DagsterInstance, lake: Lake, history: History) -> Iterator[tuple[str, str, str]]:
    """Give what Dagster shows as made although no run that passed the gate made it: somebody reported it."""
    for asset in GATED:
        for partition, run_id in sorted(_shown(instance, asset).items()):
            if not is_round_id(partition) or not lake.has(asset, partition):
                yield asset, partition, "Dagster shows it as made and there is no file: it was reported, not published"
            elif not _has_passed(instance, run_id, history, asset, partition):
                yield asset, partition, _HIDDEN


def _shown(instance: dg.DagsterInstance, asset: str) -> dict[str, str]:
    """Return partition -> run of its newest materialization; "" stands for no partition, and for no run."""
    newest: dict[str, str] = {}
    cursor = None
    while True:
        page = instance.fetch_materializations(dg.AssetKey(asset), limit=PAGE_RECORDS, cursor=cursor)
        for record in page.records:
            newest.setdefault(record.partition_key or "", record.run_id)
        if not page.has_more:
            return newest
        cursor = page.cursor


def _has_passed(instance: dg.DagsterInstance, run_id: str, history: History, asset: str, round_id: str) -> bool:
    """Tell whether a run, or the run it continues, has an event of a passage in the ledger."""
    used = [passed for passed in history.passages if (passed.asset, passed.round_id) == (asset, round_id)]
    if any(run_id in (passed.run_id, passed.root_run_id) for passed in used):
        return True
    run = instance.get_run_by_id(run_id) if run_id else None
    return run is not None and run.root_run_id in {passed.root_run_id for passed in used}


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
