"""One confidence event that keeps every rule of form, and its canonical bytes.

What belongs here: the typed event the fold reads. What does not: judging its form (`event_form`), and what it does to
a score (`fold`). Source: spec/confidence.md §1, §11 (order, digest) and §12 (fields).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.strict.canonical import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.confidence.terms import (
        ClusterRole,
        Domain,
        EventType,
        Quadrant,
        Role,
        Severity,
        Trigger,
    )

EVENT_SCHEMA = "govern/confidence-event/v1"


class Event(NamedTuple):
    """One event.

    Attributes:
        event_id: unique among all events.
        event_type: what happened.
        ts: instant in microseconds since 0001-01-01, so that instants compare whatever their spelling.
        day: the subject's local date, as a proleptic ordinal.
        session_id: of one session; None only in a seal.
        role: agent or user.
        subject_id: who is judged.
        runtime: `platform/model/thinking` of an agent; None for a user.
        domain: None only in a seal.
        severity: of an error, as the event gives it; None: its pattern gives it.
        pattern_code: the pattern it is an instance of.
        cluster_id: the causal chain an error belongs to.
        cluster_role: its place in that chain.
        quadrant: as the event says; it changes no score.
        trigger: what made somebody score.
        points: of a bonus or an exceptional event.
        self_score: own judgement in hundredths of a point; of a seal, by domain.
        user_score: the user's judgement, likewise.
        evidence: record or finding id.
        members: the members as they were read, nulls left out and numbers in their plain form.
    """

    event_id: str
    event_type: EventType
    ts: int
    day: int
    session_id: str | None
    role: Role
    subject_id: str
    runtime: str | None
    domain: Domain | None
    severity: Severity | None
    pattern_code: str | None
    cluster_id: str | None
    cluster_role: ClusterRole | None
    quadrant: Quadrant | None
    trigger: Trigger | None
    points: int | None
    self_score: int | Mapping[Domain, int] | None
    user_score: int | Mapping[Domain, int] | None
    evidence: str | None
    members: Mapping[str, Any]

    @property
    def canonical(self) -> bytes:
        """The RFC 8785 form without null members: what equality of two lines and the seal's digest go by."""
        return canonical_json(dict(self.members))

    @property
    def order(self) -> tuple[int, str]:
        """Place in the fold: the instant, then the id by code point."""
        return self.ts, self.event_id


class Line(NamedTuple):
    """An event with the SHA-256 of the line it was read from."""

    event: Event
    sha256: str


class Refused(NamedTuple):
    """One line that counts for nothing: its id where that is a valid one, the reason, the field it is about."""

    event_id: str | None
    reason: str
    field: str | None
    line_sha256: str
