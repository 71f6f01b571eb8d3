"""The web application of the inbox: which address shows what, and which does what.

What belongs here: routes and errors. What does not: what is shown (`pages`), what is decided (`signing`), the door
(`entrance`), and keeping others out (`guarding`), which stands before all of this.
"""

from __future__ import annotations

import logging
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.answers import results_document
from governance_pipeline.gate.decision import NONCE_BYTES, Verb
from governance_pipeline.gate.inbox import pages
from governance_pipeline.gate.inbox.ceremonies import Ceremonies
from governance_pipeline.gate.inbox.entrance import Entrance, secret
from governance_pipeline.gate.inbox.guarding import Guarded
from governance_pipeline.gate.inbox.members import Malformed, assertion_of
from governance_pipeline.gate.inbox.rendering import answer_json, html
from governance_pipeline.gate.inbox.signing import finish, to_sign
from governance_pipeline.gate.inbox.site import RP_ID
from governance_pipeline.trust.passkeys import Assertion, base64url
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from starlette.requests import Request
    from starlette.responses import Response

    from governance_pipeline.gate.inbox.pages import Page
    from governance_pipeline.gate.passage import Verifier

_LOGGER = logging.getLogger(__name__)


class Inbox:
    """One inbox: its door, what it trusts, and the decisions that wait for a touch."""

    def __init__(
        self, entrance: Entrance, opened: Callable[[datetime], Verifier], clock: Callable[[], datetime]
    ) -> None:
        """Set it up.

        Args:
            entrance: its door.
            opened: opens everything that is trusted, anew for each request, so that a revoked key is one at once.
            clock: gives the time.
        """
        self._entrance = entrance
        self._opened = opened
        self._clock = clock
        self._ceremonies = Ceremonies(clock, secret)

    def application(self) -> Guarded:
        """Give the application behind its rules."""
        begin = self._entrance.acting(self._begin, {"verb", "reason"}, {"seen_sha256"})
        finished = self._entrance.acting(self._finish, set(Assertion._fields))
        return guarded(
            [
                Route("/", self._page(lambda _, v, now: pages.list_page(v, now))),
                Route("/requests/{request_id}", self._page(self._request)),
                Route("/cases/{round_id}/{case_id}", self._page(_case)),
                Route("/rounds/{round_id}", self._page(_round)),
                Route("/evidence/{sha256}/{line:int}", self._page(_evidence)),
                Route("/requests/{request_id}/decisions", begin, methods=["POST"]),
                Route("/ceremonies/{name}", finished, methods=["POST"]),
            ],
            self._entrance,
        )

    def _page(self, view: Callable[[Request, Verifier, datetime], Page]) -> Callable[[Request], Response]:
        def page(request: Request) -> Response:
            session = self._entrance.session_of(request)
            if session is None:
                return self._entrance.shut()
            now = self._clock()
            try:
                template, members = view(request, self._opened(now), now)
            except UsageError as error:
                return html("refused.html", HTTPStatus.NOT_FOUND, title="Not found", code="", message=str(error))
            except (Refusal, StorageError) as error:
                code = str(error.code) if isinstance(error, Refusal) else "STORAGE"
                said = str(error).removeprefix(f"{code}: ")
                return html("refused.html", HTTPStatus.SERVICE_UNAVAILABLE, title="Closed", code=code, message=said)
            return html(template, token=self._entrance.sessions.new_token(session), **members)

        return page

    def _request(self, request: Request, verifier: Verifier, now: datetime) -> Page:
        return pages.request_page(verifier, request.path_params["request_id"], now, self._entrance.site.origin)

    def _begin(self, request: Request, session: str, given: dict[str, str]) -> dict[str, Any]:
        """Make a decision that a passkey is to sign."""
        if given["verb"] not in set(Verb):
            raise Malformed("verb is none of APPROVE, REJECT, REVOKE")
        now = self._clock()
        wanted = to_sign(
            self._opened(now), request.path_params["request_id"], Verb(given["verb"]), given["reason"],
            given.get("seen_sha256"), origin=self._entrance.site.origin, now=now, nonce=secrets.token_hex(NONCE_BYTES),
        )  # fmt: skip
        name = self._ceremonies.begin(session, wanted.request_id, given["verb"], wanted.payload)
        return {
            "ceremony": name,
            "challenge": base64url(wanted.challenge),
            "rp_id": RP_ID,
            "credentials": [base64url(credential) for credential in wanted.credentials],
        }

    def _finish(self, request: Request, session: str, given: dict[str, str]) -> dict[str, Any]:
        """Record a decision with the assertion that signs it."""
        assertion = assertion_of(given)
        ceremony = self._ceremonies.take(session, request.path_params["name"])
        if ceremony is None:
            raise Refusal(ReasonCode.REPLAYED, "this signature was used, or came too late; decide again")
        now = self._clock()
        verifier = self._opened(now)
        return {"results": results_document(verifier, [finish(verifier, ceremony, assertion, now)])}


def guarded(routes: Sequence[Route], entrance: Entrance) -> Guarded:
    """Give an application of some routes and those of its door, behind the rules of its site."""
    handlers: Any = {HTTPException: _not_found, Exception: _crashed}
    return Guarded(Starlette(routes=[*routes, *entrance.routes()], exception_handlers=handlers), entrance.site)


def _case(request: Request, verifier: Verifier, now: datetime) -> Page:
    return pages.case_view(verifier, request.path_params["round_id"], request.path_params["case_id"], now)


def _round(request: Request, verifier: Verifier, now: datetime) -> Page:
    return pages.round_page(verifier, request.path_params["round_id"], now)


def _evidence(request: Request, verifier: Verifier, now: datetime) -> Page:  # noqa: ARG001 - the shape of a view
    return pages.evidence_page(verifier, request.path_params["sha256"], request.path_params["line"])


def _not_found(request: Request, error: HTTPException) -> Response:  # noqa: ARG001 - the shape of a handler
    status = HTTPStatus(error.status_code)
    return html("refused.html", status, title=status.phrase, code="", message="There is no such page here.")


def _crashed(request: Request, error: Exception) -> Response:  # noqa: ARG001 - Starlette raises it again, for the log
    _LOGGER.error("the inbox failed at %s", request.url.path)
    return answer_json(HTTPStatus.INTERNAL_SERVER_ERROR, "INTERNAL", "the inbox failed; its log says more")
