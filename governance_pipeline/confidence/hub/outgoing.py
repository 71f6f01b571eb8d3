"""Everything that may leave the machine, member by member; what is not named here stays.

What belongs here: the bodies of all requests, and the check each one passes before it is sent. What does not: sending
(`api`). A body is made from named members of an event, never by removing members from one, so a field that is added to
events later stays here until somebody adds it. Source: spec/confidence.md §9.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.confidence.event_fields import NotOfThisForm, identifier, instant, pattern_code, runtime
from governance_pipeline.confidence.hub.states import HubRefused
from governance_pipeline.confidence.terms import Domain, EventType, Quadrant, Severity, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from governance_pipeline.confidence.event import Event

VERSION_FORM: Final = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6}){2}[A-Za-z0-9.+-]{0,20}", re.ASCII)

_NAME_CHARACTERS: Final = 100
_EMAIL: Final = re.compile(r"[^@\s\x00-\x1f\x7f]{1,64}@[^@\s\x00-\x1f\x7f]{1,190}")


def _version(value: Any) -> None:
    if not isinstance(value, str) or not VERSION_FORM.fullmatch(value):
        raise NotOfThisForm


EVENT_MEMBERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "domain": Domain,
    "eventType": EventType,
    "severity": Severity,
    "patternCode": pattern_code,
    "quadrant": Quadrant,
    "trigger": Trigger,
    "sessionId": identifier,
    "timestamp": instant,
    "skillVersion": _version,
}
"""The allow-list: name on the wire and the form its value must have. No free text has any of these forms."""


def event_body(event: Event, severity: Severity | None, skill_version: str) -> dict[str, str]:
    """Give the body of `POST /api/events`; `severity` is the one that counted, given by the event or its pattern."""
    members = {
        "domain": event.domain,
        "eventType": event.event_type,
        "severity": severity,
        "patternCode": event.pattern_code,
        "quadrant": event.quadrant,
        "trigger": event.trigger,
        "sessionId": event.session_id,
        "timestamp": event.members["ts"],
        "skillVersion": skill_version,
    }
    return checked_event({name: str(value) for name, value in members.items() if value is not None})


def checked_event(body: Mapping[str, Any]) -> dict[str, str]:
    """Give back a body whose every member is on the allow-list and of its form.

    Raises:
        HubRefused: it is not; it must not be sent.
    """
    for name, value in body.items():
        form = EVENT_MEMBERS.get(name)
        try:
            if form is None:
                raise NotOfThisForm
            form(value)
        except ValueError:
            raise HubRefused(
                f"member {name[:40]!r} may not leave the machine as it is; the event is not sent"
            ) from None
    return dict(body)


def intent_body(name: str) -> dict[str, str]:
    """Give the body of `POST /api/register-intent` for a runtime `platform/model/thinking`.

    Raises:
        HubRefused: it is no runtime.
    """
    try:
        parts = runtime(name).split("/")
    except NotOfThisForm:
        raise HubRefused(f"{name[:80]!r} is no runtime; write platform/model/thinking") from None
    return {"platform": parts[0], "model": "/".join(parts[1:-1]), "thinking": parts[-1]}


def verify_body(intent_id: str, email: str, display_name: str) -> dict[str, str]:
    """Give the body of `POST /api/verify`: what a person typed for exactly this.

    Raises:
        HubRefused: no e-mail address, or a name that is empty, long or not printable.
    """
    name = display_name.strip()
    if not name or len(name) > _NAME_CHARACTERS or not name.isprintable():
        raise HubRefused(f"the display name must have 1 to {_NAME_CHARACTERS} printable characters")
    return {"intentId": intent_id, "email": _address(email), "displayName": name}


def resend_body(runtime_id: str, email: str) -> dict[str, str]:
    """Give the body of `POST /api/resend-verification`.

    Raises:
        HubRefused: no e-mail address.
    """
    return {"runtimeId": runtime_id, "email": _address(email)}


def _address(email: str) -> str:
    if not _EMAIL.fullmatch(email) or not email.isprintable():
        raise HubRefused("that is no e-mail address; write name@domain")
    return email
