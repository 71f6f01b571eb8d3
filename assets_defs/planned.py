"""Which rounds a run is part of a plan for: those of its backfill, not only of the chunk at hand.

What belongs here: reading the plan of a run. What does not: whether it may replace what is stored
(`governance_pipeline.framework.reprocessing`), which every run asks in the body of its assets. A plan that cannot be
read counts as one over every round: nothing is let through because nobody can tell.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import dagster as dg

from governance_pipeline.storage.lake import Lake, Stored
from governance_pipeline.workspace import Workspace

BACKFILL = "dagster/backfill"
"""Tag of a run that Dagster launched as part of a backfill: its id."""
WHOLE_HISTORY = "govern/whole-history"
"""Tag of a run that is part of a plan over every round of the lake."""
FIRST_TABLE = "raw_log_files"
"""Every ingested round has it."""


class PlannedWorkspace(NamedTuple):
    """A workspace that makes tables as part of a plan over these rounds."""

    workspace: Workspace
    planned: Collection[str]

    @property
    def lake(self) -> Lake:
        """Where tables are stored."""
        return self.workspace.lake

    def make(self, tables: Sequence[str], round_ids: Sequence[str]) -> Mapping[str, Mapping[str, Stored]]:
        """Make and store tables, as `Workspace.make`."""
        return self.workspace.make(tables, round_ids, self.planned)


def planned(context: dg.AssetExecutionContext, workspace: Workspace) -> PlannedWorkspace:
    """Return the workspace with the plan of this run."""
    tags = context.run.tags
    rounds = () if BACKFILL not in tags else _rounds_of_backfill(context.instance, tags[BACKFILL])
    if WHOLE_HISTORY in tags or rounds is None:
        rounds = tuple(workspace.lake.rounds(FIRST_TABLE))
    return PlannedWorkspace(workspace, rounds)


def _rounds_of_backfill(instance: dg.DagsterInstance, backfill_id: str) -> tuple[str, ...] | None:
    """Return every round a backfill covers; None when that cannot be told."""
    backfill = instance.get_backfill(backfill_id)
    if backfill is None or (backfill.asset_backfill_data is None and backfill.partition_names is None):
        return None
    if backfill.asset_backfill_data is None:
        return tuple(backfill.partition_names or ())
    subsets = backfill.asset_backfill_data.target_subset.partitions_subsets_by_asset_key.values()
    return tuple({key for subset in subsets for key in subset.get_partition_keys()})
