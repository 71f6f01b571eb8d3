"""The change events of rounds, and the steps they make.

What belongs here: which lines or edits are one event, and which event a step has. What does not: what an event says
about surface (`terms`). A step is one event of `changes.jsonl`; byte-identical lines count once, and a step that
several different lines give has none of them. Only a round without that file takes its steps from its logs: one event
per run step with edits, numbered from 1 in the order of run id and step of the run. Source: spec/trajectory.md §1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from governance_pipeline.strict.text_codes import text_codes
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.vocabulary import Disposition

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    Tables = Mapping[str, pd.DataFrame]

CHANGES_FILE: Final = "changes.jsonl"
EVIDENCE_FILE: Final = "evidence.jsonl"

EVENT_TABLES: Final = ("raw_log_files", "core_changes", "core_file_changes", "core_steps")
"""Tables `read_events` reads."""

_LISTED: Final = ["event", "file_path", "added_count", "deleted_count", "module"]
_NATIVE_KEY: Final = ["round_id", "path", "line"]
_LOG_KEY: Final = ["round_id", "run_id", "step_index"]


class Origin(StrEnum):
    """Where the steps of a round come from."""

    NATIVE = "native"
    LOG = "log"


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
    changes = tables["core_changes"].sort_values(_NATIVE_KEY, kind="stable")
    natives = native_rounds(tables)
    first = changes.drop_duplicates(["round_id", "line_sha256"]).sort_values(["round_id", "step_index", "line"])
    events = [_native(row) for row in rows_of(first)]
    files = tables["core_file_changes"]
    listed = [_listed(files[files["origin"] == Origin.NATIVE], first, _NATIVE_KEY, 0)]
    edits = files[(files["origin"] == Origin.LOG) & ~files["round_id"].isin(natives)]
    logged = _logged(edits, tables["core_steps"])
    listed.append(_listed(edits, logged, _LOG_KEY, len(events)))
    events += [_from_log(row) for row in rows_of(logged)]
    together = pd.concat([part for part in listed if len(part)] or listed[:1], ignore_index=True)
    return Events(events, _steps(events, changes), together)


def native_rounds(tables: Tables) -> set[str]:
    """Give the rounds that have a `changes.jsonl`, an empty or unreadable one included."""
    files = tables["raw_log_files"]
    return {*files.loc[files["path"] == CHANGES_FILE, "round_id"], *tables["core_changes"]["round_id"]}


def quarantined_lines(raw_quarantine: pd.DataFrame, file: str) -> dict[str, int]:
    """Count the lines of a native file that could not be used: round id -> count, rounds without any left out."""
    broken = raw_quarantine[
        (raw_quarantine["disposition"] == Disposition.QUARANTINED) & (raw_quarantine["path"] == file)
    ]
    return {str(round_id): int(lines) for round_id, lines in broken.groupby("round_id").size().items()}


def _logged(edits: pd.DataFrame, core_steps: pd.DataFrame) -> pd.DataFrame:
    """One row per run step with edits: where its first edit stands, when it was, and the step of the round it makes."""
    coded = edits.assign(run=text_codes(edits["run_id"])[0])
    ordered = coded.sort_values(["round_id", "run", "step_index", "change_index"], kind="stable")
    first = ordered.drop_duplicates(["round_id", "run", "step_index"])
    first = first.assign(step=first.groupby("round_id").cumcount() + 1)
    return first.merge(core_steps[[*_LOG_KEY, "at"]], on=_LOG_KEY, how="left")


def _listed(files: pd.DataFrame, events: pd.DataFrame, key: list[str], offset: int) -> pd.DataFrame:
    """File rows with the position of the event they belong to, in the order the event lists them."""
    positions = events[key].assign(event=range(offset, offset + len(events)))
    joined = files.merge(positions, on=key, how="inner")
    return joined.sort_values(["event", "change_index"], kind="stable")[_LISTED]


def _native(row: Mapping[str, Any]) -> Event:
    return Event(
        round_id=row["round_id"],
        step=row["step_index"],
        origin=Origin.NATIVE,
        run_id=row["run_id"],
        at=row["at"],
        path=row["path"],
        file_sha256=row["file_sha256"],
        line=row["line"],
        run_step=None,
        has_files=row["has_files"],
        declared=Declared(
            row["files_count"],
            row["churn_count"],
            row["modules_count"],
            row["public_count"],
            row["entropy_lexeme"],
        ),
    )


def _from_log(row: Mapping[str, Any]) -> Event:
    return Event(
        round_id=row["round_id"],
        step=row["step"],
        origin=Origin.LOG,
        run_id=row["run_id"],
        at=row["at"],
        path=row["path"],
        file_sha256=row["file_sha256"],
        line=row["line"],
        run_step=row["step_index"],
        has_files=True,
        declared=Declared(),
    )


def _steps(events: list[Event], changes: pd.DataFrame) -> list[Step]:
    lines = changes.groupby(["round_id", "step_index"]).size().to_dict()
    steps: dict[tuple[str, int], Step] = {}
    for position, event in enumerate(events):
        key = (event.round_id, event.step)
        if key not in steps:
            steps[key] = Step(*key, lines=lines.get(key, 1))
        steps[key].events.append(position)
    return [steps[key] for key in sorted(steps)]
