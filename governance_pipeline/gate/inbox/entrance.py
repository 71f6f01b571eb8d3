"""The door of a web application of ours: its link, its sessions, and requests with an effect.

What belongs here: letting one browser in, and spending the token of a page before anything is done for it. What does
not: what is shown and done.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from governance_pipeline.errors import GovernError, RecordRefused
from governance_pipeline.gate.inbox.members import Malformed, texts_of
from governance_pipeline.gate.inbox.rendering import FILES, answer_json, html, static_file
from governance_pipeline.gate.inbox.sessions import Sessions
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection
    from datetime import datetime

    from starlette.requests import Request
    from starlette.responses import Response

    from governance_pipeline.gate.inbox.site import Site

    Act = Callable[[Request, str, dict[str, str]], dict[str, Any] | None]

_SECRET_BYTES: Final = 32
_CONFLICTS: Final = frozenset({ReasonCode.REPLAYED, ReasonCode.SUPERSEDED, ReasonCode.DIGEST_MISMATCH})
"""Refusals because something is not any more as it was."""


def secret() -> str:
    """Give a text nobody can guess."""
    return secrets.token_urlsafe(_SECRET_BYTES)


class Entrance:
    """Link, sessions and tokens of one site."""

    def __init__(self, site: Site, clock: Callable[[], datetime], entered: Callable[[], None] = lambda: None) -> None:
        """Set it up.

        Args:
            site: where it is.
            clock: gives the time.
            entered: told when a link was used, so that another can be printed.
        """
        self.site = site
        self.sessions = Sessions(clock, secret)
        self._entered = entered
        self._cookie = f"govern_inbox_{site.port}"  # cookies of all ports of a host are one heap

    def new_link(self) -> str:
        """Give an address that lets one browser in, once; its secret is never sent with a request of a page."""
        return f"{self.site.origin}/enter#{self.sessions.new_link()}"

    def routes(self) -> list[Route]:
        """Give the addresses of the door itself, and of the files of the package."""
        return [
            Route("/enter", lambda _: html("enter.html", title="Open the inbox"), methods=["GET"]),
            Route("/enter", self._enter, methods=["POST"]),
            *(Route(f"/static/{name}", static_file) for name in FILES),
        ]

    def session_of(self, request: Request) -> str | None:
        """Give the open session of a request; None when it has none."""
        session = request.cookies.get(self._cookie)
        return session if self.sessions.is_open(session) else None

    def shut(self) -> Response:
        """Give the page of a browser that is not let in."""
        return html("shut.html", HTTPStatus.UNAUTHORIZED, title="Closed")

    def acting(
        self, act: Act, members: Collection[str], optional: Collection[str] = ()
    ) -> Callable[[Request], Awaitable[Response]]:
        """Make an endpoint that spends the token of a page, acts, and gives the page another token with the answer.

        Args:
            act: takes the request, its session and the members of its body without the token; gives the result.
            members: names the body must have, beside `token`.
            optional: names it may have.
        """

        async def endpoint(request: Request) -> Response:
            body = await request.body()
            return await run_in_threadpool(self._acted, act, {*members, "token"}, optional, request, body)

        return endpoint

    def _acted(
        self, act: Act, members: Collection[str], optional: Collection[str], request: Request, body: bytes
    ) -> Response:
        session = self.session_of(request)
        if session is None:
            return answer_json(HTTPStatus.UNAUTHORIZED, "NO_SESSION", "this inbox is closed to you; open its link anew")
        status, code, message, result = HTTPStatus.OK, None, None, None
        try:
            given = texts_of(body, members, optional)
            self._spend(session, given.pop("token"))
            result = act(request, session, given)
        except (RecordRefused, Malformed) as error:
            return answer_json(HTTPStatus.BAD_REQUEST, "MALFORMED", str(error))
        except Refusal as error:
            status = HTTPStatus.CONFLICT if error.code in _CONFLICTS else HTTPStatus.FORBIDDEN
            code, message = str(error.code), str(error).removeprefix(f"{error.code}: ")
        except GovernError as error:
            status, code, message = HTTPStatus.UNPROCESSABLE_ENTITY, "USAGE", str(error)
        return answer_json(status, code, message, self.sessions.new_token(session), result)

    def _spend(self, session: str, token: str) -> None:
        if not self.sessions.spend(session, token):
            raise Malformed("the token of the page was used; load it again")

    async def _enter(self, request: Request) -> Response:
        try:
            given = texts_of(await request.body(), {"link"})
        except (RecordRefused, Malformed) as error:
            return answer_json(HTTPStatus.BAD_REQUEST, "MALFORMED", str(error))
        session = self.sessions.enter(given["link"])
        if session is None:
            said = "this link was used, or a newer one was printed; take the last one from the terminal"
            return answer_json(HTTPStatus.FORBIDDEN, "LINK_SPENT", said)
        response = answer_json(HTTPStatus.OK, None, None)
        response.set_cookie(self._cookie, session, httponly=True, samesite="strict", path="/")
        self._entered()
        return response
