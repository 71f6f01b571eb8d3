"""One look at all events of some rounds: steps, files, counts and rules together.

What belongs here: the order of reading, shared by the tables, the cross-checks and the explanation, so that all three
speak of the same numbers. What does not: any of these three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.trajectory.events import EVENT_TABLES, Event, Events, Step, read_events
from governance_pipeline.trajectory.files import EventFiles, event_files
from governance_pipeline.trajectory.rules import RoundRules, rules_of
from governance_pipeline.trajectory.terms import Counted, Term, counted, repeated, terms_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.events import Tables

READING_TABLES: Final = ("core_rounds", "core_criteria", *EVENT_TABLES)
"""Tables `read_surface` reads."""


@dataclass(frozen=True, slots=True)
class Surface:
    """Everything about the steps of some rounds but evidence.

    Attributes:
        rules: rules of each round, by round id; rounds without steps included.
        events: events, steps and listed files.
        files: distinct files of the events.
        counts: what the files of each event give; same order as `events.events`.
    """

    rules: Mapping[str, RoundRules]
    events: Events
    files: EventFiles
    counts: list[Counted]

    def terms(self, step: Step) -> dict[str, Term]:
        """Give F L M P D H of a step."""
        if step.event is None:
            return repeated()
        event = self.events.events[step.event]
        return terms_of(event, self.counts[step.event], self.rules[step.round_id])

    def first(self, step: Step) -> Event:
        """Give the first event of a step: the place a reader is sent to."""
        return self.events.events[step.events[0]]


def read_surface(tables: Tables) -> Surface:
    """Read the steps of every round of `tables` (`READING_TABLES`).

    Raises:
        UsageError: an event belongs to a round that `core_rounds` does not have.
    """
    rules = rules_of(tables["core_rounds"], tables["core_criteria"])
    events = read_events(tables)
    strangers = {event.round_id for event in events.events} - set(rules)
    if strangers:
        raise UsageError(f"core_rounds has no row of {sorted(strangers)[:5]}; give the tables of the same rounds")
    files = event_files(events.listed, [rules[event.round_id] for event in events.events])
    return Surface(rules, events, files, counted(files))
