"""Asset checks: facts that must hold in each round, as Dagster shows them and stops for them.

What belongs here: which function of the library judges which table, and whether a failure stops what comes after in
the run. What does not: the judging. A check fails only for rows that break its rule; an error of ours fails the run.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import dagster as dg
import pandas as pd

from assets_defs.check_status import checked
from assets_defs.partitions import rounds
from governance_pipeline.contracts.registry import breaches
from governance_pipeline.crosscheck.builtin import unchecked
from governance_pipeline.crosscheck.unresolved import false_hashes, open_mismatches
from governance_pipeline.errors import GovernError
from governance_pipeline.ingest.conservation import lost
from governance_pipeline.pipeline import TABLES, joined
from governance_pipeline.workspace import Workspace

Offenders = Callable[[Workspace, str], pd.DataFrame]
"""Gives the rows of one round that break a rule; none means that the check holds."""

AllHold = Callable[[Workspace, Sequence[str]], bool]
"""Judges many rounds at once; False means that each must be judged alone."""


def _check(
    table: str,
    name: str,
    offenders: Offenders,
    description: str,
    *,
    blocking: bool,
    all_hold: AllHold = lambda _, __: False,
) -> dg.AssetChecksDefinition:
    with warnings.catch_warnings():
        # Partitioned checks are a preview in the pinned version; decision 0003 says what we rely on.
        warnings.simplefilter("ignore", dg.PreviewWarning)

        @dg.asset_check(asset=table, name=name, description=description, blocking=blocking, partitions_def=rounds)
        def evaluate(
            context: dg.AssetCheckExecutionContext, workspace: dg.ResourceParam[Workspace]
        ) -> dg.AssetCheckResult:
            return checked(context, partial(offenders, workspace), partial(all_hold, workspace))

    return evaluate


def _meets_contract(table: str) -> dg.AssetChecksDefinition:
    return _check(
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


def _open_mismatches(workspace: Workspace, round_id: str) -> pd.DataFrame:
    return open_mismatches(workspace.lake.get("audit_escalations", round_id))


def _false_hashes(workspace: Workspace, round_id: str) -> pd.DataFrame:
    return false_hashes(workspace.lake.get("audit_integrity", round_id))


CHECKS = [
    *(_meets_contract(table) for table in TABLES),
    _check(
        "raw_log_files",
        "nothing_disappears",
        _lost,
        "Every file of the round has a row, and in each lines_in = accepted + quarantined + blank + duplicates.",
        blocking=True,
    ),
    _check(
        "audit_cross_checks",
        "every_declared_number_was_checked",
        _unchecked,
        "Every declared number has a record, or the catalogue says why its format offers no parts to check it by.",
        blocking=True,
    ),
    _check(
        "audit_escalations",
        "no_open_mismatch",
        _open_mismatches,
        "No declared number differs from its recomputation without a person having decided on it.",
        blocking=False,
    ),
    _check(
        "audit_integrity",
        "hashes_match",
        _false_hashes,
        "Every output hash a log declares is that of the bytes; outputs that are not in the round are not judged.",
        blocking=False,
    ),
]
"""Every asset check of the project."""
