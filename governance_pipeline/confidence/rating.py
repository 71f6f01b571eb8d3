"""An event as a person states it: who is meant, in which runtime, on which day.

What belongs here: filling in what a short command leaves out, and refusing what is ambiguous. What does not: the rules
of events (`event_form`) and of the fold. Nothing is guessed: a default exists only where there is one possibility.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence.event import EVENT_SCHEMA
from governance_pipeline.confidence.measures import current_track
from governance_pipeline.confidence.terms import EventType, Role
from governance_pipeline.errors import UsageError
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.state import State


class Rated(NamedTuple):
    """Whom an event is about; None where the command did not say. A runtime is named for agents only."""

    role: Role | None = None
    subject_id: str | None = None
    runtime: str | None = None


def rating_event(
    event_id: str,
    event_type: EventType,
    rated: Rated,
    at: datetime,
    members: Mapping[str, Any],
    standing: tuple[Registry, State],
) -> dict[str, Any]:
    """Give the event of one rating, ready to be recorded.

    Args:
        event_id: a new one.
        event_type: what happened.
        rated: who is meant.
        at: when; its local date is the day, unless `members` say another one.
        members: the other members; None leaves one out.
        standing: what is registered, and scores so far (the last runtime of the agent).

    Raises:
        UsageError: nobody, or more than one, could be meant.
    """
    registry, state = standing
    role, subject_id = _who(rated, registry)
    found = {
        "schema": EVENT_SCHEMA,
        "event_id": event_id,
        "event_type": event_type.value,
        "ts": instant_text(at),
        "day": at.date().isoformat(),
        "role": role.value,
        "subject_id": subject_id,
        "runtime": _runtime(rated, role, subject_id, registry, state),
        **members,
    }
    return {name: value for name, value in found.items() if value is not None}


def _who(rated: Rated, registry: Registry) -> tuple[Role, str]:
    if rated.role is not None and rated.subject_id is not None:
        return rated.role, rated.subject_id
    agents = [subject for subject in registry.weights if subject[0] is Role.AGENT]
    if len(agents) == 1:
        return agents[0]
    known = ", ".join(sorted(subject_id for _, subject_id in agents)) or "none is registered"
    raise UsageError(f"whom is it about? Name --agent or --user; agents: {known}")


def _runtime(rated: Rated, role: Role, subject_id: str, registry: Registry, state: State) -> str | None:
    if role is Role.USER or rated.runtime is not None:
        return rated.runtime
    current = current_track(state, role, subject_id)
    if current is not None:
        return current[0].runtime
    if len(registry.pools) == 1:
        return next(iter(registry.pools))
    known = ", ".join(sorted(registry.pools)) or "none is registered"
    raise UsageError(f"in which runtime did agent {subject_id} work? Name --runtime; registered: {known}")
