"""Raw tables: what lies in a round's folder, file by file and refusal by refusal."""

import dagster as dg

from assets_defs.partitions import chunked, rounds
from assets_defs.planned import planned
from assets_defs.recording import TRANSIENT_FAULT, Recorded, recorded
from assets_defs.tables import specs_of
from governance_pipeline.workspace import Workspace


@dg.multi_asset(
    specs=specs_of("raw"),
    can_subset=True,
    partitions_def=rounds,
    backfill_policy=chunked,
    retry_policy=TRANSIENT_FAULT,
)
def raw_tables(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> Recorded:
    """Read the folder of each round once and keep every file, record and refusal."""
    yield from recorded(context, planned(context, workspace))
