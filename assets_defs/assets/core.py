"""Core tables: runs, steps, usage, declared numbers and their parts, in one shape for every log format."""

import dagster as dg

from assets_defs.partitions import chunked, rounds
from assets_defs.planned import planned
from assets_defs.recording import TRANSIENT_FAULT, Recorded, recorded
from assets_defs.tables import specs_of
from governance_pipeline.workspace import Workspace


@dg.multi_asset(
    specs=specs_of("core"),
    can_subset=True,
    partitions_def=rounds,
    backfill_policy=chunked,
    retry_policy=TRANSIENT_FAULT,
)
def core_tables(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> Recorded:
    """Translate each round into the shared tables; a round whose files changed since its raw tables is refused."""
    yield from recorded(context, planned(context, workspace))
