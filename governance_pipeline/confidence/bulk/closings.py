"""The days of each track: which of them close at which event, of all tracks at once.

What belongs here: the roll-over of spec/confidence.md §11.7. What does not: what a closed day does (`alerting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from governance_pipeline.confidence.bulk.columns import NONE, SEAL
from governance_pipeline.confidence.bulk.grouping import DAYS

if TYPE_CHECKING:
    from governance_pipeline.confidence.bulk.block import Block
    from governance_pipeline.confidence.bulk.columns import Columns
    from governance_pipeline.confidence.bulk.grouping import Groups
    from governance_pipeline.confidence.state import State

    Ints = np.ndarray[Any, np.dtype[Any]]

ROLL_OVER, SCORED, SEALED = range(3)
"""When something happens within an event: days close first, then it is scored, then a seal closes its day."""


class Closings(NamedTuple):
    """What closes: one per event that closes days of its track.

    Attributes:
        track, place, step: at what; sorted by the three.
        first, last: the days.
        current: latest day of each track of the block in the end.
        first_open: its first day that is not closed.
    """

    track: Ints
    place: Ints
    step: Ints
    first: Ints
    last: Ints
    current: Ints
    first_open: Ints


def closings_of(columns: Columns, block: Block, start: State) -> Closings:
    """Find the days that close at the events of a block."""
    tracks, day = block.tracks, block.day
    known = [start.tracks.get(columns.tracks[int(name)]) for name in tracks.names]
    current = np.array([NONE if one is None or one.current_day is None else one.current_day for one in known], np.int32)
    opened = np.array([0 if one is None else one.first_open_day for one in known], dtype=np.int32)
    opened = np.where(current == NONE, day[tracks.starts], opened)
    latest = _latest(tracks, day, current)
    before = np.empty_like(latest)
    before[1:] = latest[:-1]
    before[tracks.starts] = current
    rolls = np.flatnonzero((day > before) & (before != NONE))
    seals = np.flatnonzero((block.kind == SEAL) & (day == latest)) if columns.seals else rolls[:0]
    at = np.concatenate((rolls, seals))
    step = np.repeat((ROLL_OVER, SEALED), (len(rolls), len(seals)))
    last = np.concatenate((day[rolls] - 1, day[seals]))
    if len(seals):
        order = np.lexsort((step, at))
        at, step, last = at[order], step[order], last[order]
    owner = np.searchsorted(tracks.starts, at, side="right") - 1
    first = np.empty_like(last)
    first[1:] = last[:-1] + 1
    is_first = np.ones(len(at), dtype=np.bool_)
    is_first[1:] = owner[1:] != owner[:-1]
    first[is_first] = opened[owner[is_first]]
    np.maximum.at(opened, owner, last + 1)
    return Closings(tracks.group[at], tracks.places[at], step, first, last, tracks.last(latest), opened)


def _latest(tracks: Groups, day: Ints, current: Ints) -> Ints:
    """Return the latest day its track has seen after each event."""
    if not np.any((day[1:] < day[:-1]) & (tracks.group[1:] == tracks.group[:-1])):
        return np.maximum(day, tracks.spread(current))
    base = tracks.spread(np.arange(len(tracks.starts), dtype=np.int64) * DAYS)
    seen = np.maximum(day, tracks.spread(current)) + base
    return (np.maximum.accumulate(seen) - base).astype(np.int32)
