"""Published tables: made from a round a person has approved, and from nothing else.

There is no backfill policy on purpose: one round is one run, so a closed gate stops its own round only.
"""

import dagster as dg

from assets_defs.partitions import rounds
from assets_defs.publishing import Yielded, published
from assets_defs.resources import Gatekeeper
from assets_defs.tables import GATED, spec_of
from governance_pipeline.workspace import Workspace


def _gated(asset: str) -> dg.AssetsDefinition:
    @dg.multi_asset(name=asset, specs=[spec_of(asset)], partitions_def=rounds)
    def gated(
        context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
    ) -> Yielded:
        yield from published(context, asset, workspace.lake, gate)

    return gated


published_tables = [_gated(asset) for asset in GATED]
