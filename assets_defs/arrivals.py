"""What has arrived and what is due, as the sensor, the schedule and the backfill all ask it.

What belongs here: joining the landing area, the lake and the partitions this Dagster instance knows. What does not:
any of the three questions themselves, which the library answers.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import dagster as dg

from assets_defs.partitions import rounds
from governance_pipeline.contracts.registry import is_by_round
from governance_pipeline.errors import StorageError, UnreadableError
from governance_pipeline.ingest.freshness import due_reason
from governance_pipeline.pipeline import STEPS
from governance_pipeline.rounds.landing import Landing, landing_rounds
from governance_pipeline.workspace import Workspace

SHOWN_FOLDERS = 10


class Arrivals(NamedTuple):
    """The partitions this instance knows, in the order of registration, and what lies in the landing area."""

    registered: Sequence[str]
    landing: Landing

    @property
    def newcomers(self) -> list[str]:
        """Return the rounds that are not partitions yet."""
        known = set(self.registered)
        return [round_id for round_id in self.landing.rounds if round_id not in known]

    def refusals(self) -> str:
        """Return the folders that are no rounds, with reasons; empty when there are none."""
        if not self.landing.refused:
            return ""
        shown = [f"{name!r} ({why})" for name, why in self.landing.refused[:SHOWN_FOLDERS]]
        return f"{len(self.landing.refused)} folders are no rounds: {'; '.join(shown)}"

    def nothing_to_do(self) -> str:
        """Return the reason a tick skips."""
        reason = f"none of {len(self.landing.rounds)} rounds is new or changed"
        return "; ".join(filter(None, [reason, self.refusals()]))


def arrivals(instance: dg.DagsterInstance, workspace: Workspace) -> Arrivals:
    """Look at the landing area and at the partitions of this instance."""
    registered = instance.get_dynamic_partitions(str(rounds.name))
    return Arrivals(registered, landing_rounds(workspace.landing, registered))


def is_due(workspace: Workspace, round_id: str, registered: Collection[str]) -> bool:
    """Tell whether a round must be audited: unknown to this instance, or not what the lake was made from.

    A stored table that cannot be read is made again. A round whose folder vanished meanwhile is not due; its tables
    stay.
    """
    if round_id not in registered:
        return True
    inputs = {table: step.inputs for table, step in STEPS.items() if is_by_round(table)}
    try:
        return due_reason(workspace.landing / round_id, workspace.lake, inputs, round_id) is not None
    except StorageError:
        return True
    except UnreadableError:
        return False
