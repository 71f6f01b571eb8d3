"""Scores walked forward under day caps and the score limit: many groups in step, long ones day by day at once.

What belongs here: spec/confidence.md §11.4 over whole groups. What does not: where deltas come from. Each step needs
the score and the day's net before it, so a group cannot be summed; but its k-th event can be taken together with the
k-th event of every other group. Where only a few long groups are left, their days are walked at once instead: a day
that stays clear of the score limit moves every start by the same amount, so only days at the limit are walked again,
from the start the days before them give, until all starts are the true ones. Amounts are thousandths of a point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from governance_pipeline.confidence.amounts import DAY_CAP, HIGHEST, LOWEST, WARM_UP_CAP

if TYPE_CHECKING:
    Ints = np.ndarray[Any, np.dtype[Any]]

LEAST_WIDTH: Final = 64
"""Groups from which a step over all of them costs less than taking them one by one."""

MOST_TURNS: Final = 12
"""Times days are walked again before the group is taken event by event."""

LEAST_GAIN: Final = 2
"""By what each turn must divide the days that are not settled: with less, event by event is faster."""

_LOWEST_NET: Final = np.array([DAY_CAP[0], WARM_UP_CAP[0]], dtype=np.int32)
_HIGHEST_NET: Final = np.array([DAY_CAP[1], WARM_UP_CAP[1]], dtype=np.int32)


class Walk(NamedTuple):
    """What is walked; events stand group after group, each group in the order of the fold.

    Attributes:
        starts, sizes: of the groups.
        score: of each group before its first event.
        net: of each day of a group before its first event here.
        cell: event -> its day of its group.
        delta: event -> what it is worth before caps.
        is_warm_up: event -> whether its track is in warm-up.
    """

    starts: Ints
    sizes: Ints
    score: Ints
    net: Ints
    cell: Ints
    delta: Ints
    is_warm_up: Ints


def walked(walk: Walk) -> Ints:
    """Return the score after each event; those that are worth nothing change nothing and are passed over."""
    moves = walk.delta != 0
    sizes = np.add.reduceat(moves, walk.starts, dtype=np.int64) if len(walk.starts) else walk.sizes
    starts = np.cumsum(sizes) - sizes
    moving = Walk(starts, sizes, walk.score, walk.net, walk.cell[moves], walk.delta[moves], walk.is_warm_up[moves])
    path = _path(moving)
    reached = np.cumsum(moves) - np.repeat(starts, walk.sizes)
    still = np.repeat(walk.score.astype(np.int32), walk.sizes)
    if not len(path):
        return still
    return np.where(reached > 0, path[np.maximum(np.cumsum(moves) - 1, 0)], still)


def _path(walk: Walk) -> Ints:
    after = np.empty(len(walk.delta), dtype=np.int32)
    score, net = walk.score.astype(np.int32), walk.net.astype(np.int32)
    largest = np.sort(walk.sizes)[::-1]
    steps = int(largest[LEAST_WIDTH - 1]) if len(largest) >= LEAST_WIDTH else 0
    _in_step(walk, np.minimum(walk.sizes, steps), score, net, after)
    for group in np.flatnonzero(walk.sizes > steps):
        first, last = int(walk.starts[group]) + steps, int(walk.starts[group] + walk.sizes[group])
        _by_days(walk, slice(first, last), int(score[group]), net, after)
    return after


def _in_step(walk: Walk, sizes: Ints, score: Ints, net: Ints, after: Ints) -> None:
    """Walk the first `sizes` events of each group, the k-th of every group at once; changes score, net and after."""
    steps = int(sizes.max(initial=0))
    if not steps:
        return
    by_size = np.argsort(-sizes, kind="stable")
    active = np.searchsorted(-sizes[by_size], -np.arange(steps), side="left")  # groups with more than k events
    offsets = np.concatenate(([0], np.cumsum(active)))
    slot = np.empty(len(sizes), dtype=np.int64)
    slot[by_size] = np.arange(len(sizes))
    total = int(offsets[-1])
    rank = np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    target = offsets[rank] + np.repeat(slot, sizes)
    rows = np.repeat(walk.starts, sizes) + rank
    delta, cell = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
    warm = np.empty(total, dtype=np.int8)
    delta[target], cell[target], warm[target] = walk.delta[rows], walk.cell[rows], walk.is_warm_up[rows]
    lowest, highest = _LOWEST_NET[warm], _HIGHEST_NET[warm]
    here, path = score[by_size], np.empty(total, dtype=np.int32)
    for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        mine, now = cell[first:last], here[: last - first]
        spent = net[mine]
        allowed = np.maximum(delta[first:last], np.minimum(lowest[first:last] - spent, 0))
        np.minimum(allowed, np.maximum(highest[first:last] - spent, 0), out=allowed)
        allowed += now
        np.maximum(allowed, LOWEST, out=allowed)
        np.minimum(allowed, HIGHEST, out=path[first:last])
        spent += path[first:last]
        spent -= now
        net[mine] = spent
        now[:] = path[first:last]
    score[by_size] = here
    after[rows] = path[target]


def _one_by_one(walk: Walk, rows: slice, score: int, net: Ints, after: Ints) -> None:
    lowest, highest = _LOWEST_NET.tolist(), _HIGHEST_NET.tolist()
    events = zip(walk.delta[rows].tolist(), walk.cell[rows].tolist(), walk.is_warm_up[rows].tolist(), strict=True)
    nets, path, now, spent = dict[int, int](), [], -1, 0
    for delta, cell, warm in events:
        if cell != now:
            nets[now] = spent
            now, spent = cell, nets[cell] if cell in nets else int(net[cell])
        if delta < 0:
            room = lowest[warm] - spent
            new = score + (delta if delta >= room else min(room, 0))
        else:
            room = highest[warm] - spent
            new = score + (delta if delta <= room else max(room, 0))
        new = LOWEST if new < LOWEST else min(new, HIGHEST)
        spent += new - score
        score = new
        path.append(new)
    after[rows] = path
    nets[now] = spent
    del nets[-1]
    net[list(nets)] = list(nets.values())


class _Days:
    """The days of one long group, each walked from a start of its own; starts at 0 are clear of the score limit."""

    def __init__(self, walk: Walk, rows: slice, net: Ints) -> None:
        cell, warm = walk.cell[rows], walk.is_warm_up[rows]
        is_start = np.ones(len(cell), dtype=np.bool_)
        is_start[1:] = (cell[1:] != cell[:-1]) | (warm[1:] != warm[:-1])
        starts = np.flatnonzero(is_start)
        sizes = np.diff(starts, append=len(cell))
        self.cell = cell[starts]
        self.is_new = np.ones(len(starts), dtype=np.bool_)
        self.is_new[1:] = self.cell[1:] != self.cell[:-1]
        self.initial_net = net[self.cell]
        self.is_in_order = len(np.unique(self.cell)) == int(self.is_new.sum())
        self.score = np.zeros(len(starts), dtype=np.int32)
        self.net = self.initial_net.copy()
        self.end_net = self.net.copy()
        self.path = np.empty(len(cell), dtype=np.int32)
        of_day = np.repeat(np.arange(len(starts), dtype=np.int32), sizes)
        self._walk = Walk(starts, sizes, self.score, self.net, of_day, walk.delta[rows], warm)
        self.low, self.high, self.end = (np.empty(len(starts), dtype=np.int32) for _ in range(3))
        self.run(np.arange(len(starts)))

    def run(self, days: Ints) -> None:
        """Walk these days from their `score` and `net`."""
        walk, net = self._walk, self.net.copy()
        part = walk._replace(starts=walk.starts[days], sizes=walk.sizes[days])
        _in_step(part, part.sizes, self.score[days].copy(), net, self.path)
        self.end_net[days] = net[days]
        self.low[days] = np.minimum.reduceat(self.path, walk.starts)[days]
        self.high[days] = np.maximum.reduceat(self.path, walk.starts)[days]
        self.end[days] = self.path[walk.starts[days] + walk.sizes[days] - 1]

    def unsettled(self, score: int) -> Ints:
        """Set the start of each day from the days before it; return the days that must be walked again."""
        columns = (self.score, self.net, self.end_net, self.low, self.high, self.end, self.initial_net, self.is_new)
        again, starts, nets, spent = [], [], [], 0
        for day, (at, net, end_net, low, high, end, initial, is_new) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            spent = initial if is_new else spent
            starts.append(score)
            nets.append(spent)
            moved = score - at
            least, most = min(low, at), max(high, at)
            is_clear = least > LOWEST and most < HIGHEST and least + moved >= LOWEST and most + moved <= HIGHEST
            if spent != net or (moved and not is_clear):
                again.append(day)
            score = min(max(end + moved, LOWEST), HIGHEST)
            spent += end_net - net
        moved_by = np.array(starts, dtype=np.int32) - self.score
        days = np.array(again, dtype=np.int64)
        moved_by[days] = 0
        self.path += np.repeat(moved_by, self._walk.sizes)
        self.low += moved_by
        self.high += moved_by
        self.end += moved_by
        self.score[:] = starts
        self.net[:] = nets
        return days


def _by_days(walk: Walk, rows: slice, score: int, net: Ints, after: Ints) -> None:
    """Walk one long group, its days at once where that pays; changes net and after."""
    days = _Days(walk, rows, net) if rows.stop - rows.start > LEAST_WIDTH else None
    if days is None or not days.is_in_order:
        _one_by_one(walk, rows, score, net, after)
        return
    left = len(days.cell) * LEAST_GAIN + 1
    for _ in range(MOST_TURNS):
        again = days.unsettled(score)
        if not len(again):
            after[rows] = days.path
            net[days.cell] = days.end_net
            return
        if len(again) * LEAST_GAIN > left:
            break
        days.run(again)
        left = len(again)
    _one_by_one(walk, rows, score, net, after)
