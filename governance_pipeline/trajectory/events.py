"""The change events of rounds, and the steps they make.

What belongs here: events and steps as objects, and which event a step has. What does not: which rows of the tables
are an event (`event_rows`), and what an event says about surface (`terms`). A step that several different lines give
has none of them. Source: spec/trajectory.md §1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.trajectory.event_rows import Origin, event_rows
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.vocabulary import Disposition

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.trajectory.event_rows import Tables

EVIDENCE_FILE: Final = "evidence.jsonl"


class Declared(NamedTuple):
    """Numbers an event carries itself, None where it carries none; H as the text of its number."""

    F: int | None = None
    L: int | None = None
    M: int | None = None
    P: int | None = None
    H: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One change event: a line of `changes.jsonl`, or the edits of one step of a run.

    Attributes:
        round_id: its round.
        step: step of the round, from 1.
        origin: native or log.
        run_id: its run; None when a native event names none.
        at: when; None when unknown.
        path: source file below the round folder, with its digest `file_sha256`.
        line: physical line in it; None when it is one document.
        run_step: step of the run the edits belong to; None for a native event.
        has_files: it lists files, even none.
        declared: numbers it carries itself.
    """

    round_id: str
    step: int
    origin: Origin
    run_id: str | None
    at: datetime | None
    path: str
    file_sha256: str
    line: int | None
    run_step: int | None
    has_files: bool
    declared: Declared


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a round.

    Attributes:
        round_id: the round.
        number: t, from 1.
        events: positions of its different events in `Events.events`, in file order.
        lines: lines that give it, byte-identical ones included.
    """

    round_id: str
    number: int
    events: list[int] = field(default_factory=list)
    lines: int = 0

    @property
    def event(self) -> int | None:
        """Position of its event; None when different events claim the step."""
        return self.events[0] if len(self.events) == 1 else None


@dataclass(frozen=True, slots=True)
class Events:
    """The events of all rounds and what they list.

    Attributes:
        events: native ones by round, step and line, then those of logs by round and step.
        steps: the steps they make, by round and number.
        listed: one row per file an event lists: event (position), file_path, added_count, deleted_count, module.
    """

    events: list[Event]
    steps: list[Step]
    listed: pd.DataFrame


def read_events(tables: Tables) -> Events:
    """Read the events of every round from the tables `EVENT_TABLES`."""
    rows = event_rows(tables)
    events = [event_of_row(row) for row in rows_of(rows.events)]
    return Events(events, _steps(events, rows.lines.tolist()), rows.listed)


def quarantined_lines(raw_quarantine: pd.DataFrame, file: str) -> dict[str, int]:
    """Count the lines of a native file that could not be used: round id -> count, rounds without any left out."""
    broken = raw_quarantine[
        (raw_quarantine["disposition"] == Disposition.QUARANTINED) & (raw_quarantine["path"] == file)
    ]
    return {str(round_id): int(lines) for round_id, lines in broken.groupby("round_id").size().items()}


def event_of_row(row: Mapping[str, Any]) -> Event:
    """Make an event of a row of `EventRows.events`."""
    return Event(
        round_id=row["round_id"],
        step=row["step"],
        origin=Origin(row["origin"]),
        run_id=row["run_id"],
        at=row["at"],
        path=row["path"],
        file_sha256=row["file_sha256"],
        line=row["line"],
        run_step=row["run_step"],
        has_files=row["has_files"],
        declared=Declared(
            row["files_count"],
            row["churn_count"],
            row["modules_count"],
            row["public_count"],
            row["entropy_lexeme"],
        ),
    )


def _steps(events: list[Event], lines: list[int]) -> list[Step]:
    steps: dict[tuple[str, int], Step] = {}
    for position, event in enumerate(events):
        key = (event.round_id, event.step)
        if key not in steps:
            steps[key] = Step(*key, lines=lines[position])
        steps[key].events.append(position)
    return [steps[key] for key in sorted(steps)]
