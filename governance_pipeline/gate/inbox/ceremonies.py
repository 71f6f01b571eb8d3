"""Decisions that wait for the touch of a person: made by the server, shown, and signed once or never.

What belongs here: holding a decision between the request for a signature and the signature. What does not: making it
(`drafts`) and recording it (`deciding`).
"""

from __future__ import annotations

from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

CEREMONY_LIFE: Final = timedelta(minutes=5)
"""How long a person may take to touch; browsers ask for two to five minutes."""
MOST_CEREMONIES: Final = 64


class Ceremony(NamedTuple):
    """One decision that waits for its signature.

    Attributes:
        request_id: the request it answers.
        verb: APPROVE, REJECT or REVOKE.
        payload: the statement, byte for byte as it will be recorded.
        ends: when it is given up.
    """

    request_id: str
    verb: str
    payload: bytes
    ends: datetime


class Ceremonies:
    """The decisions that wait, each bound to the session that asked for it."""

    def __init__(self, clock: Callable[[], datetime], secrets: Callable[[], str]) -> None:
        """Begin without any; arguments as those of `Sessions`."""
        self._clock = clock
        self._secrets = secrets
        self._waiting: dict[tuple[str, str], Ceremony] = {}
        self._lock = Lock()

    def begin(self, session: str, request_id: str, verb: str, payload: bytes) -> str:
        """Hold a decision; gives the name under which it is finished."""
        name = self._secrets()
        with self._lock:
            while len(self._waiting) >= MOST_CEREMONIES:
                del self._waiting[next(iter(self._waiting))]
            self._waiting[session, name] = Ceremony(request_id, verb, payload, self._clock() + CEREMONY_LIFE)
        return name

    def take(self, session: str, name: str) -> Ceremony | None:
        """Give a decision and forget it; None when it never was, is over, of another session, or was taken."""
        with self._lock:
            found = self._waiting.pop((session, name), None)
        return None if found is None or self._clock() >= found.ends else found
