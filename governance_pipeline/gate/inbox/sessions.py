"""Who looks at the inbox: one-time links, sessions of a browser, and one-time tokens of its pages.

What belongs here: secrets of this process, how long they live, and that each is spent once. What does not: who decides:
a session shows the inbox to somebody and proves nothing about them; what is decided is signed with a passkey.

Another account of this machine can reach its loopback addresses as well, so the pages need a session, and a session
needs the link that was printed on the terminal of the person.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

SESSION_LIFE: Final = timedelta(hours=12)
"""A session ends after a working day; the terminal prints another link at any time."""
MOST_SESSIONS: Final = 16
MOST_TOKENS: Final = 256
"""Tokens a session has at once; each page view makes one, the oldest go first."""


class Sessions:
    """Links, sessions and tokens; only digests of them are kept, so that no comparison tells by its time."""

    def __init__(self, clock: Callable[[], datetime], secrets: Callable[[], str]) -> None:
        """Begin without any.

        Args:
            clock: gives the time.
            secrets: gives a text nobody can guess, another each time.
        """
        self._clock = clock
        self._secrets = secrets
        self._link: bytes | None = None
        self._sessions: dict[bytes, datetime] = {}
        self._tokens: dict[bytes, dict[bytes, None]] = {}
        self._lock = Lock()

    def new_link(self) -> str:
        """Give the secret of a link that opens one session; one that was given before opens none any more."""
        made = self._secrets()
        with self._lock:
            self._link = _digest(made)
        return made

    def enter(self, link: str) -> str | None:
        """Open a session by the link that was given last, which is spent; None for any other."""
        with self._lock:
            if self._link is None or _digest(link) != self._link:
                return None
            self._link = None
            made = self._secrets()
            while len(self._sessions) >= MOST_SESSIONS:
                self._end(next(iter(self._sessions)))
            self._sessions[_digest(made)] = self._clock() + SESSION_LIFE
            self._tokens[_digest(made)] = {}
            return made

    def is_open(self, session: str | None) -> bool:
        """Tell whether a session is open."""
        return session is not None and self._opened(session) is not None

    def new_token(self, session: str) -> str:
        """Give a token for one request of a page of an open session."""
        made = self._secrets()
        with self._lock:
            tokens = self._tokens.get(_digest(session), {})
            tokens[_digest(made)] = None
            while len(tokens) > MOST_TOKENS:
                del tokens[next(iter(tokens))]
        return made

    def spend(self, session: str, token: str) -> bool:
        """Spend a token; False when it is none of this session, or was spent."""
        if self._opened(session) is None:
            return False
        with self._lock:
            return self._tokens[_digest(session)].pop(_digest(token), self) is None

    def _opened(self, session: str) -> bytes | None:
        name = _digest(session)
        with self._lock:
            ends = self._sessions.get(name)
            if ends is None:
                return None
            if self._clock() >= ends:
                self._end(name)
                return None
        return name

    def _end(self, name: bytes) -> None:
        del self._sessions[name]
        del self._tokens[name]


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
