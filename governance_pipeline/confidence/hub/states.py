"""Where this place stands with the hub, and what is allowed in each state.

What belongs here: the five states, which command may run in which, and what a person is told to do next. What does not:
what moves a state (`registering`, `settling`, `syncing`). Source: spec/confidence.md §9.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from governance_pipeline.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection


class HubStatus(StrEnum):
    """State of the registration."""

    UNREGISTERED = "unregistered"
    PENDING_EMAIL = "pending_email"
    ACTIVE = "active"
    ERROR = "error"
    SUSPENDED = "suspended"


class ErrorReason(StrEnum):
    """Why the state is `error`."""

    UNAUTHORIZED = "unauthorized"
    TOO_MANY_ERRORS = "too_many_errors"


NEXT_STEP = {
    HubStatus.UNREGISTERED: "`govern confidence hub register` starts a registration",
    HubStatus.PENDING_EMAIL: "follow the link in the e-mail and set a password, then run `govern confidence hub sync`; "
    "`govern confidence hub resend` sends the e-mail again",
    HubStatus.ACTIVE: "events are sent; `govern confidence hub status` shows what waits",
    HubStatus.ERROR: "run `govern confidence hub sync` to start again, or `govern confidence hub key` where the key "
    "is not the right one",
    HubStatus.SUSPENDED: "the hub suspended this runtime; ask its operator, then run `govern confidence hub sync`",
}


class HubRefused(UsageError):  # noqa: N818 - a refusal of ours, before anything is sent
    """What was asked is not allowed as things stand; nothing left the machine."""


def require(status: HubStatus, allowed: Collection[HubStatus], what: str) -> None:
    """Refuse a step that is not for this state, saying which state it is and what to do.

    Raises:
        HubRefused: the state is not among the allowed ones.
    """
    if status not in allowed:
        raise HubRefused(f"{what} is not possible: this place is {status.value}; {NEXT_STEP[status]}")
