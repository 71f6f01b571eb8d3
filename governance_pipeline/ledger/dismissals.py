"""Dismissals of findings in the ledger: recorded by people, folded for whoever judges.

What belongs here: the event and the fold. What does not: what people sign (`trust.dismissal_statement`) and whether it
counts: a fold believes nothing. Source: spec/verdict.md §4, spec/gate.md §5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ledger.event import NewEvent
from governance_pipeline.ledger.verification import Fault
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.trust import dsse
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from datetime import date, datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.dismissal_statement import FindingRef

DISMISSED: Final = "FINDING_DISMISSED"
"""Type of the event; the name stays for ever, because events do."""


class RecordedDismissal(NamedTuple):
    """One recorded dismissal: an envelope, not believed; the actor is only shown."""

    seq: int
    ts: datetime
    actor: str
    envelope: bytes


@dataclass
class DismissalHistory:
    """What the ledger says of dismissals, up to event number `size`.

    `of` is (round id, finding id) -> dismissals, oldest first; `unusable` are events that do not hold what they need.
    """

    size: int = 0
    of: dict[tuple[str, str], list[RecordedDismissal]] = field(default_factory=dict)
    unusable: list[Fault] = field(default_factory=list)


def read_dismissals(ledger: Ledger) -> DismissalHistory:
    """Fold the dismissals.

    Raises:
        StorageError: the ledger cannot be read.
    """
    history = DismissalHistory(ledger.size())
    for event in ledger.events(types={DISMISSED}):
        if event.seq > history.size:
            break
        try:
            _add(history, event)
        except (LookupError, TypeError, ValueError) as error:
            message = f"it does not hold what a {DISMISSED} needs ({error!r})"
            history.unusable.append(Fault(event.seq, "unusable", message))
    return history


def dismissal_event(
    ref: FindingRef, code: str, envelope: bytes, reason: str, until: date | None, person: str, now: datetime
) -> NewEvent:
    """Give the event of a signed dismissal. Each is recorded once."""
    body: dict[str, Any] = {
        **ref._asdict(),
        "code": code,
        "reason": reason,
        "until": None if until is None else until.isoformat(),
        "envelope": envelope.decode(),
    }
    payload = dsse.parse_envelope(envelope).payload_sha256  # which does not name the person
    return NewEvent(DISMISSED, person, body, now, f"dismissal:{payload}:{sha256_hex(person.encode())}")


def _add(history: DismissalHistory, event: Event) -> None:
    round_id, finding_id, envelope = (event.body[name] for name in ("round_id", "finding_id", "envelope"))
    if any(type(value) is not str for value in (round_id, finding_id, envelope)) or not is_round_id(round_id):
        raise TypeError("a text is missing, or a round id is none")
    recorded = RecordedDismissal(event.seq, event.ts, event.actor, envelope.encode())
    history.of.setdefault((round_id, finding_id), []).append(recorded)
