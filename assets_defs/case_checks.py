"""The check `no_open_mismatch` of `audit_escalations`: what stands in the ledger about the mismatches of a round.

What belongs here: showing what the library says. What does not: any control; the check of the same name at
`gate_decisions` stops a run, and the gate asks all of this again in the asset.
"""

import warnings
from functools import cache

import dagster as dg
import pandas as pd

from assets_defs.check_status import Judged, checked, judged_rows
from assets_defs.partitions import rounds
from assets_defs.resources import Gatekeeper
from governance_pipeline.crosscheck.unresolved import open_mismatches
from governance_pipeline.errors import GovernError
from governance_pipeline.gate.cases import Cases, with_standing
from governance_pipeline.report.case_page import case_rows
from governance_pipeline.storage.lake import Lake
from governance_pipeline.workspace import Workspace

ESCALATIONS = "audit_escalations"


def open_rows(lake: Lake, cases: Cases | None, round_id: str) -> pd.DataFrame:
    """Return the mismatches of a round nobody has resolved: state, age and owner by the ledger, and what a page says.

    Args:
        lake: where the tables are.
        cases: what the ledger says; None: there is no ledger, and every mismatch is open.
        round_id: the round.
    """
    table = lake.get(ESCALATIONS, round_id)
    found = open_mismatches(table if cases is None else with_standing(table, cases.standings([round_id])))
    if found.empty:
        return found
    return case_rows(found, lake.get("audit_cross_checks", round_id), lake.get("audit_explanations", round_id))


def _cases(lake: Lake, keeper: Gatekeeper, context: dg.AssetCheckExecutionContext) -> Cases | None:
    """Read what the ledger says of cases; nothing where no gate is configured or it cannot be used."""
    if not keeper.is_configured():
        return None
    try:
        return Cases(keeper.verifier(lake), keeper.now())
    except GovernError as error:
        context.log.warning("every mismatch counts as open, the ledger is not usable: %s", error)
        return None


with warnings.catch_warnings():
    # Partitioned checks are a preview in the pinned version; decision 0003 says what we rely on.
    warnings.simplefilter("ignore", dg.PreviewWarning)

    @dg.asset_check(
        asset=ESCALATIONS,
        name="no_open_mismatch",
        description="No declared number differs from its recomputation without a person having resolved its case.",
        partitions_def=rounds,
    )
    def no_open_mismatch(
        context: dg.AssetCheckExecutionContext,
        workspace: dg.ResourceParam[Workspace],
        gate: dg.ResourceParam[Gatekeeper],
    ) -> dg.AssetCheckResult:
        """Judge each round of a run by itself."""
        read = cache(lambda: _cases(workspace.lake, gate, context))

        def judge(round_id: str) -> Judged:
            return judged_rows(open_rows(workspace.lake, read(), round_id))

        return checked(context, judge)
