"""The asset of one table that is made from stored tables alone, so that each can be made again by itself.

What belongs here: tables of each round. What does not: those made over all rounds at once (assets.features).
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import dagster as dg

from assets_defs.partitions import chunked, rounds
from assets_defs.planned import planned
from assets_defs.recording import TRANSIENT_FAULT, Recorded, recorded
from assets_defs.tables import is_partitioned, specs_of
from governance_pipeline.report.round_numbers import NUMBERS, round_numbers
from governance_pipeline.storage.lake import Lake
from governance_pipeline.workspace import Workspace


def one_asset_each(layer: str) -> list[dg.AssetsDefinition]:
    """Return one asset per table of a layer that is made round by round, in pipeline order."""
    return [_asset_of(spec) for spec in specs_of(layer) if is_partitioned(spec.key.to_user_string())]


def _asset_of(spec: dg.AssetSpec) -> dg.AssetsDefinition:
    @dg.multi_asset(
        name=spec.key.to_user_string(),
        specs=[spec],
        partitions_def=rounds,
        backfill_policy=chunked,
        retry_policy=TRANSIENT_FAULT,
    )
    def table(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> Recorded:
        numbers = partial(_numbers, workspace.lake, spec.key.to_user_string())
        yield from recorded(context, planned(context, workspace), more=numbers)

    return table


def _numbers(lake: Lake, table: str, round_id: str) -> Mapping[str, Any]:
    """Give what Dagster plots over rounds: numbers and lines of blocks only, nothing it would take for Markdown."""
    return round_numbers(table, lake.get(table, round_id)) if table in NUMBERS else {}
