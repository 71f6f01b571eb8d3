"""Escalation cases in the ledger: opened by the pipeline, acknowledged and resolved by people.

What belongs here: the events, opening what is not open yet, and the fold. What does not: which records make a case
(crosscheck), what people sign (`trust.case_statement`), and whether it counts: a fold believes nothing.

A case is known by its round and the digest of what it asks, so the same audit opens it once for ever, and a record
whose values changed is asked about anew under the same id. Source: spec/crosscheck.md §5, spec/gate.md §5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.ledger.event import AlreadyRecorded, NewEvent
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.ledger.verification import Fault
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust import dsse
from governance_pipeline.trust.case_statement import MISMATCH, CaseRecord, CaseRef, case_sha256
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.case_statement import Outcome

OPENER: Final = "service:governance-pipeline"
"""The principal that opens cases: the pipeline."""
RECORDS_PER_EVENT: Final = 4000
"""Records one event lists: each takes up to some 200 bytes, and an event at most 1 MiB. A larger case has parts."""
TRIES: Final = 100
"""How often opening is tried anew because something else was appended meanwhile."""

_NAME_CHARACTERS: Final = 200


class CaseEvent(StrEnum):
    """Types of the events of cases; names stay for ever, because events do."""

    OPENED = "CASE_OPENED"
    ACKNOWLEDGED = "CASE_ACKNOWLEDGED"
    RESOLVED = "CASE_RESOLVED"


@dataclass(frozen=True)
class Case:
    """One question to a person: a mismatch, or the numbers of one round, check and reason nobody could verify.

    Attributes:
        round_id: round it is of.
        case_id: `case-` and 64 hex digits: of a mismatch its record id, else the digest of what it asks.
        check_id: check that raised it, for people; None: unknown.
        field: declared field, for people; None: unknown.
        reason: `mismatch`, or the reason code.
        assignee: whom the check escalates to.
        records: what it is about; one of a mismatch.
    """

    round_id: str
    case_id: str
    check_id: str | None
    field: str | None
    reason: str
    assignee: str
    records: tuple[CaseRecord, ...]

    @property
    def is_mismatch(self) -> bool:
        """Whether two known numbers differ."""
        return self.reason == MISMATCH

    @cached_property
    def sha256(self) -> str:
        """Digest of what it asks."""
        return case_sha256(self.round_id, self.reason, self.records)

    @property
    def ref(self) -> CaseRef:
        """What a statement about it is bound to."""
        return CaseRef(self.round_id, self.case_id, self.sha256)


class Opened(NamedTuple):
    """A case as the pipeline opened it; `actors` had a part in the round then."""

    case: Case
    seq: int
    opened_at: datetime
    actors: tuple[str, ...]


class CaseStep(NamedTuple):
    """One recorded statement about a case: an envelope, not believed; the actor is only shown."""

    seq: int
    ts: datetime
    type: CaseEvent
    actor: str
    envelope: bytes


@dataclass
class CaseHistory:
    """What the ledger says of cases, up to event number `size`.

    `unusable` are events that do not hold what their type needs.
    """

    size: int = 0
    opened: dict[CaseRef, Opened] = field(default_factory=dict)
    steps: dict[CaseRef, list[CaseStep]] = field(default_factory=dict)
    unusable: list[Fault] = field(default_factory=list)


def read_cases(ledger: Ledger) -> CaseHistory:
    """Fold the events of cases.

    Raises:
        StorageError: the ledger cannot be read.
    """
    history = CaseHistory(ledger.size())
    parts: dict[CaseRef, list[Event]] = {}
    for event in ledger.events(types=set(CaseEvent)):
        if event.seq > history.size:
            break
        try:
            _add(history, parts, event)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            message = f"it does not hold what a {event.type} needs ({error!r})"
            history.unusable.append(Fault(event.seq, "unusable", message))
    return history


def open_cases(ledger: Ledger, cases: Sequence[Case], actors: Sequence[str], now: datetime) -> int:
    """Open the cases that are not in the ledger yet, all in one step.

    Args:
        ledger: where.
        cases: of one round.
        actors: who has a part in that round; none of them resolves its cases.
        now: when.

    Returns:
        How many were opened.

    Raises:
        StorageError: the ledger cannot be read or written; nothing was opened.
    """
    if not cases:
        return 0
    for _ in range(TRIES):
        history = read_cases(ledger)
        new = [case for case in cases if case.ref not in history.opened]
        if not new:
            return 0
        try:
            ledger.append_all([e for case in new for e in opening_events(case, actors, now)], after=history.size)
        except LedgerMoved:
            continue
        except AlreadyRecorded as recorded:  # by an event of before that the fold could not use
            message = f"event {recorded.event.seq} of the ledger opens a case and cannot be used"
            raise StorageError(f"{message}; find out who appended it, and restore the ledger from before") from None
        return len(new)
    raise StorageError(f"ledger {ledger.path} is too busy: {TRIES} tries found it changed; try again")


def opening_events(case: Case, actors: Sequence[str], now: datetime) -> Iterator[NewEvent]:
    """Yield the events that open a case: one, or several when it lists more records than one holds."""
    rows = sorted([*record] for record in case.records)
    starts = range(0, len(rows), RECORDS_PER_EVENT)
    for part, start in enumerate(starts, 1):
        body = {
            **case.ref._asdict(),
            "check_id": None if case.check_id is None else excerpt(case.check_id, _NAME_CHARACTERS),
            "field": None if case.field is None else excerpt(case.field, _NAME_CHARACTERS),
            "reason": case.reason,
            "assignee": excerpt(case.assignee, _NAME_CHARACTERS),
            "records_count": len(rows),
            "records": rows[start : start + RECORDS_PER_EVENT],
            "part": part,
            "parts": len(starts),
            "actors": list(actors),
        }
        unique = f"case:{case.round_id}:{case.case_id}:{case.sha256}:{part}"
        yield NewEvent(CaseEvent.OPENED, OPENER, body, now, unique)


def step_event(
    ref: CaseRef, envelope: bytes, reason: str, person: str, now: datetime, outcome: Outcome | None
) -> NewEvent:
    """Give the event of a signed statement; without an outcome it is an acknowledgement. Each is recorded once."""
    kind = CaseEvent.ACKNOWLEDGED if outcome is None else CaseEvent.RESOLVED
    said = {} if outcome is None else {"resolution": str(outcome)}
    body = {**ref._asdict(), **said, "reason": reason, "envelope": envelope.decode()}
    payload = dsse.parse_envelope(envelope).payload_sha256  # which does not name the person
    return NewEvent(kind, person, body, now, f"case-statement:{payload}:{sha256_hex(person.encode())}")


def _add(history: CaseHistory, parts: dict[CaseRef, list[Event]], event: Event) -> None:
    kind, ref = CaseEvent(event.type), CaseRef(*(_text(event.body[name]) for name in CaseRef._fields))
    if not is_round_id(ref.round_id):  # it becomes a place in the lake
        raise ValueError("a round id is none")
    if kind is not CaseEvent.OPENED:
        step = CaseStep(event.seq, event.ts, kind, event.actor, _text(event.body["envelope"]).encode())
        history.steps.setdefault(ref, []).append(step)
        return
    if ref in history.opened:
        return
    found = parts.setdefault(ref, [])
    found.append(event)
    if len(found) == event.body["parts"]:
        history.opened[ref] = _opened(ref, parts.pop(ref))


def _opened(ref: CaseRef, events: Sequence[Event]) -> Opened:
    first, body = events[0], events[0].body
    records = tuple(_record(row) for event in events for row in event.body["records"])
    case = Case(
        ref.round_id, ref.case_id, _text_or_none(body["check_id"]), _text_or_none(body["field"]),
        _text(body["reason"]), _text(body["assignee"]), records,
    )  # fmt: skip
    named = records[0].record_id if case.is_mismatch else ref.sha256
    if case.sha256 != ref.sha256 or ref.case_id != f"case-{named}" or (case.is_mismatch and len(records) != 1):
        raise ValueError("its records are not those its digest and id name")
    return Opened(case, first.seq, first.ts, tuple(map(_text, body["actors"])))


def _record(row: Sequence[Any]) -> CaseRecord:
    record_id, declared, computed = row
    return CaseRecord(_text(record_id), _text_or_none(declared), _text_or_none(computed))


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    if type(value) is not str:  # a number kept as it was written is no text
        raise TypeError("a text is missing")
    return value
