"""Alerts of all events at once: divergence of a day, entering recovery, leaving it when days close.

What belongs here: spec/confidence.md §11.7 over whole groups. What does not: scores (`rows`) and which days close
(`closings`). Only groups that ever were below the bound are looked at, the k-th closing of each at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from governance_pipeline.confidence.amounts import RECOVERY_ABOVE, RECOVERY_BELOW, RECOVERY_DAYS
from governance_pipeline.confidence.bulk.closings import ROLL_OVER, SCORED
from governance_pipeline.confidence.bulk.columns import DOMAINS
from governance_pipeline.confidence.terms import AlertKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.confidence.bulk.closings import Closings
    from governance_pipeline.confidence.bulk.columns import Columns
    from governance_pipeline.confidence.bulk.rows import Rows

    Ints = np.ndarray[Any, np.dtype[Any]]


KINDS: Final = (AlertKind.DIVERGENCE, AlertKind.RECOVERY_ENTERED, AlertKind.RECOVERY_LEFT)


class Found(NamedTuple):
    """Alerts, one place in each array.

    Attributes:
        place: of its event among all events.
        step: when within the event.
        first, second: its order within the step.
        kind: its place in `KINDS`.
        group: track times five plus domain.
        day: what it is about.
    """

    place: Ints
    step: Ints
    first: Ints
    second: Ints
    kind: Ints
    group: Ints
    day: Ints

    @classmethod
    def none(cls) -> Found:
        """Return no alert."""
        return cls(*(np.zeros(0, dtype=np.int64) for _ in cls._fields))


def joined(found: Sequence[Found]) -> Found:
    """Put alerts together, in the order in which they arise."""
    together = [np.concatenate(columns) for columns in zip(Found.none(), *found, strict=True)]
    order = np.lexsort(together[3::-1])
    return Found(*(column[order] for column in together))


class Diverged(NamedTuple):
    """Days by cell: penalties in the end, and whether the alert is out."""

    penalties: Ints
    has_diverged: Ints
    alerts: Found


class Recovered(NamedTuple):
    """By group of the rows: whether it is in recovery in the end, and how many days above it has."""

    is_in_recovery: Ints
    days_above: Ints
    alerts: Found


def diverged(rows: Rows, initial_penalties: Ints, had_diverged: Ints) -> Diverged:
    """Find the first row of each day after which the penalties exceed half the score."""
    cells = rows.cells
    lost = np.maximum(-rows.applied[cells.places], 0)
    penalties = cells.before(lost) + lost + cells.spread(initial_penalties)
    exceeds = (penalties > 0) & (2 * penalties > rows.after[cells.places])
    at = np.flatnonzero(exceeds & ~cells.spread(had_diverged))
    of_cell, first = np.unique(cells.group[at], return_index=True)
    alerts = _scored(rows, cells.places[at[first]], AlertKind.DIVERGENCE, rows.cell_day[of_cell])
    has_diverged = had_diverged.copy()
    has_diverged[of_cell] = True
    return Diverged(cells.last(penalties), has_diverged, alerts)


def recovered(columns: Columns, rows: Rows, closings: Closings) -> Recovered:
    """Follow the recovery of each group through the closings of its track."""
    is_in = np.array([state.is_in_recovery for state in rows.initial], dtype=np.bool_)
    above = np.array([state.days_above for state in rows.initial], dtype=np.int64)
    low = np.flatnonzero(rows.after < RECOVERY_BELOW)
    touched = is_in.copy()
    touched[np.searchsorted(rows.groups.starts, low, side="right") - 1] = True
    units = np.flatnonzero(touched)
    walk = _Recovery(columns, rows, closings, low, units)
    in_units, above_units = walk.run(is_in[units], above[units])
    is_in[units], above[units] = in_units, above_units
    return Recovered(is_in, above, joined(walk.alerts))


class _Recovery:
    """Groups in step over the closings of their tracks; between two closings a group can only enter recovery."""

    def __init__(self, columns: Columns, rows: Rows, closings: Closings, low: Ints, units: Ints) -> None:
        self._columns, self._rows, self._closings, self._low, self._units = columns, rows, closings, low, units
        self.alerts: list[Found] = []
        track = rows.groups.names[units] // len(DOMAINS)
        self._first = np.searchsorted(closings.track, track, side="left")
        self._number = np.searchsorted(closings.track, track, side="right") - self._first
        self._start = rows.groups.starts[units]
        self._end = self._start + rows.groups.sizes[units]
        self._initial = np.array([rows.initial[unit].score for unit in units.tolist()], dtype=np.int64)
        self._row_key = rows.groups.group.astype(np.int64) * (columns.size + 1) + rows.place

    def run(self, is_in: Ints, above: Ints) -> tuple[Ints, Ints]:
        reached = self._start.copy()
        for turn in range(int(self._number.max(initial=0))):
            active = np.flatnonzero(self._number > turn)
            closing = self._first[active] + turn
            until = self._rows_before(active, closing)
            self._enter(active, reached[active], until, is_in, above)
            reached[active] = until
            self._close(active, closing, until, is_in, above)
        everyone = np.arange(len(self._units))
        self._enter(everyone, reached, self._end, is_in, above)
        return is_in, above

    def _rows_before(self, active: Ints, closing: Ints) -> Ints:
        """Return where the rows of each group end that come before its closing."""
        place = self._closings.place[closing] + (self._closings.step[closing] > ROLL_OVER)
        group = self._rows.groups.names[self._units[active]].astype(np.int64)
        found: Ints = np.searchsorted(self._row_key, group * (self._columns.size + 1) + place, side="left")
        return found

    def _enter(self, active: Ints, since: Ints, until: Ints, is_in: Ints, above: Ints) -> None:
        at = np.searchsorted(self._low, since)
        enters = ~is_in[active] & (at < len(self._low))
        enters[enters] = self._low[at[enters]] < until[enters]
        mine = active[enters]
        is_in[mine], above[mine] = True, 0
        row = self._low[at[enters]]
        day = self._columns.day[self._rows.place[row]]
        self.alerts.append(_scored(self._rows, row, AlertKind.RECOVERY_ENTERED, day))

    def _close(self, active: Ints, closing: Ints, until: Ints, is_in: Ints, above: Ints) -> None:
        first, last = self._closings.first[closing], self._closings.last[closing]
        has_rows = until > self._start[active]
        score = np.where(has_rows, self._rows.after[np.maximum(until - 1, 0)], self._initial[active])
        counts = is_in[active] & (last >= first)
        falls = counts & (score <= RECOVERY_ABOVE)
        above[active[falls]] = 0
        missing = RECOVERY_DAYS - above[active]
        closed = last - first + 1
        rises = counts & ~falls
        leaves = rises & (closed >= missing)
        stays = rises & ~leaves
        above[active[stays]] += closed[stays]
        mine = active[leaves]
        is_in[mine], above[mine] = False, 0
        at, day, group = closing[leaves], (first + missing - 1)[leaves], self._rows.groups.names[self._units[mine]]
        where = self._closings.place[at], self._closings.step[at]
        kind = np.full(len(at), KINDS.index(AlertKind.RECOVERY_LEFT))
        self.alerts.append(Found(*where, day, group % len(DOMAINS), kind, group, day))


def _scored(rows: Rows, row: Ints, kind: AlertKind, day: Ints) -> Found:
    group, code = rows.groups.group[row], np.full(len(row), KINDS.index(kind))
    return Found(rows.place[row], np.full(len(row), SCORED), group % len(DOMAINS), code, code, group, day)
