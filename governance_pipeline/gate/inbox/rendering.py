"""Answers of the inbox as bytes: pages from templates, files of the package, and JSON.

What belongs here: escaping. Every value goes through Jinja's autoescape after what a screen would not show was made
visible; nothing is marked as safe. What does not: values.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import HTMLResponse, Response

from governance_pipeline.report.json_text import json_text
from governance_pipeline.strict.excerpt import escape_unprintable

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request

FILES: Final = {"inbox.css": "text/css", "inbox.js": "text/javascript", "enrolment.js": "text/javascript",
                "passkeys.js": "text/javascript", "icon.svg": "image/svg+xml"}  # fmt: skip
"""Files of the package a page may ask for, and what each is; there are no others."""

_PACKAGE: Final = "governance_pipeline.gate.inbox"


def html(template: str, status: HTTPStatus = HTTPStatus.OK, **members: Any) -> HTMLResponse:
    """Give a page; a value its template names and that is missing is an error."""
    return HTMLResponse(_environment().get_template(template).render(members), status)


def answer_json(
    status: HTTPStatus,
    code: str | None,
    message: str | None,
    token: str | None = None,
    result: dict[str, Any] | None = None,
) -> Response:
    """Give `govern/inbox-answer/v1`: what became of a request of a page, and the token of its next one."""
    document = {"schema": "govern/inbox-answer/v1", "code": code, "message": message, "token": token, "result": result}
    return Response(json_text(document), status, media_type="application/json")


def static_file(request: Request) -> Response:
    """Give one of `FILES`."""
    name = request.url.path.rpartition("/")[2]
    data = (resources.files(_PACKAGE) / "static" / name).read_bytes()
    return Response(data, media_type=FILES[name])


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(_PACKAGE, "templates")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["shown"] = _shown
    return made


def _shown(value: object) -> str:
    return "unknown" if value is None else escape_unprintable(str(value))
