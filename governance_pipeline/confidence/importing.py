"""Importing a round's confidence.jsonl: what a person takes over from a file an agent could have written.

What belongs here: which lines are an agent's word about itself, recording the others, and the ledger's event. What does
not: the rules of events (`event_form`) and of the fold. Source: spec/confidence.md §1, spec/ingest.md §1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.confidence.event import EVENT_SCHEMA, Refused
from governance_pipeline.confidence.plain_numbers import as_written
from governance_pipeline.confidence.registry import REGISTRY_SCHEMA
from governance_pipeline.confidence.terms import EventType, Role
from governance_pipeline.errors import UsageError
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.records import Accepted, Blank, read_json_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.confidence.store import EventStore
    from governance_pipeline.ledger.ledger import Ledger

IMPORTED: Final = "CONFIDENCE_IMPORTED"
"""Type of the ledger's event; names stay for ever, because events do."""

SELF_REPORT: Final = "self_report"
_GAINS = frozenset({EventType.CORRECT, EventType.PRO_PATTERN, EventType.BONUS, EventType.EXCEPTIONAL})


class LeftOut(NamedTuple):
    """A line that was not recorded: its number, its id where it has one, and why."""

    line: int
    event_id: str | None
    reason: str


class Imported(NamedTuple):
    """What became of a file: lines recorded, lines recorded before, registry lines taken, and the others."""

    recorded: int
    known: int
    registered: int
    left_out: list[LeftOut]


def is_self_report(value: Mapping[str, Any], person: str) -> bool:
    """Tell whether an event is somebody's word about themselves, as far as the line shows.

    A gain of an agent that neither names evidence nor carries a user's judgement has only the agent behind it; the
    same holds for a judgement only its own side gave. A gain of the very person who imports it is theirs. A fault is
    taken: nobody gains by it.
    """
    is_gain = value.get("event_type") in list(_GAINS)
    if value.get("subject_id") == person:
        return is_gain
    if value.get("role") != Role.AGENT:
        return False
    if value.get("event_type") == EventType.SEAL:
        return value.get("user_score") is None
    has_judge = value.get("user_score") is not None
    if value.get("self_score") is not None and not has_judge:
        return True
    return is_gain and not has_judge and value.get("evidence") is None


def import_file(store: EventStore, path: Path, person: str, *, with_registry: bool = False) -> Imported:
    """Record the events of a file, in the order of the fold, each if the rules accept it.

    The same file again changes nothing.

    Args:
        store: where to.
        path: the file.
        person: who imports it.
        with_registry: take over its registry lines too; without, they are left out and named.

    Raises:
        UsageError: a registry line that is to be taken is broken or contradicts what is registered.
        FileRefused, StorageError: the file or the store cannot be used.
    """
    left_out: list[LeftOut] = []
    events: list[tuple[int, dict[str, Any]]] = []
    registered = 0
    for number, value in _objects(path, left_out):
        if value.get("schema") == REGISTRY_SCHEMA:
            if with_registry:
                registered += store.register({name: part for name, part in value.items() if name != "schema"})
            else:
                left_out.append(LeftOut(number, None, "registry_line"))
        elif is_self_report(value, person):
            left_out.append(LeftOut(number, _id_of(value), SELF_REPORT))
        else:
            events.append((number, value))
    recorded = known = 0
    events.sort(key=lambda one: (str(one[1].get("ts")), str(one[1].get("event_id"))))
    for (number, _), outcome in zip(events, store.take([value for _, value in events]), strict=True):
        if isinstance(outcome, Refused):
            left_out.append(LeftOut(number, outcome.event_id, str(outcome.reason)))
        else:
            recorded, known = recorded + outcome.is_new, known + (not outcome.is_new)
    return Imported(recorded, known, registered, sorted(left_out))


def record_import(ledger: Ledger, body: Mapping[str, Any], person: str, now: datetime) -> bool:
    """Append to the ledger that a person imported a file; False when it is there already.

    Args:
        ledger: where.
        body: `file_sha256`, `round_id` (or None), and what became of the lines.
        person: who.
        now: when.

    Raises:
        UsageError, StorageError: as `Ledger.append`.
    """
    try:
        ledger.append(IMPORTED, person, dict(body), ts=now, unique=f"confidence-import:{body['file_sha256']}")
    except AlreadyRecorded:
        return False
    return True


def imported_files(ledger: Ledger) -> set[str]:
    """Return the digests of the files people have imported.

    Raises:
        StorageError: the ledger cannot be read.
    """
    return {str(event.body.get("file_sha256")) for event in ledger.events(types={IMPORTED})}


def refuse_agent(person: str, agents: set[str]) -> None:
    """Refuse an agent that imports.

    Raises:
        UsageError: the name is that of a registered agent.
    """
    if person in agents:
        raise UsageError(f"{person} is a registered agent, and agents import nothing; let a person do it")


def _objects(path: Path, left_out: list[LeftOut]) -> list[tuple[int, dict[str, Any]]]:
    found = []
    for line in read_json_lines(path):
        if isinstance(line, Blank):
            continue
        number = line.line or 0
        if not isinstance(line, Accepted) or not isinstance(line.value, dict):
            left_out.append(LeftOut(number, None, "malformed_line"))
        elif line.value.get("schema") not in (EVENT_SCHEMA, REGISTRY_SCHEMA):
            left_out.append(LeftOut(number, None, "unknown_schema"))
        else:
            found.append((number, _plain(line.value)))
    return found


def _plain(value: Any) -> Any:
    """Return a value as the store writes it; a number no float holds exactly is in a list, which no field takes."""
    if isinstance(value, Lexeme):
        number = as_written(value)
        return [str(value)] if number is None else number
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _id_of(value: Mapping[str, Any]) -> str | None:
    name = value.get("event_id")
    return name if isinstance(name, str) and not isinstance(name, Lexeme) else None
