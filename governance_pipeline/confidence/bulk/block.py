"""Accepted events track by track, cut into blocks of whole tracks that fit a processor's cache.

What belongs here: the cutting, and what each event of a block is worth before caps and counts as. What does not: what
becomes of it (`rows`, `closings`, `alerting`). Once it is known which events are accepted and what errors cost, tracks
know nothing of each other; arrays of ten million events would be fetched from memory again at every step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from governance_pipeline.confidence.amounts import EVALUATION, HALF
from governance_pipeline.confidence.bulk.columns import CONTINUE, NONE, SEAL
from governance_pipeline.confidence.bulk.grouping import Groups, in_order, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.confidence.bulk.columns import Columns
    from governance_pipeline.confidence.bulk.errors import Errors

    Ints = np.ndarray[Any, np.dtype[Any]]

BLOCK_EVENTS: Final = 1 << 19
"""Events of a block at most, where its tracks are not longer: ten arrays of them stay near the processor."""

BLOCK_TRACKS: Final = 10_000
"""Tracks of a block at most, so that a track's domain is a number of 16 bits."""

_HALVES: Final = np.full(8, EVALUATION, dtype=np.int8)
_HALVES[CONTINUE], _HALVES[SEAL] = HALF, 0


class Block(NamedTuple):
    """Events of some tracks, track after track, each in the order of the fold.

    Attributes:
        tracks: the events by track; their places are those among all events.
        domain, kind, day: of each event.
        delta: what it is worth before caps, but for correct ones (their streak says it) and seals.
        halves: what it counts as evaluation.
        apart: distance of both judgements in hundredths, or NONE; None where no event has both.
    """

    tracks: Groups
    domain: Ints
    kind: Ints
    day: Ints
    delta: Ints
    halves: Ints
    apart: Ints | None


class Cutting:
    """All accepted events, tracks in the order of their codes, to be taken block by block.

    Blocks share nothing but the columns, which are only read: they can be taken by several threads.

    Attributes:
        parts: the blocks, as parts of the events by track.
    """

    def __init__(self, columns: Columns, accepted: Ints, errors: Errors) -> None:
        self._columns, self._amount = columns, columns.amount
        self._uncounted: Ints | None = None
        self._track, self._order = in_order(columns.track)
        if not accepted.all():
            is_taken = accepted[self._order]
            self._track, self._order = self._track[is_taken], self._order[is_taken]
        if len(errors.places):
            self._amount = columns.amount.copy()
            self._amount[errors.places] = errors.delta
            if not errors.is_counted.all():
                self._uncounted = np.zeros(columns.size, dtype=np.bool_)
                self._uncounted[errors.places[~errors.is_counted]] = True
        self._has_pairs = bool((columns.apart != NONE).any())
        self.parts = list(_parts(runs(self._track, self._order).sizes))

    def block(self, part: slice) -> Block:
        """Take one of the parts."""
        columns, places = self._columns, self._order[part]
        kind = columns.kind[places]
        halves = _HALVES[kind]
        if self._uncounted is not None:
            halves[self._uncounted[places]] = 0
        apart = columns.apart[places] if self._has_pairs else None
        tracks = runs(self._track[part], places)
        return Block(tracks, columns.domain[places], kind, columns.day[places], self._amount[places], halves, apart)


def _parts(sizes: Ints) -> Iterator[slice]:
    """Cut tracks of these sizes into neighbours that are together small enough, a longer one alone."""
    first = last = tracks = 0
    for size in sizes.tolist():
        if last > first and (last - first + size > BLOCK_EVENTS or tracks == BLOCK_TRACKS):
            yield slice(first, last)
            first, tracks = last, 0
        last += size
        tracks += 1
    if last > first:
        yield slice(first, last)
