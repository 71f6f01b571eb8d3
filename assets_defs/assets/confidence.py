"""Confidence tables: verified facts of each round, and the scores they and recorded events give; no gate reads them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg

from assets_defs.partitions import chunked, rounds
from assets_defs.recording import TRANSIENT_FAULT, Recorded, metadata_of, recorded
from assets_defs.resources import Gatekeeper
from assets_defs.scoring import Facts, shown_scores
from assets_defs.tables import spec_of
from governance_pipeline.confidence.lake_tables import EVENTS, POOLS, SCORES, TEAMS, refresh_scores
from governance_pipeline.workspace import Workspace


@dg.multi_asset(specs=[spec_of(EVENTS)], partitions_def=rounds, backfill_policy=chunked, retry_policy=TRANSIENT_FAULT)
def confidence_events(
    context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> Recorded:
    """List the verified facts of each round, with the event of each that somebody answers for."""
    yield from recorded(context, Facts(gate, workspace.lake), [EVENTS])


@dg.multi_asset(specs=[spec_of(table) for table in (SCORES, POOLS, TEAMS)], retry_policy=TRANSIENT_FAULT)
def confidence_scores(
    workspace: dg.ResourceParam[Workspace], confidence: dg.ResourceParam[Path]
) -> Iterator[dg.MaterializeResult[Any]]:
    """Fold the facts of all rounds with what people recorded; the same events give the same bytes in any order."""
    made = refresh_scores(workspace.lake, confidence)
    history = shown_scores(workspace.lake.get(SCORES, None))
    for table, stored in made.items():
        shown = history if table == SCORES else {}
        metadata = {**metadata_of(workspace.lake, table, None, stored), **shown}
        yield dg.MaterializeResult(asset_key=table, metadata=metadata)


confidence_tables = [confidence_events, confidence_scores]
