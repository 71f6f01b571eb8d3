"""Who is told: the file `notifications` of the gate's configuration, and nothing else.

What belongs here: reading it. What does not: sending (`delivery`). The addresses hold secrets, so the file is its
owner's alone, they are shown nowhere, and no variable, working directory or run configuration names another one.
"""

from __future__ import annotations

import tomllib
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.notify.documents import document_fault
from governance_pipeline.trust.owned_files import private_bytes

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA: Final = "govern/notifications/v1"
FILE_BYTES: Final = 64 * 1024
REMINDER_HOURS: Final = 24
"""After how long a person is reminded once: a day of the three a request waits by default (spec/gate.md §1)."""


class NoticeKind(StrEnum):
    """What somebody is told of a request."""

    NEW = "new"
    REMINDER = "reminder"
    DECIDED = "decided"
    EXPIRED = "expired"
    FAILED = "failed"


class Address(str):
    """A URL with secrets in it: it is used, and never shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Address(hidden)"


class Target(NamedTuple):
    """One place messages go to: its name, the address, and what it is told of."""

    name: str
    address: Address
    kinds: frozenset[NoticeKind]

    @property
    def scheme(self) -> str:
        """The kind of service, which is all of the address that is shown."""
        return self.address.partition(":")[0]


class Notifications(NamedTuple):
    """Who is told, and after how long somebody is reminded."""

    targets: tuple[Target, ...]
    remind_after: timedelta


def load_notifications(path: Path | None) -> Notifications:
    """Read the file a configuration names; None means that nobody is told.

    Raises:
        UsageError: no regular file, others may open or replace it, no TOML, or it breaks its schema; the message holds
            no address.
    """
    if path is None:
        return Notifications((), timedelta(hours=REMINDER_HOURS))
    data = private_bytes(path, "file of notifications", FILE_BYTES)
    if len(data) > FILE_BYTES:
        raise UsageError(f"{path} is larger than {FILE_BYTES} bytes; name fewer targets")
    try:
        document: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise UsageError(f"{path} is no TOML") from None  # the message of the reader may quote an address
    fault = document_fault("notifications-v1", document, is_secret=True)
    if fault is not None:
        raise UsageError(f"{path} cannot be used: {fault}; see schema {SCHEMA}")
    targets = tuple(_target(entry) for entry in document["target"])
    names = [target.name for target in targets]
    if len(set(names)) < len(names):
        raise UsageError(f"{path} names a target twice; what was sent is known by the name")
    return Notifications(targets, timedelta(hours=document.get("reminder_hours", REMINDER_HOURS)))


def _target(entry: dict[str, Any]) -> Target:
    kinds = frozenset(map(NoticeKind, entry.get("kinds", list(NoticeKind))))
    return Target(entry["name"], Address(entry["url"]), kinds)
