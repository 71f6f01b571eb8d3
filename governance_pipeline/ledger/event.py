"""One event of the ledger and its exact bytes.

What belongs here: the record, its canonical form, and reading it back. What does not: where it is kept (`ledger`).
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import GateRefused, GovernError, RecordRefused, UsageError
from governance_pipeline.ledger.merkle import leaf_hash
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.instants import instant_of, instant_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

EVENT_BYTES: Final = 1024 * 1024
"""Largest event that is recorded; a signed decision has a few KiB, and a fold reads every event."""
UNIQUE: Final = "unique"
"""Member of a body that holds the key under which the event may occur once; only the ledger writes it."""
NO_CHAIN: Final = bytes(32)
"""What the first event is chained to."""

_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)
_MEMBERS: Final = frozenset({"seq", "ts", "type", "actor", "body"})
_NAME_CHARACTERS: Final = 300


class Event(NamedTuple):
    """One event: number from 1, when, what kind, by whom, its content, and the exact bytes of all that.

    Whole numbers of the body are int, others are kept as written (`strict.lexeme.Lexeme`).
    """

    seq: int
    ts: datetime
    type: str
    actor: str
    body: Mapping[str, Any]
    bytes: bytes


class AlreadyRecorded(GateRefused):
    """The key of this event was recorded before; `event` is the one that has it."""

    def __init__(self, event: Event) -> None:
        self.event = event
        super().__init__(f"{event.body.get(UNIQUE)!r} was recorded before, as event {event.seq} ({event.type})")


class NewEvent(NamedTuple):
    """What the caller of the ledger gives: kind, who, content, when, and the key under which it may occur once."""

    type: str
    actor: str
    body: Mapping[str, Any]
    ts: datetime
    unique: str | None = None


def new_event(seq: int, entry: NewEvent) -> Event:
    """Make an event and its bytes.

    Raises:
        UsageError: type, actor, time or key cannot be recorded, the body brings a key of its own, or it is too large.
        UnreadableError: the body holds a value canonical JSON cannot carry; carry it as text.
    """
    kind, actor, body, ts, unique = entry
    _check_names(kind, actor, unique)
    if UNIQUE in body:
        raise UsageError(f"the body of an event has no member {UNIQUE!r}; pass the key to append")
    content = dict(body) if unique is None else {**body, UNIQUE: unique}
    try:
        text = instant_text(ts)
    except ValueError as error:
        raise UsageError(f"event {kind}: {error}") from None
    data = canonical_json({"seq": seq, "ts": text, "type": kind, "actor": actor, "body": content})
    if len(data) > EVENT_BYTES:
        raise UsageError(f"event {kind} has {len(data)} bytes, at most {EVENT_BYTES} are recorded; record a digest")
    return event_of(data)


def event_of(data: bytes) -> Event:
    """Read an event from its bytes.

    Raises:
        GovernError: the bytes are not the canonical form of one event.
    """
    try:
        value = parse_json(data)
    except RecordRefused as reason:
        raise GovernError(f"no strict JSON: {reason}") from None
    if not isinstance(value, dict) or value.keys() != _MEMBERS or canonical_json(value) != data:
        raise GovernError("not the canonical form of one event")
    texts = (value["ts"], value["type"], value["actor"])
    if type(value["seq"]) is not int or not all(type(text) is str for text in texts):
        raise GovernError("a member has the wrong type")
    if not isinstance(value["body"], dict):
        raise GovernError("the body is no object")
    try:
        ts = instant_of(value["ts"])
    except ValueError as reason:
        raise GovernError(str(reason)) from None
    return Event(value["seq"], ts, value["type"], value["actor"], value["body"], data)


def columns_of(event: Event) -> tuple[int, str, str, str, str, str | None]:
    """Give the columns that repeat parts of an event: seq, ts, type, actor, body, unique key."""
    body = canonical_json(dict(event.body)).decode()
    return event.seq, instant_text(event.ts), event.type, event.actor, body, event.body.get(UNIQUE)


def chained(previous: bytes, data: bytes) -> bytes:
    """Give the value that binds an event to all before it: SHA-256 of the previous one and the leaf hash."""
    return hashlib.sha256(previous + leaf_hash(data)).digest()


def _check_names(kind: str, actor: str, unique: str | None) -> None:
    if not _TYPE.fullmatch(kind):
        raise UsageError(f"{kind!r} is no type of event; letters, digits and ._- are, up to 64")
    for what, text in (("actor", actor), ("unique key", unique)):
        if text is not None and not 0 < len(text) <= _NAME_CHARACTERS:
            raise UsageError(f"the {what} of event {kind} is empty or longer than {_NAME_CHARACTERS} characters")
