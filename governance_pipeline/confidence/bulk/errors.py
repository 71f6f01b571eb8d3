"""What each accepted error costs before caps, and whether it counts, of all errors at once.

What belongs here: the steps of spec/confidence.md §11.2 and §11.3, by the first accepted error of each kind. What does
not: which errors are accepted (`guards`), and caps (`walking`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from governance_pipeline.confidence.amounts import EXCUSE_EXTRA, REPEAT_DELTA
from governance_pipeline.confidence.bulk.columns import ERROR, NONE
from governance_pipeline.confidence.bulk.grouping import NEVER, FirstPlaces
from governance_pipeline.confidence.deltas import EXCUSE

if TYPE_CHECKING:
    from collections.abc import Callable

    from governance_pipeline.confidence.bulk.columns import Columns
    from governance_pipeline.confidence.state import Incident, State, Subject

    Ints = np.ndarray[Any, np.dtype[Any]]

_ANOTHER = -2
"""Code of an incident that is none of these events'."""


class Errors(NamedTuple):
    """Accepted errors.

    Attributes:
        places: of the errors, ascending.
        delta: before caps.
        is_counted: the first error of its subject in its cluster, or of no cluster.
    """

    places: Ints
    delta: Ints
    is_counted: Ints


def errors_of(columns: Columns, start: State, accepted: Ints) -> Errors:
    """Return what the accepted errors cost, by all that happened before each."""
    places = np.flatnonzero((columns.kind == ERROR) & accepted)
    delta = columns.amount[places]
    if not len(places):
        return Errors(places, delta, np.zeros(0, dtype=np.bool_))
    view = _View(columns, start, places)
    delta = np.where(view.is_repeated() & (delta != REPEAT_DELTA), REPEAT_DELTA, delta)
    delta = np.where(view.is_excused() & (delta != REPEAT_DELTA), np.maximum(delta - EXCUSE_EXTRA, REPEAT_DELTA), delta)
    delta = np.where(view.is_halved(), delta // 2, delta)
    return Errors(places, delta.astype(np.int32), view.is_counted())


class _View:
    """Accepted errors with what identifies each."""

    def __init__(self, columns: Columns, start: State, places: Ints) -> None:
        self._columns, self._start, self._places = columns, start, places
        self._subject = columns.subject_of[columns.track[places]].astype(np.int64)
        self._session, self._pattern = columns.session[places].astype(np.int64), columns.pattern[places]
        self._cluster = columns.cluster[places]
        self._incident = np.where(self._cluster != NONE, self._cluster, len(columns.clusters) + places)
        self._clusters = {name: code for code, name in enumerate(columns.clusters)}

    def is_repeated(self) -> Ints:
        """Tell which are another incident of a pattern that was met in the same session before."""
        patterns = len(self._columns.patterns)

        def known(subject: Subject, key: int) -> Incident | None:
            session, pattern = divmod(key, patterns)
            return subject.first_incident.get((self._columns.sessions[session], self._columns.patterns[pattern]))

        return self._is_other(self._pattern != NONE, self._session * patterns + self._pattern, known)

    def is_excused(self) -> Ints:
        """Tell which are another incident of EXCUSE than the subject's first."""
        code = self._columns.patterns.index(EXCUSE) if EXCUSE in self._columns.patterns else _ANOTHER
        zero = np.zeros(len(self._places), dtype=np.int64)
        return self._is_other(self._pattern == code, zero, lambda subject, _: subject.first_excuse)

    def is_halved(self) -> Ints:
        """Tell which are derived from a root that was accepted before."""
        chained = np.flatnonzero(self._cluster != NONE)
        places = self._places[chained]
        firsts = FirstPlaces(self._cluster[chained], places)
        first = firsts.of_keys(self._columns.is_root[places])
        first[[self._columns.clusters[code] in self._start.roots for code in firsts.keys]] = NONE
        found = np.zeros(len(self._places), dtype=np.bool_)
        found[chained] = self._columns.is_derived[places] & (firsts.spread(first) < places)
        return found

    def is_counted(self) -> Ints:
        """Tell which are no further error of their subject in a cluster."""
        chained = np.flatnonzero(self._cluster != NONE)
        places, number = self._places[chained], len(self._columns.clusters)
        firsts = FirstPlaces(self._subject[chained] * max(number, 1) + self._cluster[chained], places)
        first = firsts.of_keys(np.ones(len(places), dtype=np.bool_))
        for place, key in enumerate(firsts.keys):
            subject = self._start.subjects.get(self._columns.subjects[int(key) // number])
            if subject is not None and self._columns.clusters[int(key) % number] in subject.clusters:
                first[place] = NONE
        found = np.ones(len(self._places), dtype=np.bool_)
        found[chained] = firsts.spread(first) == places
        return found

    def _is_other(self, concerns: Ints, keys: Ints, known: Callable[[Subject, int], Incident | None]) -> Ints:
        """Tell which are another incident than the first of their subject and key, the earlier fold's included."""
        rows = np.flatnonzero(concerns)
        width = int(keys.max(initial=0)) + 1
        firsts = FirstPlaces(self._subject[rows] * width + keys[rows], rows)
        first = firsts.of_keys(np.ones(len(rows), dtype=np.bool_))
        incident = self._incident[np.where(first == NEVER, 0, first)]
        for place, key in enumerate(firsts.keys if self._start.subjects else ()):
            subject = self._start.subjects.get(self._columns.subjects[int(key) // width])
            earlier = known(subject, int(key) % width) if subject else None
            if earlier is not None:
                incident[place] = self._clusters.get(earlier.name, _ANOTHER) if earlier.is_cluster else _ANOTHER
        found = np.zeros(len(self._places), dtype=np.bool_)
        found[rows] = firsts.spread(incident) != self._incident[rows]
        return found
