"""Audit tables: what was recomputed, what goes to a person, and whether declared hashes hold.

One asset per table, because each can be made again alone from the core tables.
"""

import dagster as dg

from assets_defs.partitions import chunked, rounds
from assets_defs.recording import TRANSIENT_FAULT, Recorded, recorded
from assets_defs.tables import specs_of
from governance_pipeline.pipeline import Workspace


def _asset_of(spec: dg.AssetSpec) -> dg.AssetsDefinition:
    @dg.multi_asset(
        name=spec.key.to_user_string(),
        specs=[spec],
        partitions_def=rounds,
        backfill_policy=chunked,
        retry_policy=TRANSIENT_FAULT,
    )
    def audit_table(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> Recorded:
        yield from recorded(context, workspace)

    return audit_table


audit_tables = [_asset_of(spec) for spec in specs_of("audit")]
