"""What a block of tracks comes to: one place per group, per day of a group, and per track.

What belongs here: the numbers that outlive the rows. What does not: working them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from governance_pipeline.confidence.bulk.columns import CONTINUE, CORRECT, ERROR, NONE

if TYPE_CHECKING:
    from governance_pipeline.confidence.bulk.alerting import Diverged, Recovered
    from governance_pipeline.confidence.bulk.block import Block
    from governance_pipeline.confidence.bulk.closings import Closings
    from governance_pipeline.confidence.bulk.rows import Rows

    Ints = np.ndarray[Any, np.dtype[Any]]


class Scored(NamedTuple):
    """Scores of some tracks.

    Attributes:
        groups: track times five plus domain, ascending; `score`, `streak`, `evaluations` after its last event.
        day_group, day: one day of a group; `day_net` is what was applied here, `day_score` the last score.
        tracks: codes, ascending; `tasks`, `corrections`, `pairs` and `pairs_apart` are counted here, seals left out.
        closings, diverged, recovered: days that close; penalties and divergence by day; recovery by group.
    """

    groups: Ints
    score: Ints
    streak: Ints
    evaluations: Ints
    day_group: Ints
    day: Ints
    day_net: Ints
    day_score: Ints
    tracks: Ints
    tasks: Ints
    corrections: Ints
    pairs: Ints
    pairs_apart: Ints
    closings: Closings
    diverged: Diverged
    recovered: Recovered


def scored(block: Block, rows: Rows, closings: Closings, diverged: Diverged, recovered: Recovered) -> Scored:
    """Keep of a block what outlives its rows."""
    cells, tracks, none = rows.cells, block.tracks, np.zeros(len(block.tracks.names), dtype=np.int64)
    counts = block.halves > 0
    apart = block.apart
    return Scored(
        groups=rows.groups.names,
        score=rows.groups.last(rows.after),
        streak=rows.streak,
        evaluations=rows.evaluations,
        day_group=rows.groups.names[rows.cell_owner],
        day=rows.cell_day,
        day_net=cells.sum(rows.applied[cells.places]),
        day_score=rows.after[cells.places[cells.starts + cells.sizes - 1]],
        tracks=tracks.names,
        tasks=tracks.sum(_TASKS[block.kind] & counts),
        corrections=tracks.sum((block.kind == ERROR) & counts),
        pairs=none if apart is None else tracks.sum(apart != NONE),
        pairs_apart=none if apart is None else tracks.sum(np.maximum(apart, 0)),
        closings=closings,
        diverged=diverged,
        recovered=recovered,
    )


_TASKS = np.isin(np.arange(8), (CORRECT, ERROR, CONTINUE))
