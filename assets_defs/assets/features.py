"""Feature tables: how far each step and round of work spread, and how unusual that is among comparable rounds."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets_defs.one_table import one_asset_each
from assets_defs.recording import TRANSIENT_FAULT, cohort_metadata
from assets_defs.tables import spec_of
from governance_pipeline.pipeline import COHORT_WIDE
from governance_pipeline.workspace import Workspace


@dg.multi_asset(specs=[spec_of(table) for table in COHORT_WIDE], retry_policy=TRANSIENT_FAULT)
def cohort_tables(workspace: dg.ResourceParam[Workspace]) -> Iterator[dg.MaterializeResult[Any]]:
    """Compare every measured round of the lake with the comparable ones before it; only what differs is written."""
    made = workspace.refresh_cohorts()
    for table in COHORT_WIDE:
        yield dg.MaterializeResult(asset_key=table, metadata=cohort_metadata(workspace.lake, table, made[table]))


features_tables = [*one_asset_each("features"), cohort_tables]
