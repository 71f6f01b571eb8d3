"""What was sent to whom: events of the ledger, and the fold that tells what is still to be sent.

What belongs here: the two events of a message, and where each message stands. What does not: sending (`sending`).

A message is begun in the ledger before it is sent and ended after it, onto the very ledger its content was made from:
two processes never begin one twice. A process that dies in between leaves a message that is begun and not ended; it is
sent again under the same id and with the same words. So each message is sent at least once, a receiver that keeps the
ids shows it once, and a tick that is repeated sends nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ledger.event import NewEvent
from governance_pipeline.strict.canonical import canonical_json, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from governance_pipeline.ledger.ledger import Ledger

SENDER: Final = "service:governance-pipeline"
"""The principal that sends: the pipeline."""
MOST_TRIES: Final = 12
"""Tries of one message, over about 20 hours; then a person must look (`govern doctor`)."""
FIRST_PAUSE: Final = timedelta(minutes=1)
LONGEST_PAUSE: Final = timedelta(hours=6)
"""Between tries of one message: 1, 2, 4 minutes and so on, so that a service that is down is not hammered."""


class NoticeEvent(StrEnum):
    """Types of the events of messages; names stay for ever, because events do."""

    BEGUN = "NOTICE_BEGUN"
    ENDED = "NOTICE_ENDED"


class Message(NamedTuple):
    """One message to one target: keys of what it tells, title and lines; its id is the same whenever it is sent."""

    target: str
    keys: tuple[str, ...]
    title: str
    lines: tuple[str, ...]

    @property
    def id(self) -> str:
        """Idempotency key of the message: SHA-256 of target and keys, first 32 hex digits."""
        return sha256_hex(canonical_json([self.target, *self.keys]))[:32]


class Attempt(NamedTuple):
    """One attempt to hand a message over: when, whether it worked, and the HTTP status where there was one."""

    at: str
    is_sent: bool
    http_status: int | None
    ms: int


@dataclass
class Standing:
    """Where a message stands: how often it was begun, when last, and whether it was handed over."""

    message: Message
    tries: int = 0
    last_begun: datetime | None = None
    last_ended: datetime | None = None
    is_sent: bool = False

    def is_due(self, now: datetime) -> bool:
        """Tell whether it is to be sent (again) now."""
        if self.is_sent or self.is_given_up or self.last_begun is None:
            return False
        pause: timedelta = min(FIRST_PAUSE * 2 ** (self.tries - 1), LONGEST_PAUSE)
        return now >= self.last_begun + pause

    @property
    def is_given_up(self) -> bool:
        """Whether it was tried as often as it is."""
        return not self.is_sent and self.tries >= MOST_TRIES


@dataclass
class Outbox:
    """Every message there ever was, by id, as of event number `size`; events that hold none are left out."""

    size: int
    messages: dict[str, Standing] = field(default_factory=dict)

    def known(self, target: str) -> set[str]:
        """Give the keys of everything a target was told, or is being told."""
        mine = (s.message for s in self.messages.values() if s.message.target == target)
        return {key for message in mine for key in message.keys}

    def backlog(self, target: str) -> list[Standing]:
        """Give the messages of a target that were not handed over, oldest first."""
        return [s for s in self.messages.values() if s.message.target == target and not s.is_sent]


def read_outbox(ledger: Ledger) -> Outbox:
    """Fold the messages of a ledger.

    Raises:
        StorageError: it cannot be read.
    """
    outbox = Outbox(ledger.size())
    for event in ledger.events(types=set(NoticeEvent)):
        if event.seq > outbox.size:
            break
        if event.type == NoticeEvent.BEGUN:
            message = _message_of(event.body)
            if message is not None:
                standing = outbox.messages.setdefault(message.id, Standing(message))
                standing.tries += 1
                standing.last_begun = event.ts
        elif isinstance(standing_id := event.body.get("message_id"), str) and standing_id in outbox.messages:
            standing = outbox.messages[standing_id]
            standing.last_ended = event.ts
            standing.is_sent = standing.is_sent or event.body.get("is_sent") is True
    return outbox


def begin(ledger: Ledger, message: Message, now: datetime, *, after: int) -> None:
    """Record that a message is about to be sent.

    Raises:
        LedgerMoved: something was appended since `after`; fold again.
        StorageError: the ledger could not be written; nothing may be sent.
    """
    body = {
        "message_id": message.id,
        "target": message.target,
        "keys": list(message.keys),
        "title": message.title,
        "lines": list(message.lines),
    }
    ledger.append_all([NewEvent(NoticeEvent.BEGUN, SENDER, body, now)], after=after)


def end(ledger: Ledger, message: Message, attempts: Sequence[Attempt], now: datetime) -> None:
    """Record what became of it, with every attempt.

    Raises:
        StorageError: the ledger could not be written; the message is sent once more then.
    """
    body = {
        "message_id": message.id,
        "target": message.target,
        "is_sent": any(attempt.is_sent for attempt in attempts),
        "attempts": [attempt._asdict() for attempt in attempts],
    }
    ledger.append(NoticeEvent.ENDED, SENDER, body, ts=now)


def _message_of(body: Any) -> Message | None:
    """Read a message that was begun; None for an event that holds none, which is no reason not to send others."""
    texts = (body.get("target"), body.get("title"))
    lists = (body.get("keys"), body.get("lines"))
    if not all(type(text) is str for text in texts):
        return None
    if not all(isinstance(values, list) and all(type(v) is str for v in values) for values in lists):
        return None
    return Message(str(texts[0]), tuple(lists[0]), str(texts[1]), tuple(lists[1]))
