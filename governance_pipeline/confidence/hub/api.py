"""Asking the hub over HTTP, so that whatever it does costs a bounded time and a bounded number of bytes.

What belongs here: addresses, one request, its time and size. What does not: what an answer means (`answers`). No
redirect is followed (the key would go where the hub says), no cookie kept, no compressed body accepted (a small one can
be large), and nothing of an exception of the library is passed on, because it may quote a request.
"""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from governance_pipeline.confidence.hub.answers import BODY_BYTES, NOTHING, Answer, read_body
from governance_pipeline.confidence.hub.states import HubRefused
from governance_pipeline.strict.canonical import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from governance_pipeline.confidence.hub.key_file import HubKey

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|::1", re.ASCII)
_URL_CHARACTERS: Final = 500


class Patience(NamedTuple):
    """Seconds one request may take: to connect or between two bytes, and as a whole."""

    step_s: float = 5.0
    whole_s: float = 10.0


PATIENCE: Final = Patience()


def hub_url(text: str) -> str:
    """Give the address of a hub without a final slash.

    Raises:
        HubRefused: it is none, carries a name or password, or would send the key unencrypted to another machine.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    is_plain = parts.scheme == "http" and parts.hostname in _LOOPBACK
    is_bare = not (parts.query or parts.fragment or parts.username or parts.password) and port != 0
    if len(text) > _URL_CHARACTERS or not text.isascii() or not text.isprintable() or " " in text or not is_bare:
        raise HubRefused(
            "the address of the hub must be https://HOST[:PORT][/PATH], without names, passwords or queries"
        )
    if not _HOST.fullmatch(parts.hostname or "") or not (parts.scheme == "https" or is_plain):
        raise HubRefused("the hub is reached over https (http only on this machine); write https://HOST")
    return text.rstrip("/")


class HubApi:
    """One hub, and the key that is shown to it where there is one."""

    def __init__(self, url: str, key: HubKey | None = None, patience: Patience = PATIENCE) -> None:
        self._url = hub_url(url)
        self._key = key
        self._patience = patience
        self._made: httpx.Client | None = None

    def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Send an object and give what came back; `NOTHING` when nothing usable did."""
        return self._within("POST", path, canonical_json(dict(body)))

    def get(self, path: str) -> Answer:
        """Ask for something and give what came back; `NOTHING` when nothing usable did."""
        return self._within("GET", path, None)

    def _within(self, method: str, path: str, content: bytes | None) -> Answer:
        """Ask in a thread of its own: a hub that sends one byte of a header now and then defeats every other limit."""
        until = time.monotonic() + self._patience.whole_s
        answers: list[Answer] = []
        asking = threading.Thread(
            target=lambda: answers.append(self._ask(method, path, content, until)), name="hub", daemon=True
        )
        asking.start()
        asking.join(self._patience.whole_s)
        return answers[0] if answers else NOTHING

    def _ask(self, method: str, path: str, content: bytes | None, until: float) -> Answer:
        import httpx  # half a second of imports: only a process that asks pays for it

        try:
            with self._client().stream(method, self._url + path, content=content, headers=self._headers()) as response:
                data = _bounded(response, until)
                status = response.status_code
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError):
            return NOTHING
        return Answer(status, None if data is None else read_body(data, self._key))

    def _client(self) -> httpx.Client:
        """Make the client once: its certificates take a tenth of a second to load. It keeps no connection open."""
        import ssl

        import httpx

        if self._made is None:
            is_open = self._url.startswith("http:")  # on this machine: no certificate is needed, and none trusted
            self._made = httpx.Client(
                timeout=self._patience.step_s,
                follow_redirects=False,
                limits=httpx.Limits(max_keepalive_connections=0),
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_open else True,
                trust_env=not is_open,  # a proxy of the environment never sees an open request
            )
        return self._made

    def _headers(self) -> dict[str, str]:
        plain = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": "governance-pipeline",
        }
        return plain if self._key is None else plain | self._key.header()


def _bounded(response: httpx.Response, until: float) -> bytes | None:
    """Read a body as it comes over the wire; None when it is too long, too slow or packed."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        return None
    data = b""
    for block in response.iter_raw():
        data += block
        if len(data) > BODY_BYTES or time.monotonic() > until:
            return None
    return data
