"""Incidents: recorded in the ledger, shown in the incident log, and held together.

What belongs here: the event, adding one, and comparing ledger and log row by row. What does not: the form of the table
(`incident_log`), and which items must have a row (`incident_duties`). The ledger is the history: a row somebody edited
or wrote by hand is found, and taken over only when a person says so. Source: spec/framework.md §6.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.framework.folder import INCIDENT_LOG
from governance_pipeline.framework.incident_log import IncidentRow, read_rows, shown, with_rows
from governance_pipeline.framework.kept_text import read_text, rewrite
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry_history import project_id
from governance_pipeline.ledger.event import AlreadyRecorded, NewEvent
from governance_pipeline.ledger.verification import Fault
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.excerpt import is_said
from governance_pipeline.trust.dismissal_statement import read_date

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger

EVENT: Final = "INCIDENT_RECORDED"
"""Type of the event; the name stays for ever, because events do."""
SERVICE: Final = "service:governance-pipeline"
"""Actor of what a command records without anybody's signature."""
LOCK: Final = "incident-log"
CELL_CHARACTERS: Final = 2000
"""Longest text of a cell: a row a person reads, not a report."""

_ID_DIGITS: Final = 16


class IncidentCode(StrEnum):
    """Why an incident is refused; the codes never change their meaning."""

    RECORDED = "INCIDENT_RECORDED_BEFORE"


class State(StrEnum):
    """How a row of the ledger and a row of the log stand to each other."""

    IN_STEP = "in_step"
    NOT_IN_LOG = "not_in_log"
    NOT_IN_LEDGER = "not_in_ledger"
    EDITED = "edited"
    MISSING_ROW = "missing_row"


class Incident(NamedTuple):
    """One recorded incident: its id, the event, when and by whom it was recorded, the row, and what it is about."""

    incident_id: str
    seq: int
    at: datetime
    actor: str
    row: IncidentRow
    reference: str | None


class Standing(NamedTuple):
    """One incident as ledger and log have it: either may lack it; `line` is that of the log."""

    state: State
    incident: Incident | None
    logged: IncidentRow | None
    line: int | None


def incident_id(row: IncidentRow, reference: str | None = None) -> str:
    """Give the id of an incident: the beginning of the digest of its row as it is read back, and what it is about."""
    return f"incident-{sha256_hex(canonical_json([*shown(row), reference]))[:_ID_DIGITS]}"


def incident_event(
    folder: GovernedFolder, row: IncidentRow, actor: str, now: datetime, reference: str | None = None
) -> NewEvent:
    """Give the event of an incident; the same one is recorded once.

    Raises:
        UsageError: the day is none, or a text is blank or too long.
    """
    try:
        read_date(row.date)
    except ValueError as error:
        raise UsageError(str(error)) from None
    for name, value in zip(IncidentRow._fields, row, strict=True):
        if not is_said(value) or len(value) > CELL_CHARACTERS:
            raise UsageError(f"{name} of an incident is blank or longer than {CELL_CHARACTERS} characters")
    name = incident_id(row, reference)
    body: dict[str, Any] = {
        "project": project_id(folder), "incident_id": name, **shown(row)._asdict(), "reference": reference,
    }  # fmt: skip
    return NewEvent(EVENT, actor, body, now, f"incident:{sha256_hex(project_id(folder).encode())}:{name}")


def add_incident(
    folder: GovernedFolder, ledger: Ledger, row: IncidentRow, actor: str, now: datetime, reference: str | None = None
) -> Incident:
    """Record an incident and write its row into the log.

    Raises:
        FrameworkRefused: INCIDENT_RECORDED_BEFORE.
        UsageError: as `incident_event`.
        StorageError: ledger or log could not be written; an event without its row is written by the next command.
    """
    read_rows(read_text(folder, INCIDENT_LOG), INCIDENT_LOG)  # before anything is recorded: the log can take a row
    try:
        event = ledger.append_all([incident_event(folder, row, actor, now, reference)])[0]
    except AlreadyRecorded as recorded:
        message = f"this very incident is event {recorded.event.seq} already; say what is different about this one"
        raise FrameworkRefused(IncidentCode.RECORDED, message) from None
    keep_log_in_step(folder, ledger)
    return _incident(event)


def adopt_rows(folder: GovernedFolder, ledger: Ledger, actor: str, now: datetime) -> list[Incident]:
    """Record every row that only the log has, as it stands there; gives them.

    Raises:
        As `add_incident`.
    """
    strangers = [s.logged for s in standings(folder, ledger) if s.state in (State.NOT_IN_LEDGER, State.EDITED)]
    entries = [incident_event(folder, row, actor, now) for row in strangers if row is not None]
    return [_incident(event) for event in ledger.append_all(entries)] if entries else []


def keep_log_in_step(folder: GovernedFolder, ledger: Ledger) -> int:
    """Write into the log the recorded incidents it lacks; gives their number. No row that is there is touched."""

    def completed(text: str) -> str:
        missing = [
            s.incident.row for s in _compared(folder, ledger, text) if s.state is State.NOT_IN_LOG and s.incident
        ]
        counted.append(len(missing))
        return with_rows(text, missing, INCIDENT_LOG) if missing else text

    counted: list[int] = []
    if any(s.state is State.NOT_IN_LOG for s in standings(folder, ledger)):
        rewrite(folder, ledger, INCIDENT_LOG, LOCK, completed)
    return sum(counted)


def standings(folder: GovernedFolder, ledger: Ledger) -> list[Standing]:
    """Compare ledger and log: recorded incidents in their order, then the rows only the log has.

    Raises:
        FaultyFileError: the log has no table, or a broken row.
        StorageError: the ledger cannot be read.
    """
    return _compared(folder, ledger, read_text(folder, INCIDENT_LOG))


def read_incidents(folder: GovernedFolder, ledger: Ledger) -> tuple[list[Incident], list[Fault]]:
    """Give the recorded incidents of a folder, oldest first, and the events that cannot be used."""
    found, unusable, project = list[Incident](), list[Fault](), project_id(folder)
    for event in ledger.events(types={EVENT}):
        if event.body.get("project") != project:
            continue
        try:
            found.append(_incident(event))
        except (LookupError, TypeError) as error:
            unusable.append(Fault(event.seq, "unusable", f"it does not hold what a {EVENT} needs ({error!r})"))
    return found, unusable


def _incident(event: Event) -> Incident:
    body = event.body
    texts = [body[name] for name in ("incident_id", *IncidentRow._fields)]
    if any(type(text) is not str for text in texts):
        raise TypeError("a text is missing")
    reference = body.get("reference")
    return Incident(
        texts[0],
        event.seq,
        event.ts,
        event.actor,
        IncidentRow(*texts[1:]),
        None if reference is None else str(reference),
    )


def _compared(folder: GovernedFolder, ledger: Ledger, text: str) -> list[Standing]:
    lines: dict[IncidentRow, list[int]] = {}
    for logged in read_rows(text, INCIDENT_LOG):
        lines.setdefault(logged.row, []).append(logged.line)
    found, missing = list[Standing](), list[Incident]()
    for incident in read_incidents(folder, ledger)[0]:
        if lines.get(incident.row):
            found.append(Standing(State.IN_STEP, incident, incident.row, lines[incident.row].pop(0)))
        else:
            missing.append(incident)
    strangers = sorted((line, row) for row, of_row in lines.items() for line in of_row)
    for incident in missing:
        edited = next((one for one in strangers if one[1][:2] == incident.row[:2]), None)
        if edited is None:
            found.append(Standing(State.NOT_IN_LOG, incident, None, None))
        else:
            strangers.remove(edited)
            found.append(Standing(State.EDITED, incident, edited[1], edited[0]))
    return [*found, *(Standing(State.NOT_IN_LEDGER, None, row, line) for line, row in strangers)]
