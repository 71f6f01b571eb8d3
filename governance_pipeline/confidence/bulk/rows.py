"""The scored rows of a block, domain by domain: what each is worth, where the warm-up ends, what each day is.

What belongs here: one row per event and domain it counts in, put into groups, and walked. What does not: refusals
(`guards`), the cost of errors (`errors`), days that close (`closings`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from governance_pipeline.confidence.amounts import STREAK_TOTAL, WARM_UP_EVALUATIONS, WARM_UP_PER_DOMAIN
from governance_pipeline.confidence.bulk.columns import CORRECT, DOMAINS, ERROR, NONE, SEAL
from governance_pipeline.confidence.bulk.grouping import DAYS, NEVER, Groups, grouped, runs, streaks_before
from governance_pipeline.confidence.bulk.walking import Walk, walked
from governance_pipeline.confidence.deltas import streak_gain
from governance_pipeline.confidence.state import DomainState

if TYPE_CHECKING:
    from governance_pipeline.confidence.bulk.block import Block
    from governance_pipeline.confidence.bulk.columns import Columns
    from governance_pipeline.confidence.state import State

    Ints = np.ndarray[Any, np.dtype[Any]]

_GAIN: Final = np.array([streak_gain(streak) for streak in range(len(STREAK_TOTAL))], dtype=np.int32)
_UNTOUCHED: Final = DomainState()


class Rows(NamedTuple):
    """Scored rows, track after track, domain after domain, each in the order of the fold.

    Attributes:
        groups: by track and domain (track times five plus domain); places are those in the block.
        place: of the event of each row among all events.
        after: score after each row.
        applied: what the row really changed.
        cells: rows by day of a group; which one each row is in.
        cell_day, cell_owner: day of each cell, and where in `groups` its group is.
        streak, evaluations: of each group after its last row.
        initial: state of each group before its first row.
    """

    groups: Groups
    place: Ints
    after: Ints
    applied: Ints
    cells: Groups
    cell_day: Ints
    cell_owner: Ints
    streak: Ints
    evaluations: Ints
    initial: list[DomainState]


class _Given(NamedTuple):
    """Rows before they are put into groups: event in the block, group counted from the block's first, seal's delta."""

    event: Ints
    group: Ints
    seal_delta: Ints | None


def rows_of(columns: Columns, block: Block, start: State) -> Rows:
    """Score the events of a block, from an earlier state on."""
    first_group = int(block.tracks.names[0]) * len(DOMAINS)
    given = _given(columns, block, first_group)
    local = grouped(given.group)
    event = given.event[local.places]
    groups = local._replace(places=event, group=local.group + first_group, names=local.names + first_group)
    kind, place = block.kind[event], block.tracks.places[event]
    initial = [_initial(columns, start, int(name)) for name in groups.names]
    before = streaks_before(groups, kind == CORRECT, kind == ERROR, _numbers(initial, "streak"))
    delta = np.where(kind == CORRECT, _GAIN[np.minimum(before, len(_GAIN) - 1)], block.delta[event])
    earned = block.halves[event]
    if given.seal_delta is not None:
        delta = np.where(kind == SEAL, given.seal_delta[local.places], delta)
    counted = _numbers(initial, "evaluations")
    warm = place <= _warm_until(columns, block, start, groups, place, earned, counted)
    cells = _cells(groups, block.day[event])
    cell_owner = np.searchsorted(groups.starts, cells.places[cells.starts], side="right") - 1
    cell_day = block.day[event[cells.places[cells.starts]]]
    cell = np.empty(len(event), dtype=np.int32)
    cell[cells.places] = cells.group
    score = _numbers(initial, "score")
    walk = Walk(groups.starts, groups.sizes, score, _nets(start, initial, cell_owner, cell_day), cell, delta, warm)
    after = walked(walk)
    applied = np.diff(after, prepend=np.int32(0))
    applied[groups.starts] = after[groups.starts] - score
    streak = groups.last(np.where(kind == ERROR, 0, before + (kind == CORRECT)))
    total = counted + groups.sum(earned)
    return Rows(groups, place, after, applied, cells, cell_day, cell_owner, streak, total, initial)


def seal_deltas(columns: Columns, place: int) -> list[tuple[int, int]]:
    """Return code and delta of each domain both sides of a seal judged, in order of the domains."""
    event = columns.seals[place]
    own = event.self_score if isinstance(event.self_score, dict) else {}
    users = event.user_score if isinstance(event.user_score, dict) else {}
    return [
        (code, (users[domain] - own[domain]) * 5)  # half of the hundredths, in thousandths
        for code, domain in enumerate(DOMAINS)
        if domain in own and domain in users
    ]


def _given(columns: Columns, block: Block, first_group: int) -> _Given:
    """List the rows: one for each event that is no seal, one for each domain that both sides of a seal judged."""
    group = block.tracks.group * np.int32(len(DOMAINS)) + block.domain - np.int32(first_group)
    seals = np.flatnonzero(block.kind == SEAL) if columns.seals else np.zeros(0, dtype=np.int64)
    if not len(seals):
        return _Given(np.arange(len(group), dtype=np.int32), group, None)
    added = [
        (at, int(block.tracks.group[at]) * len(DOMAINS) + code - first_group, raw)
        for at in seals.tolist()
        for code, raw in seal_deltas(columns, int(block.tracks.places[at]))
    ]
    events, number = np.flatnonzero(block.kind != SEAL), np.array(added, dtype=np.int32).reshape(len(added), 3)
    event = np.concatenate((events, number[:, 0]))
    order = np.argsort(event, kind="stable")
    delta = np.concatenate((np.zeros(len(events), dtype=np.int32), number[:, 2]))
    return _Given(event[order], np.concatenate((group[events], number[:, 1]))[order], delta[order])


def _initial(columns: Columns, start: State, group: int) -> DomainState:
    track, domain = divmod(group, len(DOMAINS))
    known = start.tracks.get(columns.tracks[track])
    return known.domains[DOMAINS[domain]] if known else _UNTOUCHED


def _numbers(initial: list[DomainState], name: str) -> Ints:
    return np.array([getattr(state, name) for state in initial], dtype=np.int32)


def _nets(start: State, initial: list[DomainState], owner: Ints, day: Ints) -> Ints:
    """Return the net each day has from an earlier fold."""
    nets = np.zeros(len(day), dtype=np.int32)
    if start.tracks:
        known = zip(owner.tolist(), day.tolist(), strict=True)
        nets[:] = [initial[at].days[on].net if on in initial[at].days else 0 for at, on in known]
    return nets


def _warm_until(
    columns: Columns, block: Block, start: State, groups: Groups, place: Ints, earned: Ints, counted: Ints
) -> Ints:
    """Return for each row the place of the event that ends its track's warm-up: NONE if over before, NEVER if open."""
    tracks = block.tracks
    first, number = int(tracks.names[0]), int(tracks.names[-1] - tracks.names[0]) + 1
    of_domain = np.full((number, len(DOMAINS)), NEVER, dtype=np.int64)
    total = np.zeros(number, dtype=np.int64)
    for code in tracks.names.tolist() if start.tracks else ():
        known = start.tracks.get(columns.tracks[code])
        if known is not None:
            total[code - first] = known.evaluations
            over = [known.domains[name].evaluations >= WARM_UP_PER_DOMAIN for name in DOMAINS]
            of_domain[code - first, over] = NONE
    sofar = groups.before(earned) + groups.spread(counted)
    crossing = np.flatnonzero((sofar < WARM_UP_PER_DOMAIN) & (sofar + earned >= WARM_UP_PER_DOMAIN))
    of_domain.reshape(-1)[groups.group[crossing] - first * len(DOMAINS)] = place[crossing]
    sofar = tracks.before(block.halves) + tracks.spread(total[tracks.names - first])
    crossing = np.flatnonzero((sofar < WARM_UP_EVALUATIONS) & (sofar + block.halves >= WARM_UP_EVALUATIONS))
    of_all = np.where(total >= WARM_UP_EVALUATIONS, NONE, NEVER)
    of_all[tracks.group[crossing] - first] = tracks.places[crossing]
    until = np.maximum(of_domain.max(axis=1), of_all)
    return groups.spread(until[groups.names // len(DOMAINS) - first])


def _cells(groups: Groups, day: Ints) -> Groups:
    """Put rows into the days of their groups; a day that is returned to is the same one."""
    is_same = groups.group[1:] == groups.group[:-1]
    if not np.any(is_same & (day[1:] < day[:-1])):
        is_new = np.ones(len(day), dtype=np.bool_)
        is_new[1:] = ~is_same | (day[1:] != day[:-1])
        return runs(np.cumsum(is_new, dtype=np.int32) - 1, np.arange(len(day)))
    _, inverse = np.unique(groups.group.astype(np.int64) * DAYS + day, return_inverse=True)
    return grouped(inverse.astype(np.int32))
