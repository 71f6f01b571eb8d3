"""One look at all events of some rounds: steps, files, counts and rules together.

What belongs here: the order of reading, shared by the tables, the cross-checks and the explanation, so that all three
speak of the same numbers. What does not: any of these three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from governance_pipeline.trajectory.event_rows import EVENT_TABLES
from governance_pipeline.trajectory.events import Event, Events, Step, read_events
from governance_pipeline.trajectory.files import EventFiles, event_files
from governance_pipeline.trajectory.rules import RoundRules, refuse_strangers, rules_of
from governance_pipeline.trajectory.terms import Counted, Term, counted, repeated, terms_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.event_rows import Tables

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
    refuse_strangers({event.round_id for event in events.events}, rules)
    files = event_files(events.listed, [rules[event.round_id] for event in events.events])
    return Surface(rules, events, files, counted(files))
