"""What an answer of the hub means, and which parts of it are believed.

What belongs here: from status and bytes to one of four outcomes, and the plain values in the body. What does not:
asking (`api`) and what follows (`settling`). A hub is another party: its body is bounded, read strictly, and only
numbers and short names are taken out of it; text of its own is never shown or kept. Source: spec/confidence.md §9.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.confidence.hub.outgoing import VERSION_FORM
from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.limits import Limits
from governance_pipeline.strict.numbers import exact_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.confidence.hub.key_file import HubKey

BODY_BYTES: Final = 65_536
"""Most of a body that is read; a state of the public hub has some 1,200 bytes."""

_LIMITS: Final = Limits(document_bytes=BODY_BYTES, line_bytes=BODY_BYTES, depth=8, keys=500, values=1_000)
_OK, _UNAUTHORIZED, _TOO_MANY = 200, 401, 429
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}", re.ASCII)
_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,39}", re.ASCII)
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}", re.ASCII)


class Outcome(StrEnum):
    """What an answer means for whoever sent something."""

    OK = "ok"
    UNAUTHORIZED = "unauthorized"
    REJECTED = "rejected"
    TRY_LATER = "try_later"


class Answer(NamedTuple):
    """What came back: the HTTP status (None: nothing usable did), and the object in the body, where it is readable."""

    status: int | None
    document: Mapping[str, Any] | None

    def __repr__(self) -> str:  # the body of one answer holds a key
        return f"Answer({self.status})"


NOTHING: Final = Answer(None, None)
"""A time-out, a connection that broke, or one that was never made."""


def read_body(data: bytes, key: HubKey | None) -> Mapping[str, Any] | None:
    """Read the object in a body; None when it is none, or says the key back to us."""
    try:
        document = parse_json(data, _LIMITS)
    except RecordRefused:
        return None
    if not isinstance(document, dict) or (key is not None and _says_key(document, key)):
        return None
    return document


def outcome(answer: Answer) -> Outcome:
    """Return what an answer means for what was sent.

    200 with a body that can be read is the only success: the hub took it, whether or not it adds a state, and sending
    it again would count it twice there. 401 stops; 429 and whatever is no 4xx is tried later, as is a body that cannot
    be read; every other 4xx drops what was sent.
    """
    if answer.status == _OK:
        return Outcome.TRY_LATER if answer.document is None else Outcome.OK
    if answer.status == _UNAUTHORIZED:
        return Outcome.UNAUTHORIZED
    is_4xx = answer.status is not None and 400 <= answer.status < 500  # noqa: PLR2004 - the class of client errors
    return Outcome.REJECTED if is_4xx and answer.status != _TOO_MANY else Outcome.TRY_LATER


def state_of(answer: Answer) -> dict[str, Any] | None:
    """Return the state in an answer, reduced to numbers, flags and short words; None when there is none."""
    state = (answer.document or {}).get("state")
    return _plain(state) if isinstance(state, dict) else None


def version_of(answer: Answer) -> str | None:
    """Return the newest skill version an answer names; None when it names none of this form."""
    value = (answer.document or {}).get("latestSkillVersion")
    return value if isinstance(value, str) and VERSION_FORM.fullmatch(value) else None


def status_of(answer: Answer) -> str | None:
    """Return the status of the registration an answer states, beside or in its state; None where it states none."""
    document = answer.document or {}
    state = document.get("state")
    inner = state.get("status") if isinstance(state, dict) else None
    value = document.get("status", inner)
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def identifier_of(answer: Answer, name: str) -> str | None:
    """Return an identifier the hub gave; None when it is none."""
    value = (answer.document or {}).get(name)
    is_id = isinstance(value, str) and not isinstance(value, Lexeme) and _ID.fullmatch(value)
    return str(value) if is_id else None


def _plain(value: Any) -> Any:
    """Keep what a display can need; a name or a text of another form is left out."""
    if isinstance(value, dict):
        kept = {name: _plain(item) for name, item in value.items() if _NAME.fullmatch(name)}
        return {name: item for name, item in kept.items() if item is not None}
    if isinstance(value, Lexeme):
        number = exact_number(str(value))
        return None if number is None or abs(number) > 10**9 else float(number)
    if isinstance(value, bool | int):
        return value
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def _says_key(value: Any, key: HubKey) -> bool:
    if isinstance(value, dict):
        return any(key.is_in(name) or _says_key(item, key) for name, item in value.items())
    if isinstance(value, list):
        return any(_says_key(item, key) for item in value)
    return isinstance(value, str) and key.is_in(value)
