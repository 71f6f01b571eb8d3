"""What the fold writes down: a row per scored domain of an event, alerts, seals.

What belongs here: the typed rows. What does not: how they look in a document (`replay_document`) or table. Amounts are
thousandths of a point, days are proleptic ordinals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from governance_pipeline.confidence.event import Event
    from governance_pipeline.confidence.state import TrackKey
    from governance_pipeline.confidence.terms import Adjustment, AlertKind, Domain


class EventRow(NamedTuple):
    """One per accepted event; of a seal, one per adjusted domain, or one whose domain, score and streak are None.

    Attributes:
        event: the event.
        domain: where it counted.
        raw: the delta as submitted.
        applied: the delta that was applied.
        reasons: the steps that changed it, in order.
        score, streak: of the domain after the event.
    """

    event: Event
    domain: Domain | None
    raw: int
    applied: int
    reasons: tuple[Adjustment, ...]
    score: int | None
    streak: int | None


class Alert(NamedTuple):
    """Something to look at: kind, track, domain, the day it is about, the event that showed it."""

    kind: AlertKind
    track: TrackKey
    domain: Domain
    day: int
    event_id: str


class Seal(NamedTuple):
    """One per sealed day of a subject: the sealing event, and the digest over so many events."""

    event: Event
    events: int
    digest: str
