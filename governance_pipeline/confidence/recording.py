"""Recording events: each is judged at its place in time, and kept only if the fold accepts it there.

What belongs here: what one event, or many in order, do to a store, within its transaction. What does not: opening it
(`store_file`), its lines (`stored_lines`) and saved states (`checkpoints`).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.confidence import checkpoints
from governance_pipeline.confidence.bulk.long_histories import fold_states
from governance_pipeline.confidence.event import Line, Refused
from governance_pipeline.confidence.fold import Folded, fold
from governance_pipeline.confidence.reading import judge
from governance_pipeline.confidence.stored_lines import finder, insert, known_line, last_order, lines_between
from governance_pipeline.confidence.terms import RefusalReason
from governance_pipeline.errors import UsageError
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from governance_pipeline.confidence.event import Event
    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.rows import Alert, EventRow, Seal


class EventRefused(UsageError):  # noqa: N818 - a refusal with a reason code
    """An event the rules refuse; nothing was recorded. Holds the reason and the field it is about."""

    def __init__(self, refused: Refused) -> None:
        self.refused = refused
        where = f" ({refused.field})" if refused.field else ""
        super().__init__(f"event {refused.event_id or '?'} is refused: {refused.reason}{where}; nothing was recorded")


class Recorded(NamedTuple):
    """What one event did: its rows, alerts and seal, and the state after it. `is_new` is false for a repeated line."""

    event: Event
    rows: Sequence[EventRow]
    alerts: Sequence[Alert]
    seals: Sequence[Seal]
    is_new: bool


def append_one(database: sqlite3.Connection, data: bytes, registry: Registry) -> Recorded:
    """Record one line, wherever it belongs in time; raises EventRefused when a rule refuses it."""
    judged = judge(parse_json(data), hashlib.sha256(data).hexdigest(), registry)
    if isinstance(judged, Refused):
        raise EventRefused(judged)
    known = known_line(database, judged.event.event_id, registry)
    if known is None:
        return _record(database, judged, data, registry)
    if known.event.canonical != judged.event.canonical:
        reason = RefusalReason.CONFLICTING_EVENT_ID
        raise EventRefused(Refused(judged.event.event_id, reason, None, judged.sha256))
    return Recorded(known.event, (), (), (), False)


def _record(database: sqlite3.Connection, judged: Line, data: bytes, registry: Registry) -> Recorded:
    event = judged.event
    folded = folded_from(database, registry, checkpoints.newest(database))
    subject = folded.state.subjects.get((event.role, event.subject_id))
    if subject is not None and event.day in subject.sealed:  # whatever its instant: a sealed day is immutable
        raise EventRefused(Refused(event.event_id, RefusalReason.DAY_SEALED, None, judged.sha256))
    is_last = last_order(database) < event.order
    if not is_last:
        folded = folded_from(database, registry, checkpoints.newest(database, event.order), up_to=event.order)
    before = len(folded.events), len(folded.alerts), len(folded.seals), len(folded.refused)
    folded = fold([judged], registry, folded, finder(database, registry))
    if len(folded.refused) > before[3]:
        raise EventRefused(folded.refused[-1])
    insert(database, data, event)
    checkpoints.void_from(database, event.order)
    if is_last and folded.accepted >= checkpoints.SPACING:
        checkpoints.save(database, folded.state, event.order)
    return Recorded(
        event, folded.events[before[0] :], folded.alerts[before[1] :], folded.seals[before[2] :], is_new=True
    )


def append_in_order(
    database: sqlite3.Connection, lines: Sequence[bytes], registry: Registry
) -> list[Recorded | Refused] | None:
    """Record lines that follow all others, in one fold of them all; None when they do not, and nothing is recorded.

    Returns:
        Per line what it did, or why it is refused.
    """
    judged = [judge(parse_json(line), hashlib.sha256(line).hexdigest(), registry) for line in lines]
    orders = [last_order(database), *(one.event.order for one in judged if isinstance(one, Line))]
    if any(not before < after for before, after in pairwise(orders)):
        return None
    if any(isinstance(one, Line) and known_line(database, one.event.event_id, registry) for one in judged):
        return None
    folded = folded_from(database, registry, checkpoints.newest(database))
    number = checkpoints.events_of(database) + len(lines)
    done: list[Recorded | Refused] = []
    stops = {len(lines) - distance for distance in checkpoints.distances(number)}
    for first, last in pairwise(sorted({0, len(lines), *(stop for stop in stops if stop > 0)})):
        done += _fold_part(database, judged[first:last], lines[first:last], registry, folded)
        if number >= checkpoints.SPACING and folded.state.subjects:
            checkpoints.save(database, folded.state, last_order(database))
        folded = Folded(state=folded.state)
    return done


def _fold_part(
    database: sqlite3.Connection,
    judged: Sequence[Line | Refused],
    lines: Sequence[bytes],
    registry: Registry,
    folded: Folded,
) -> Iterator[Recorded | Refused]:
    """Fold neighbours and record those that are accepted."""
    sound = [one for one in judged if isinstance(one, Line)]
    before = len(folded.events), len(folded.alerts), len(folded.seals), len(folded.refused)
    fold(sound, registry, folded, finder(database, registry))
    refused = {one.line_sha256: one for one in folded.refused[before[3] :]}
    rows, alerts, seals = defaultdict[str, list](list), defaultdict[str, list](list), defaultdict[str, list](list)
    for row in folded.events[before[0] :]:
        rows[row.event.event_id].append(row)
    for alert in folded.alerts[before[1] :]:
        alerts[alert.event_id].append(alert)
    for seal in folded.seals[before[2] :]:
        seals[seal.event.event_id].append(seal)
    for one, line in zip(judged, lines, strict=True):
        if isinstance(one, Refused) or one.sha256 in refused:
            yield one if isinstance(one, Refused) else refused[one.sha256]
            continue
        insert(database, line, one.event)
        event_id = one.event.event_id
        yield Recorded(one.event, rows[event_id], alerts[event_id], seals[event_id], is_new=True)


def folded_from(
    database: sqlite3.Connection,
    registry: Registry,
    start: checkpoints.Checkpoint,
    up_to: tuple[int, str] | None = None,
    *,
    has_rows: bool = True,
) -> Folded:
    """Fold what was recorded after a checkpoint; without rows, many events at once."""
    lines = lines_between(database, registry, start.order, up_to)
    make = fold if has_rows else fold_states
    return make(lines, registry, Folded(state=start.state), finder(database, registry))
