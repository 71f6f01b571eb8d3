"""Whether the confidence tables still are what they would be made now: rounds without events, and what changed since.

What belongs here: comparing what tables say they were made from with what there is. What does not: making them
(`lake_tables`), and when (schedules). A table that cannot be read is due: making it again mends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.confidence.lake_tables import (
    EVENTS,
    INPUTS,
    JUDGED,
    LINE_FILES,
    POOLS,
    SCORES,
    TEAMS,
    decisions_digest,
    line_states,
    recorded_lines,
    scores_made_from,
)
from governance_pipeline.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from governance_pipeline.confidence.lake_tables import Decided
    from governance_pipeline.storage.lake import Lake


def due_rounds(lake: Lake, decided: Iterable[Decided] = (), imported: Collection[str] = ()) -> list[str]:
    """Return the judged rounds whose `confidence_events` are missing, damaged or made from something else, sorted.

    Args:
        lake: where the tables are.
        decided: mismatches people have decided in a way that counts.
        imported: digests of the confidence.jsonl files a person has imported.

    Raises:
        StorageError: a pointer of the lake is damaged.
    """
    wanted = {table: lake.digests(table) for table in INPUTS}
    facts = list(decided)

    def is_due(round_id: str) -> bool:
        try:
            made_from = lake.metadata(EVENTS, round_id)
        except StorageError:
            return True
        files = [one.partition(":")[0] for one in made_from.get(LINE_FILES, "").split(",") if one]
        return (
            any(made_from.get(f"input.{table}") != (digests.get(round_id) or "") for table, digests in wanted.items())
            or made_from.get("input.decisions") != decisions_digest(round_id, facts)
            or made_from.get(LINE_FILES) != line_states(files, imported)
        )

    return [round_id for round_id in lake.rounds(JUDGED) if is_due(round_id)]


def stale_scores(lake: Lake, folder: Path | None) -> str | None:
    """Say why the tables of scores must be made again; None when they are what they would be made now.

    Args:
        lake: where the tables are.
        folder: of the recorded events; None: only derived facts count.

    Raises:
        StorageError: a pointer of the lake or the store is damaged.
    """
    recorded = list(recorded_lines(folder))
    if not recorded and not lake.rounds(EVENTS):
        return None
    wanted = scores_made_from(lake, recorded)
    for table in (SCORES, POOLS, TEAMS):
        if not lake.has(table, None):
            return f"{table} has not been made"
        try:
            made_from = lake.metadata(table, None)
        except StorageError:
            return f"{table} cannot be read"
        if any(made_from.get(name) != digest for name, digest in wanted.items()):
            return f"facts or recorded events came or changed since {table} was made"
    return None
