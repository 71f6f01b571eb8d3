"""Checks of the governed folder, each over all of it.

What belongs here: which rows are a fault, and how loud it is. What does not: how a row came about
(governance_pipeline.framework). Source: spec/framework.md §8.
"""

import dagster as dg
import pandas as pd

from assets_defs.check_status import judged_rows
from assets_defs.governed import Project
from assets_defs.resources import Gatekeeper
from governance_pipeline.framework.approval_files import ApprovalFault, approval_faults
from governance_pipeline.framework.lake_tables import INCIDENTS, LOCKS, REBASELINE, REGISTRY
from governance_pipeline.workspace import Workspace

SOUND_VERSIONS = ("verified",)
UNDECIDED_VERSIONS = ("unknown", "unfinished")
"""Nobody could tell: no ledger was at hand, or an approved change is under way. Shown as a warning, never as sound."""


@dg.asset_check(
    asset=REGISTRY,
    description="Every registered asset and archived version has the bytes registry and ledger know, as approved.",
)
def registry_matches(workspace: dg.ResourceParam[Workspace]) -> dg.AssetCheckResult:
    """Fail for each version that is changed, missing, unrecorded, unapproved or told differently; warn of undecided."""
    rows = workspace.lake.get(REGISTRY, None)
    open_ones = rows[~rows["state"].isin(SOUND_VERSIONS)]
    is_undecided = bool(open_ones["state"].isin(UNDECIDED_VERSIONS).all())
    return _result(open_ones, dg.AssetCheckSeverity.WARN if is_undecided else dg.AssetCheckSeverity.ERROR)


@dg.asset_check(
    asset=LOCKS, description="No lock is held by a process that no longer lives, or of which nobody can tell."
)
def no_orphan_lock(workspace: dg.ResourceParam[Workspace]) -> dg.AssetCheckResult:
    """Warn of each such lock: an orphan blocks nobody, and shows that something died on the way."""
    rows = workspace.lake.get(LOCKS, None)
    return _result(rows[rows["standing"].isin(["orphaned", "unknown"])], dg.AssetCheckSeverity.WARN)


@dg.asset_check(
    asset=INCIDENTS,
    description="Log and ledger say the same, and each unverified claim that became a problem has its row.",
)
def every_incident_has_a_row(workspace: dg.ResourceParam[Workspace]) -> dg.AssetCheckResult:
    """Fail for each incident that is missing, edited, or known to one side only."""
    rows = workspace.lake.get(INCIDENTS, None)
    return _result(rows[rows["state"] != "in_step"], dg.AssetCheckSeverity.ERROR)


@dg.asset_check(asset=REBASELINE, description="Nothing that invalidates an assumption waits for a declaration.")
def no_rebaseline_due(workspace: dg.ResourceParam[Workspace]) -> dg.AssetCheckResult:
    """Warn of each trigger nobody has declared a re-baseline for."""
    rows = workspace.lake.get(REBASELINE, None)
    return _result(rows[rows["state"] == "due"], dg.AssetCheckSeverity.WARN)


@dg.asset_check(
    asset=REGISTRY,
    description="Signed decisions about the folder lie in it as the ledger holds them; nothing else calls itself one.",
)
def approvals_match_ledger(
    workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper], project: dg.ResourceParam[Project]
) -> dg.AssetCheckResult:
    """Fail for each decision that is missing or edited, and each file no ledger knows; it grants nothing."""
    folder, columns = project.folder(), list(ApprovalFault._fields)
    found = approval_faults(folder, gate.verifier(workspace.lake)) if folder and gate.is_configured() else []
    return _result(pd.DataFrame(found, columns=columns), dg.AssetCheckSeverity.ERROR)


def _result(rows: pd.DataFrame, severity: dg.AssetCheckSeverity) -> dg.AssetCheckResult:
    passed, metadata, _ = judged_rows(rows)
    return dg.AssetCheckResult(passed=passed, metadata=metadata, severity=severity)


FOLDER_CHECKS = [registry_matches, approvals_match_ledger, no_orphan_lock, every_incident_has_a_row, no_rebaseline_due]
"""Checks of `audit_registry`, `audit_locks`, `audit_incidents` and `audit_rebaseline`."""
