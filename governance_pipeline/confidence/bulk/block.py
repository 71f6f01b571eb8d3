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
from governance_pipeline.confidence.bulk.grouping import Groups, runs, stable_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.confidence.bulk.columns import Columns
    from governance_pipeline.confidence.bulk.errors import Errors

    Ints = np.ndarray[Any, np.dtype[Any]]

BLOCK_EVENTS: Final = 1 << 20
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


def blocks_of(columns: Columns, accepted: Ints, errors: Errors) -> Iterator[Block]:
    """Yield all accepted events, tracks in the order of their codes."""
    order = stable_order(columns.track)
    if not accepted.all():
        order = order[accepted[order]]
    amount, uncounted = columns.amount, None
    if len(errors.places):
        amount = amount.copy()
        amount[errors.places] = errors.delta
        if not errors.is_counted.all():
            uncounted = np.zeros(columns.size, dtype=np.bool_)
            uncounted[errors.places[~errors.is_counted]] = True
    has_pairs = bool((columns.apart != NONE).any())
    for part in _parts(np.bincount(columns.track[order] if len(order) < columns.size else columns.track)):
        places = order[part]
        kind = columns.kind[places]
        halves = _HALVES[kind]
        if uncounted is not None:
            halves[uncounted[places]] = 0
        apart = columns.apart[places] if has_pairs else None
        tracks = runs(columns.track[places], places)
        yield Block(tracks, columns.domain[places], kind, columns.day[places], amount[places], halves, apart)


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
