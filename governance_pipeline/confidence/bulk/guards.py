"""Which events are refused because of earlier ones, of all events at once.

What belongs here: the guards of spec/confidence.md §11.5, §11.6 and §11.8. What does not: form and registry. Whether
an event is accepted depends on earlier events only, so there is exactly one set of refusals that follows from itself:
it is guessed, worked out from the guess, and guessed anew until nothing changes. Each turn settles at least the next
event in doubt; nearly always two or three settle all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from governance_pipeline.confidence.amounts import BONUSES_PER_DAY, STREAK_FOR_EXCEPTIONAL
from governance_pipeline.confidence.bulk.columns import BONUS, CORRECT, DOMAINS, ERROR, EXCEPTIONAL, NONE
from governance_pipeline.confidence.bulk.grouping import DAYS, FirstPlaces, grouped, streaks_before
from governance_pipeline.confidence.fold import CHEERLEAD
from governance_pipeline.confidence.terms import RefusalReason

if TYPE_CHECKING:
    from governance_pipeline.confidence.bulk.columns import Columns
    from governance_pipeline.confidence.state import State

    Ints = np.ndarray[Any, np.dtype[Any]]

REASONS: Final = tuple(RefusalReason)
_SEALED, _CHEERED, _SCORED, _LIMIT, _STREAK = (
    REASONS.index(reason)
    for reason in (
        RefusalReason.DAY_SEALED,
        RefusalReason.CHEERLEAD_GUARD,
        RefusalReason.FACT_ALREADY_SCORED,
        RefusalReason.BONUS_LIMIT,
        RefusalReason.STREAK_BELOW_3,
    )
)


def refusals(columns: Columns, start: State) -> Ints:
    """Return for each event its place in `REASONS`, or NONE where it is accepted."""
    reasons = np.where(_is_sealed(columns, start), np.int8(_SEALED), np.int8(NONE))
    guards = [
        guard for guard in (_Streak, _Limit, _Scored, _Cheered) if guard.concerns(columns)
    ]  # the last one that applies is written last, so the first reason stays
    asked = [guard(columns, start, reasons) for guard in guards]
    while asked:
        found = np.where(reasons == _SEALED, reasons, np.int8(NONE))
        for guard in asked:
            guard.refuse(reasons == NONE, found)
        if np.array_equal(found, reasons):
            break
        reasons = found
    return reasons


def subject_days(columns: Columns) -> Ints:
    """Return subject and day of each event as one number."""
    return columns.subject_of[columns.track].astype(np.int64) * DAYS + columns.day


def _is_sealed(columns: Columns, start: State) -> Ints:
    sealed: dict[int, int] = {}
    for code, name in enumerate(columns.subjects):
        subject = start.subjects.get(name)
        sealed.update((code * DAYS + day, NONE) for day in (subject.sealed if subject else ()))
    for place in columns.seals:
        key = int(columns.subject_of[columns.track[place]]) * DAYS + int(columns.day[place])
        sealed.setdefault(key, place)
    if not sealed:
        return np.zeros(columns.size, dtype=np.bool_)
    keys = np.array(sorted(sealed), dtype=np.int64)
    at = np.array([sealed[int(key)] for key in keys], dtype=np.int64)
    asked = subject_days(columns)
    nearest = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    found: Ints = (keys[nearest] == asked) & (np.arange(columns.size) > at[nearest])
    return found


class _Cheered:
    """An idea is not scored in a session in which somebody cheered before."""

    def __init__(self, columns: Columns, start: State, reasons: Ints) -> None:
        is_open = reasons == NONE
        code = columns.patterns.index(CHEERLEAD) if CHEERLEAD in columns.patterns else len(columns.patterns)
        is_cheer = (columns.kind == ERROR) & (columns.pattern == code)
        self._places = np.flatnonzero((columns.is_idea | is_cheer) & is_open)
        self._is_idea, self._is_cheer = columns.is_idea[self._places], is_cheer[self._places]
        self._keyed = FirstPlaces(columns.session[self._places], self._places)
        self._known = np.array([columns.sessions[code] in start.cheerled for code in self._keyed.keys], dtype=np.bool_)

    @staticmethod
    def concerns(columns: Columns) -> bool:
        return bool(columns.is_idea.any())

    def refuse(self, accepted: Ints, reasons: Ints) -> None:
        first = self._keyed.of_keys(self._is_cheer & accepted[self._places])
        first[self._known] = NONE
        late = self._is_idea & (self._keyed.spread(first) < self._places)
        reasons[self._places[late]] = _CHEERED


class _Scored:
    """A fact is scored once for a subject."""

    def __init__(self, columns: Columns, start: State, reasons: Ints) -> None:
        self._places = np.flatnonzero((columns.fact != NONE) & (reasons == NONE))
        subject = columns.subject_of[columns.track[self._places]].astype(np.int64)
        self._keyed = FirstPlaces(subject * len(columns.facts) + columns.fact[self._places], self._places)
        known = {
            code: start.subjects[name].facts for code, name in enumerate(columns.subjects) if name in start.subjects
        }
        pairs = (divmod(int(key), len(columns.facts)) for key in (self._keyed.keys if known else ()))
        is_known = [columns.facts[fact] in known.get(subject, ()) for subject, fact in pairs]
        self._known = np.array(is_known or [False] * len(self._keyed.keys), dtype=np.bool_)

    @staticmethod
    def concerns(columns: Columns) -> bool:
        return bool(columns.facts)

    def refuse(self, accepted: Ints, reasons: Ints) -> None:
        first = self._keyed.of_keys(accepted[self._places])
        first[self._known] = NONE
        late = self._keyed.spread(first) < self._places
        reasons[self._places[late]] = _SCORED


class _Limit:
    """Three bonuses of a subject count on a day."""

    def __init__(self, columns: Columns, start: State, reasons: Ints) -> None:
        places = np.flatnonzero((columns.kind == BONUS) & (reasons == NONE))
        keys, inverse = np.unique(subject_days(columns)[places], return_inverse=True)
        self._groups = grouped(inverse, places)
        initial = np.zeros(len(keys), dtype=np.int64)
        for place, key in enumerate(keys if start.subjects else ()):
            code, day = divmod(int(key), DAYS)
            subject = start.subjects.get(columns.subjects[code])
            initial[place] = subject.bonuses.get(day, 0) if subject else 0
        self._initial = self._groups.spread(initial)

    @staticmethod
    def concerns(columns: Columns) -> bool:
        return bool((columns.kind == BONUS).any())

    def refuse(self, accepted: Ints, reasons: Ints) -> None:
        places = self._groups.places
        is_over = self._initial + self._groups.before(accepted[places]) >= BONUSES_PER_DAY
        reasons[places[is_over]] = _LIMIT


class _Streak:
    """An exceptional event needs a streak of its domain before it."""

    def __init__(self, columns: Columns, start: State, reasons: Ints) -> None:
        is_exceptional = (columns.kind == EXCEPTIONAL) & (reasons == NONE)
        group = columns.track.astype(np.int64) * len(DOMAINS) + columns.domain
        asked = np.zeros(len(columns.tracks) * len(DOMAINS), dtype=np.bool_)
        asked[group[is_exceptional]] = True
        takes_part = is_exceptional | (np.isin(columns.kind, (CORRECT, ERROR)) & (reasons == NONE))
        places = np.flatnonzero(takes_part & asked[np.maximum(group, 0)])
        self._groups = grouped(group[places], places)
        kind = columns.kind[self._groups.places]
        self._is_correct, self._is_error, self._is_asked = kind == CORRECT, kind == ERROR, kind == EXCEPTIONAL
        self._initial = np.array([_initial_streak(columns, start, int(name)) for name in self._groups.names], np.int64)

    @staticmethod
    def concerns(columns: Columns) -> bool:
        return bool((columns.kind == EXCEPTIONAL).any())

    def refuse(self, accepted: Ints, reasons: Ints) -> None:
        counts = accepted[self._groups.places]
        streak = streaks_before(self._groups, self._is_correct & counts, self._is_error & counts, self._initial)
        is_low = self._is_asked & (streak < STREAK_FOR_EXCEPTIONAL)
        reasons[self._groups.places[is_low]] = _STREAK


def _initial_streak(columns: Columns, start: State, group: int) -> int:
    track, domain = divmod(group, len(DOMAINS))
    known = start.tracks.get(columns.tracks[track])
    return known.domains[DOMAINS[domain]].streak if known else 0
