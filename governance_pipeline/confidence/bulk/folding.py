"""The fold of events all at once: the arrays it gives, and what it leaves behind as `confidence.fold` would.

What belongs here: the order of the steps. What does not: any of them.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from governance_pipeline.confidence.bulk.alerting import KINDS, Diverged, Found, diverged, joined, recovered
from governance_pipeline.confidence.bulk.block import Cutting
from governance_pipeline.confidence.bulk.closings import closings_of
from governance_pipeline.confidence.bulk.columns import DOMAINS, NONE, Columns, columns_of
from governance_pipeline.confidence.bulk.errors import errors_of
from governance_pipeline.confidence.bulk.guards import REASONS, refusals
from governance_pipeline.confidence.bulk.into_state import write_state
from governance_pipeline.confidence.bulk.rows import rows_of
from governance_pipeline.confidence.bulk.scored import Scored, scored
from governance_pipeline.confidence.event import Refused
from governance_pipeline.confidence.fold import Folded
from governance_pipeline.confidence.recovery import day_left
from governance_pipeline.confidence.rows import Alert
from governance_pipeline.confidence.state import State
from governance_pipeline.confidence.terms import AlertKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from governance_pipeline.confidence.bulk.block import Block
    from governance_pipeline.confidence.bulk.errors import Errors
    from governance_pipeline.confidence.bulk.rows import Rows
    from governance_pipeline.confidence.event import Event, Line
    from governance_pipeline.confidence.registry import Registry

    Ints = np.ndarray[Any, np.dtype[Any]]

MOST_THREADS: Final = 4
"""Blocks scored at once; numpy does its work outside of the interpreter's lock, and each block takes memory."""


class Folding(NamedTuple):
    """What the columns fold to, as arrays.

    Attributes:
        reasons: by event, why it is refused (a place in `guards.REASONS`), or NONE.
        errors: the accepted errors.
        blocks: accepted events and what became of them, tracks in the order of their codes.
    """

    reasons: Ints
    errors: Errors
    blocks: list[Scored]

    @property
    def alerts(self) -> Found:
        """All alerts, in the order in which they arise."""
        return joined([found for block in self.blocks for found in (block.diverged.alerts, block.recovered.alerts)])


def fold_columns(columns: Columns, start: State | None = None) -> Folding:
    """Fold events that stand in their order, from an earlier state on; the state is only read."""
    start = start or State()
    reasons = refusals(columns, start)
    accepted = reasons == NONE
    errors = errors_of(columns, start, accepted)
    cutting = Cutting(columns, accepted, errors)

    def scored_part(part: slice) -> Scored:
        return _scored(columns, cutting.block(part), start)

    threads = min(len(cutting.parts), os.cpu_count() or 1, MOST_THREADS)
    if threads <= 1:
        return Folding(reasons, errors, [scored_part(part) for part in cutting.parts])
    with ThreadPoolExecutor(threads) as pool:
        return Folding(reasons, errors, list(pool.map(scored_part, cutting.parts)))


def _scored(columns: Columns, block: Block, start: State) -> Scored:
    rows, closings = rows_of(columns, block, start), closings_of(columns, block, start)
    return scored(block, rows, closings, _diverged(rows, start), recovered(columns, rows, closings))


def bulk_fold(
    lines: Iterable[Line],
    registry: Registry,
    folded: Folded | None = None,
    earlier: Callable[[str], Event] | None = None,
) -> Folded:
    """Fold events as `confidence.fold.fold` does, many at once; `events` gets no rows.

    Args:
        lines: events with ids of their own, in any order.
        registry: its patterns say what errors cost.
        folded: an earlier fold to go on from; every event here must come after its events. Changed in place.
        earlier: gives an event of the earlier fold by its id; only the seal of a day it left open asks for it.
    """
    folded = folded or Folded()
    ordered = sorted(lines, key=lambda line: line.event.order)
    if not ordered:
        return folded
    columns = columns_of([line.event for line in ordered], registry)
    folding = fold_columns(columns, folded.state)
    refused = np.flatnonzero(folding.reasons != NONE).tolist()
    for place in refused:
        line, reason = ordered[place], REASONS[int(folding.reasons[place])]
        folded.refused.append(Refused(line.event.event_id, reason, None, line.sha256))
    folded.accepted += len(ordered) - len(refused)
    folded.alerts += _alerts(columns, joined([folding.alerts, _left_untouched(columns, folding, folded.state)]))
    here = {line.event.event_id: line.event for line in ordered} if columns.seals else {}

    def event_of(event_id: str) -> Event:
        if event_id in here or earlier is None:
            return here[event_id]
        return earlier(event_id)

    folded.seals += write_state(columns, folding, folded.state, event_of)
    return folded


def _diverged(rows: Rows, start: State) -> Diverged:
    number = len(rows.cell_day)
    penalties, had = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.bool_)
    if start.tracks:
        for cell, (at, day) in enumerate(zip(rows.cell_owner.tolist(), rows.cell_day.tolist(), strict=True)):
            known = rows.initial[at].days.get(day)
            if known is not None:
                penalties[cell], had[cell] = known.penalties, known.has_diverged
    return diverged(rows, penalties, had)


def _left_untouched(columns: Columns, folding: Folding, state: State) -> Found:
    """Close days for domains in recovery that have no event here; the days of a track close for all its domains."""
    found: list[tuple[int, ...]] = []
    for block in folding.blocks if state.tracks else ():
        closings, touched = block.closings, set(block.groups.tolist())
        for code in np.unique(closings.track).tolist():
            known = state.tracks.get(columns.tracks[code])
            for place, own in enumerate(known.domains.values() if known else ()):
                group = code * len(DOMAINS) + place
                for at in np.flatnonzero(closings.track == code).tolist() if group not in touched else ():
                    day = day_left(own, int(closings.first[at]), int(closings.last[at]))
                    if day is not None:
                        where = int(closings.place[at]), int(closings.step[at])
                        found.append((*where, day, place, KINDS.index(AlertKind.RECOVERY_LEFT), group, day))
    return Found(*np.array(found, dtype=np.int64).reshape(len(found), len(Found._fields)).T)


def _alerts(columns: Columns, found: Found) -> list[Alert]:
    rows = zip(*(column.tolist() for column in (found.place, found.kind, found.group, found.day)), strict=True)
    return [
        Alert(KINDS[kind], columns.tracks[group // len(DOMAINS)], DOMAINS[group % len(DOMAINS)], day,
              columns.event_id(place))
        for place, kind, group, day in rows
    ]  # fmt: skip
