"""The day seal: judged by both sides, recorded as an event, and its digest appended to the ledger.

What belongs here: the two records of one seal, in that order, and comparing them. What does not: what a seal does to a
score (`fold`). The event comes first: a crash in between leaves a sealed day whose digest is not in the ledger yet, and
sealing again only appends it. Source: spec/confidence.md §6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.confidence.replay_document import day_text, seal_document
from governance_pipeline.ledger.event import AlreadyRecorded

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from governance_pipeline.confidence.fold import Folded
    from governance_pipeline.confidence.rows import Seal
    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger

SEALED: Final = "CONFIDENCE_DAY_SEALED"
"""Type of the ledger's event; names stay for ever, because events do."""

_MEMBERS = ("role", "subject_id", "day", "event_id", "events", "digest")


class SealFault(NamedTuple):
    """A sealed day that is not as the ledger has it: subject, day, and what is wrong.

    Codes: not_in_ledger, digest_differs, not_in_events.
    """

    role: str
    subject_id: str
    day: str
    code: str


def record_seal(ledger: Ledger, seal: Seal, actor: str, now: datetime) -> bool:
    """Append the digest of a sealed day to the ledger; False when it is there already.

    Raises:
        UsageError, StorageError: as `Ledger.append`.
    """
    body = seal_document(seal)
    key = f"confidence-day:{body['role']}:{body['subject_id']}:{body['day']}"
    try:
        ledger.append(SEALED, actor, body, ts=now, unique=key)
    except AlreadyRecorded:
        return False
    return True


def seal_faults(folded: Folded, events: Iterable[Event]) -> list[SealFault]:
    """Compare the sealed days of a whole fold with those of the ledger; empty when both say the same."""
    here = {_key(document): document for document in map(seal_document, folded.seals)}
    there = {_key(event.body): event.body for event in events if event.type == SEALED}
    faults = [SealFault(*key, "not_in_ledger") for key in here.keys() - there.keys()]
    faults += [SealFault(*key, "not_in_events") for key in there.keys() - here.keys()]
    for key in here.keys() & there.keys():
        if any(here[key][name] != there[key].get(name) for name in _MEMBERS):
            faults.append(SealFault(*key, "digest_differs"))
    return sorted(faults)


def sealed_days(folded: Folded) -> list[str]:
    """Return the sealed days of a fold as texts, for messages."""
    return sorted({day_text(seal.event.day) for seal in folded.seals})


def _key(body: Any) -> tuple[str, str, str]:
    return str(body["role"]), str(body["subject_id"]), str(body["day"])
