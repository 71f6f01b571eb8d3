"""Asset checks: facts that must hold in each round, as Dagster shows them and stops for them.

What belongs here: which function of the library judges which table, and whether a failure stops what comes after in
the run. What does not: the judging. A check fails only for rows that break its rule; an error of ours fails the run.
"""

from collections.abc import Sequence
from functools import partial

import dagster as dg
import pandas as pd

from assets_defs.case_checks import no_open_mismatch
from assets_defs.cohort_checks import COHORT_CHECKS
from assets_defs.folder_checks import FOLDER_CHECKS
from assets_defs.gate_checks import GATE_CHECKS
from assets_defs.round_check import row_check
from assets_defs.tables import is_partitioned
from assets_defs.verdict_checks import VERDICT_CHECKS
from governance_pipeline.contracts.registry import REGISTRY, breaches
from governance_pipeline.crosscheck.builtin import unchecked
from governance_pipeline.crosscheck.builtin_proof import checks_that_cannot_fail
from governance_pipeline.crosscheck.unresolved import false_hashes
from governance_pipeline.errors import GovernError
from governance_pipeline.ingest.conservation import lost
from governance_pipeline.pipeline import joined
from governance_pipeline.trajectory.change_proof import changes_that_cannot_fail
from governance_pipeline.workspace import Workspace


def _meets_contract(table: str) -> dg.AssetChecksDefinition:
    return row_check(
        table,
        "meets_contract",
        lambda workspace, round_id: workspace.lake.breaches(table, round_id),
        "The stored rows keep every rule of the table's contract: columns, types, nulls, values, key.",
        blocking=True,
        all_hold=partial(_all_meet_contract, table),
    )


def _all_meet_contract(table: str, workspace: Workspace, round_ids: Sequence[str]) -> bool:
    try:
        return breaches(table, joined(table, [workspace.lake.get(table, round_id) for round_id in round_ids])).empty
    except GovernError:
        return False


def _lost(workspace: Workspace, round_id: str) -> pd.DataFrame:
    return lost(workspace.reader.folder(round_id), workspace.lake.get("raw_log_files", round_id))


def _unchecked(workspace: Workspace, round_id: str) -> pd.DataFrame:
    return unchecked(workspace.lake.get("core_declared", round_id), workspace.lake.get("audit_cross_checks", round_id))


def _survivors(workspace: Workspace, round_ids: Sequence[str]) -> pd.DataFrame:
    tables = ("core_declared", "core_components", "audit_cross_checks")
    frames = ([workspace.lake.get(table, round_id) for round_id in round_ids] for table in tables)
    declared, components, records = map(joined, tables, frames)
    found = [checks_that_cannot_fail(declared, components, records), changes_that_cannot_fail(records)]
    filled = [rows for rows in found if len(rows)]
    return pd.concat(filled, ignore_index=True) if filled else found[0]


def _false_hashes(workspace: Workspace, round_id: str) -> pd.DataFrame:
    return false_hashes(workspace.lake.get("audit_integrity", round_id))


CHECKS = [
    *(_meets_contract(table) for table in REGISTRY if is_partitioned(table)),
    row_check(
        "raw_log_files",
        "nothing_disappears",
        _lost,
        "Every file of the round has a row, and in each lines_in = accepted + quarantined + blank + duplicates.",
        blocking=True,
    ),
    row_check(
        "audit_cross_checks",
        "every_declared_number_was_checked",
        _unchecked,
        "Every declared number has a record, or the catalogue says why its format offers no parts to check it by.",
        blocking=True,
    ),
    row_check(
        "audit_cross_checks",
        "checks_can_fail",
        lambda workspace, round_id: _survivors(workspace, [round_id]),
        "Each check notices a shifted declared value, moves with its components and reads no declared column.",
        blocking=True,
        all_hold=lambda workspace, round_ids: _survivors(workspace, round_ids).empty,
    ),
    no_open_mismatch,
    row_check(
        "audit_integrity",
        "hashes_match",
        _false_hashes,
        "Every output hash a log declares is that of the bytes; outputs that are not in the round are not judged.",
        blocking=False,
    ),
    *COHORT_CHECKS,
    *FOLDER_CHECKS,
    *VERDICT_CHECKS,
    *GATE_CHECKS,
]
"""Every asset check of the project that is a step of its own; those of `gate_decisions` are in its asset."""
