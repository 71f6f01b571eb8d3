"""What keeps other pages, other hosts and large requests out of the inbox, before any of its code sees a request.

What belongs here: the rules of one request (host, method, origin, kind and size of body) and the headers of every
answer. What does not: sessions and tokens (`sessions`).

DNS rebinding brings a page of somebody else to this address under its own name, so the Host must be ours exactly. A
page elsewhere can send a form here, so whatever has an effect is a POST of JSON with our Origin, which no form and no
foreign script can make.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from governance_pipeline.gate.inbox.site import Site

    Scope = MutableMapping[str, Any]

BODY_BYTES: Final = 16 * 1024
"""Largest body that is read: a reason of 2,000 characters, or an assertion of 4 KiB, in JSON."""
PATH_BYTES: Final = 1024
"""Longest path with query that is looked at."""

_READING: Final = frozenset({"GET", "HEAD"})
_JSON: Final = "application/json"

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""No script or style but our files, no inline script, no frame, no form, nothing from elsewhere."""

_FEATURES: Final = (
    "publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), geolocation=(), microphone=(), "
    "payment=(), usb=()"
)

HEADERS: Final = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("permissions-policy", _FEATURES),
    ("cache-control", "no-store"),
)
"""Headers of every answer, refusals included."""


class Refused(NamedTuple):
    """Why a request is not looked at."""

    status: HTTPStatus
    code: str
    message: str


class Guarded:
    """The application behind its rules; an ASGI application itself."""

    def __init__(self, application: Any, site: Site) -> None:
        """Guard an application of one site."""
        self._application = application
        self._site = site

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] != "http":  # no web sockets here
            return
        refused = refusal(scope, self._site)
        body = b""
        if refused is None and scope["method"] == "POST":
            body, refused = await _body(receive)
        if refused is not None:
            await _answer(refused, scope, send)
            return
        await self._application(scope, _given(body, receive), _with_headers(send))


def refusal(scope: Scope, site: Site) -> Refused | None:
    """Give why a request is not looked at, by its head alone; None when it is."""
    if _all(scope, b"host") != [site.host]:
        said = f"this is the inbox of {site.origin}; open it under that name"
        return Refused(HTTPStatus.MISDIRECTED_REQUEST, "WRONG_HOST", said)
    if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > PATH_BYTES:
        return Refused(HTTPStatus.REQUEST_URI_TOO_LONG, "TOO_LARGE", "the address is too long")
    if scope["method"] in _READING:
        return None
    if scope["method"] != "POST":
        return Refused(HTTPStatus.METHOD_NOT_ALLOWED, "WRONG_METHOD", "only GET and POST are answered")
    return _acting_refusal(scope, site)


def _acting_refusal(scope: Scope, site: Site) -> Refused | None:
    sites = _all(scope, b"sec-fetch-site")
    if _all(scope, b"origin") != [site.origin] or sites not in ([], ["same-origin"]):
        return Refused(HTTPStatus.FORBIDDEN, "CROSS_SITE", "another page sent this; only pages of the inbox act here")
    if [kind.partition(";")[0].strip().lower() for kind in _all(scope, b"content-type")] != [_JSON]:
        return Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "WRONG_TYPE", f"the body must be {_JSON}")
    lengths = _all(scope, b"content-length")
    is_short = not lengths or (lengths[0].isdecimal() and int(lengths[0][:20]) <= BODY_BYTES)
    return None if is_short else _too_large()


async def _body(receive: Any) -> tuple[bytes, Refused | None]:
    """Read a body whole, and never more than is allowed, whatever its length was said to be."""
    data = b""
    while True:
        message = await receive()
        data += message.get("body", b"")
        if len(data) > BODY_BYTES:
            return b"", _too_large()
        if message["type"] != "http.request" or not message.get("more_body"):
            return data, None


def _given(body: bytes, receive: Any) -> Any:
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Any:
        return left.pop() if left else await receive()

    return given


def _with_headers(send: Any) -> Any:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name.encode(): value.encode() for name, value in HEADERS}
            kept = [(name, value) for name, value in message["headers"] if name.lower() not in own]
            message = {**message, "headers": [*kept, *own.items()]}
        await send(message)

    return sending


async def _answer(refused: Refused, scope: Scope, send: Any) -> None:
    words = {"schema": "govern/inbox-answer/v1", "code": refused.code, "message": refused.message}
    body = json.dumps({**words, "token": None, "result": None}).encode()
    sending = _with_headers(send)
    headers = [(b"content-type", _JSON.encode()), (b"content-length", str(len(body)).encode())]
    await sending({"type": "http.response.start", "status": int(refused.status), "headers": headers})
    await sending({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _all(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for found, value in scope["headers"] if found.lower() == name]


def _too_large() -> Refused:
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "TOO_LARGE", f"a body has at most {BODY_BYTES} bytes")
