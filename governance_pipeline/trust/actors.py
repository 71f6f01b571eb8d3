"""Everybody who had a hand in a round, as far as its tables say.

What belongs here: collecting names for a gate request. What does not: whether one of them may approve (`pair`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.trust.production import rows_by_round

if TYPE_CHECKING:
    import pandas as pd


def round_actors(
    core_attestations: pd.DataFrame, core_runs: pd.DataFrame, core_steps: pd.DataFrame, core_changes: pd.DataFrame
) -> dict[str, list[str]]:
    """Give the actors of each round: agents of runs, steps and changes, and who claims to have validated.

    Returns:
        round id -> names as written, sorted; a round without a name is left out.
    """
    columns = (
        (core_attestations, "validator_id"),
        (core_runs, "agent_id"),
        (core_steps, "agent_id"),
        (core_changes, "agent_id"),
    )
    actors: dict[str, set[str]] = {}
    for frame, column in columns:
        for round_id, rows in rows_by_round(frame[["round_id", column]]).items():
            actors.setdefault(round_id, set()).update(row[column] for row in rows if row[column] is not None)
    return {round_id: sorted(names) for round_id, names in sorted(actors.items()) if names}
