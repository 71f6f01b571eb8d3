"""The arrays of a fold written into a state, so that it can be saved, shown and taken up.

What belongs here: the same entries `confidence.fold` makes, once for all events. What does not: working them out.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from governance_pipeline.confidence.bulk.columns import (
    BONUS,
    DOMAINS,
    NONE,
    SEAL,
    Columns,
)
from governance_pipeline.confidence.bulk.grouping import DAYS, grouped
from governance_pipeline.confidence.bulk.guards import subject_days
from governance_pipeline.confidence.deltas import EXCUSE
from governance_pipeline.confidence.fold import CHEERLEAD
from governance_pipeline.confidence.rows import Seal
from governance_pipeline.confidence.state import Day, Incident, Subject, Track

if TYPE_CHECKING:
    from collections.abc import Callable

    from governance_pipeline.confidence.bulk.folding import Folding
    from governance_pipeline.confidence.bulk.scored import Scored
    from governance_pipeline.confidence.event import Event
    from governance_pipeline.confidence.state import State

    Ints = np.ndarray[Any, np.dtype[Any]]


def write_state(columns: Columns, folding: Folding, state: State, event_of: Callable[[str], Event]) -> list[Seal]:
    """Write what was folded into the state it was folded from; returns the seals, in the order of the fold.

    Args:
        columns: the events.
        folding: what they fold to, from this state.
        state: changed in place.
        event_of: gives an event by its id, also one of an earlier fold.
    """
    accepted = np.flatnonzero(folding.reasons == NONE)
    _write_subjects(columns, state, accepted)
    _write_errors(columns, state, folding.errors.places)
    for block in folding.blocks:
        _write_tracks(columns, block, state)
        _write_domains(columns, block, state)
        _write_days(columns, block, state)
    _write_pairs_of_seals(columns, folding, state)
    return _write_open_days(columns, state, accepted, event_of)


def _write_subjects(columns: Columns, state: State, accepted: Ints) -> None:
    by_subject = grouped(columns.subject_of[columns.track[accepted]], accepted)
    for name, last in zip(by_subject.names.tolist(), by_subject.last(by_subject.places).tolist(), strict=True):
        subject = state.subjects.setdefault(columns.subjects[name], Subject())
        subject.runtime, subject.has_events = columns.tracks[columns.track[last]].runtime, True
    bonuses = accepted[columns.kind[accepted] == BONUS]
    keys, counts = np.unique(subject_days(columns)[bonuses], return_counts=True)
    for key, number in zip(keys.tolist(), counts.tolist(), strict=True):
        known = state.subjects[columns.subjects[key // DAYS]].bonuses
        known[key % DAYS] = known.get(key % DAYS, 0) + number
    for place in accepted[columns.fact[accepted] != NONE].tolist():
        subject = state.subjects[columns.subjects[columns.subject_of[columns.track[place]]]]
        subject.facts.add(columns.facts[columns.fact[place]])


def _write_errors(columns: Columns, state: State, places: Ints) -> None:
    """Remember incidents; only errors with a pattern or a cluster leave anything."""
    marked = places[(columns.pattern[places] != NONE) | (columns.cluster[places] != NONE)]
    owner = columns.subject_of[columns.track[marked]].tolist()
    codes = (columns.session[marked].tolist(), columns.pattern[marked].tolist(), columns.cluster[marked].tolist())
    for place, by, session, pattern, cluster in zip(marked.tolist(), owner, *codes, strict=True):
        subject = state.subjects[columns.subjects[by]]
        incident = Incident(cluster != NONE, columns.clusters[cluster] if cluster != NONE else columns.event_id(place))
        if cluster != NONE:
            subject.clusters.add(incident.name)
            if columns.is_root[place]:
                state.roots.add(incident.name)
        if pattern != NONE:
            _remember(state, subject, columns.sessions[session], columns.patterns[pattern], incident)


def _remember(state: State, subject: Subject, session: str, pattern: str, incident: Incident) -> None:
    if pattern == CHEERLEAD:
        state.cheerled.add(session)
    if pattern == EXCUSE and subject.first_excuse is None:
        subject.first_excuse = incident
    subject.first_incident.setdefault((session, pattern), incident)
    if not incident.is_cluster or (pattern, incident.name) not in subject.pattern_clusters:
        subject.incidents[pattern] = subject.incidents.get(pattern, 0) + 1
    if incident.is_cluster:
        subject.pattern_clusters.add((pattern, incident.name))


def _write_tracks(columns: Columns, block: Scored, state: State) -> None:
    closings = block.closings
    numbers = (block.tracks, closings.current, closings.first_open, block.tasks, block.corrections, block.pairs,
               block.pairs_apart)  # fmt: skip
    for code, current, opened, *counts in zip(*(column.tolist() for column in numbers), strict=True):
        track = state.tracks.setdefault(columns.tracks[code], Track())
        track.current_day, track.first_open_day = current, opened
        track.tasks += counts[0]
        track.corrections += counts[1]
        track.pairs += counts[2]
        track.pairs_apart += counts[3]


def _write_pairs_of_seals(columns: Columns, folding: Folding, state: State) -> None:
    for place, event in columns.seals.items():
        own, users = event.self_score, event.user_score
        if folding.reasons[place] == NONE and isinstance(own, dict) and isinstance(users, dict):
            track = state.tracks[columns.tracks[columns.track[place]]]
            both = own.keys() & users.keys()
            track.pairs += len(both)
            track.pairs_apart += sum(abs(own[domain] - users[domain]) for domain in both)


def _write_domains(columns: Columns, block: Scored, state: State) -> None:
    recovered = block.recovered
    numbers = (block.groups, block.score, block.streak, block.evaluations, recovered.is_in_recovery,
               recovered.days_above)  # fmt: skip
    for group, score, streak, evaluations, is_in, above in zip(*(column.tolist() for column in numbers), strict=True):
        code, domain = divmod(group, len(DOMAINS))
        own = state.tracks[columns.tracks[code]].domains[DOMAINS[domain]]
        own.score, own.streak, own.evaluations = score, streak, evaluations
        own.is_in_recovery, own.days_above = is_in, above


def _write_days(columns: Columns, block: Scored, state: State) -> None:
    diverged = block.diverged
    numbers = (block.day_group, block.day, block.day_net, diverged.penalties, block.day_score, diverged.has_diverged)
    group, days = NONE, dict[int, Day]()
    for at, day, net, penalties, score, has_diverged in zip(*(column.tolist() for column in numbers), strict=True):
        if at != group:
            group, (code, domain) = at, divmod(at, len(DOMAINS))
            days = state.tracks[columns.tracks[code]].domains[DOMAINS[domain]].days
        known = days[day].net if day in days else 0
        days[day] = Day(known + net, penalties, score, has_diverged)


def _write_open_days(columns: Columns, state: State, accepted: Ints, event_of: Callable[[str], Event]) -> list[Seal]:
    """Add the ids of each day that is open, then seal those with a seal; every event of a sealed day precedes it."""
    keys, inverse = np.unique(subject_days(columns)[accepted], return_inverse=True)
    by_day = grouped(inverse, accepted)
    ends = (by_day.starts + by_day.sizes).tolist()
    for key, first, last in zip(keys.tolist(), by_day.starts.tolist(), ends, strict=True):
        name = (*columns.subjects[key // DAYS], key % DAYS)
        ids = state.open_days.setdefault(name, [])
        ids += [columns.event_id(place) for place in by_day.places[first:last].tolist()]
    sealing = accepted[columns.kind[accepted] == SEAL].tolist()
    return [_seal(columns.seals[place], state, event_of) for place in sealing]


def _seal(event: Event, state: State, event_of: Callable[[str], Event]) -> Seal:
    digested = state.open_days.pop((event.role, event.subject_id, event.day))
    state.subjects[(event.role, event.subject_id)].sealed.add(event.day)
    digest = hashlib.sha256()
    for one in digested:
        digest.update(event_of(one).canonical + b"\n")
    return Seal(event, len(digested), digest.hexdigest())
