"""One event of the ledger and its exact bytes.

What belongs here: the record, its canonical form, and reading it back. What does not: where it is kept (`ledger`).
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import GateRefused, GovernError, RecordRefused, UsageError
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.limits import LIMITS
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
_FOUR_BYTE_CHARACTERS: Final = re.compile(rb"[\xf0-\xff]")
_USUAL_DIGITS: Final = 15  # below 2**53, whatever the digits


class _Unusual(Exception):  # noqa: N818 - a signal from the hooks to `_usual_value`
    """The text holds a number that the standard writer may spell in another way than RFC 8785."""


def _usual_integer(text: str) -> int:
    if len(text) > _USUAL_DIGITS:
        raise _Unusual
    return int(text)


def _refuse(_text: str) -> Any:
    raise _Unusual


_USUAL: Final = json.JSONDecoder(parse_float=_refuse, parse_int=_usual_integer, parse_constant=_refuse)
_WRITTEN: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


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
    if not _is_canonical(data):  # a float beyond 2**53 is written like an integer that cannot be read back
        raise UsageError(f"event {kind} holds a number without one spelling; carry it as text")
    return read_event(data)


def event_of(data: bytes) -> Event:
    """Read an event from bytes that must be its canonical form.

    Raises:
        GovernError: they are not.
    """
    value = _usual_value(data)
    if value is not None:
        return _event(value, data)
    event = read_event(data)
    if not _is_canonical(data):
        raise GovernError("not the canonical form of one event")
    return event


def read_event(data: bytes) -> Event:
    """Read an event from its bytes without asking whether they are canonical, which costs more than all the rest.

    Raises:
        GovernError: the bytes are no event.
    """
    try:
        value = parse_json(data)
    except RecordRefused as reason:
        raise GovernError(f"no strict JSON: {reason}") from None
    return _event(value, data)


def _event(value: Any, data: bytes) -> Event:
    if not isinstance(value, dict) or value.keys() != _MEMBERS:
        raise GovernError("not the members of one event")
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
    """Give the columns that repeat parts of a canonical event: seq, ts, type, actor, body, unique key."""
    # In canonical form the members stand in this order, and a quote inside a text is never plain.
    start, end = event.bytes.index(b',"body":') + len(b',"body":'), event.bytes.rindex(b',"seq":')
    body = event.bytes[start:end].decode()
    return event.seq, instant_text(event.ts), event.type, event.actor, body, event.body.get(UNIQUE)


def chained(previous: bytes, leaf: bytes) -> bytes:
    """Give the value that binds an event to all before it: SHA-256 of the previous one and the leaf hash."""
    return hashlib.sha256(previous + leaf).digest()


def _is_canonical(data: bytes) -> bool:
    """Tell whether the bytes of a JSON object are its canonical form."""
    if _usual_value(data) is not None:
        return True
    try:
        return canonical_json(parse_json(data)) == data
    except GovernError:
        return False


def _usual_value(data: bytes) -> Any:
    """Read bytes that are the canonical form of one JSON value; None where only the strict reader can tell.

    The standard reader and writer are a quarter of the cost. Bytes the writer makes again are what the strict reader
    accepts: no member is repeated, nothing stands around them. Not for numbers that are no small whole ones, nor where
    characters beyond 16 bits could stand in a name, which RFC 8785 sorts by halves, nor for many levels or members.
    """
    brackets = data.count(b"[") + data.count(b"{")
    if brackets > LIMITS.depth or data.count(b":") > LIMITS.keys or data.count(b",") > LIMITS.keys:
        return None
    if not data.isascii() and _FOUR_BYTE_CHARACTERS.search(data):
        return None
    try:
        value = _USUAL.decode(data.decode())
        return value if _WRITTEN.encode(value).encode() == data else None
    except (_Unusual, ValueError):  # UnicodeError and JSONDecodeError are ValueErrors
        return None


def _check_names(kind: str, actor: str, unique: str | None) -> None:
    if not _TYPE.fullmatch(kind):
        raise UsageError(f"{kind!r} is no type of event; letters, digits and ._- are, up to 64")
    for what, text in (("actor", actor), ("unique key", unique)):
        if text is not None and not 0 < len(text) <= _NAME_CHARACTERS:
            raise UsageError(f"the {what} of event {kind} is empty or longer than {_NAME_CHARACTERS} characters")
