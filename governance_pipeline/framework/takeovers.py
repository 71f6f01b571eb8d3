"""The record of locks taken from the dead: in the ledger, or in a file of the folder where there is no ledger.

What belongs here: what is written of a takeover, where, and reading it back. What does not: whether an owner is dead
(`lock_standing`). A ledger that cannot be written must not keep a dead owner's lock for ever: the file then says so.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import GovernError, RecordRefused, StorageError
from governance_pipeline.framework.lock_owner import owner_document
from governance_pipeline.storage.atomic import PRIVATE, write_all
from governance_pipeline.storage.lock import exclusive
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.files import FileRefused, open_regular
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.instants import instant_of, instant_text

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.framework.lock_owner import Owner
    from governance_pipeline.framework.lock_standing import Reason
    from governance_pipeline.ledger.ledger import Ledger

EVENT: Final = "LOCK_TAKEN_OVER"
"""Type of the event; the name stays for ever, because events do."""
FILE: Final = "takeovers.jsonl"
"""Where takeovers are kept in the folder of locks when no ledger takes them."""
TAKEOVER_SCHEMA: Final = "govern/lock-takeover/v1"

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class Takeover(NamedTuple):
    """A lock and its dead owner, what proves the death, and who follows; None: it was only cleared away."""

    lock: str
    reason: Reason
    dead: Owner
    heir: Owner | None


def record_takeover(takeover: Takeover, folder: Path, ledger: Ledger | None, now: datetime) -> None:
    """Record a takeover before it happens.

    Args:
        takeover: what will happen.
        folder: the folder of locks.
        ledger: where it is recorded; None: in the file of the folder.
        now: the time.

    Raises:
        StorageError: neither ledger nor file could be written.
    """
    body = _body(takeover, folder)
    fault = None
    if ledger is not None:
        try:
            ledger.append(EVENT, _actor(takeover), body, ts=now)
        except GovernError as error:
            fault = str(error)
        else:
            return
    _append(folder, {"schema": TAKEOVER_SCHEMA, "ts": instant_text(now), **body, "ledger_fault": fault})


def takeovers_in(folder: Path) -> list[dict[str, Any]]:
    """Read the takeovers kept in a folder of locks, oldest first; a line that is none, or was cut off, is left out.

    Raises:
        FileRefused: no regular file lies there, or it cannot be read.
    """
    try:
        with open_regular(folder / FILE) as stream:
            lines = stream.read().splitlines()
    except FileRefused as error:
        if error.code == "not_found":
            return []
        raise
    found = []
    for line in lines:
        try:
            value = parse_json(line)
            instant_of(value["ts"])
        except (RecordRefused, TypeError, KeyError, ValueError):
            continue
        if isinstance(value.get("lock"), str):
            found.append(value)
    return found


def _body(takeover: Takeover, folder: Path) -> dict[str, Any]:
    return {
        "lock": takeover.lock,
        "folder": str(folder.resolve()),
        "reason": str(takeover.reason),
        "dead_owner": owner_document(takeover.dead),
        "owner": takeover.heir and owner_document(takeover.heir),
    }


def _actor(takeover: Takeover) -> str:
    heir = takeover.heir
    return f"process:{heir.user}@{heir.process.machine.host}" if heir else "process:govern-lock"


def _append(folder: Path, document: dict[str, Any]) -> None:
    path = folder / FILE
    with exclusive(folder / "_takeovers.lock"):
        try:
            descriptor = os.open(path, _FLAGS, PRIVATE)
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):  # a pipe would take the line and lose it
                    raise OSError(errno.EINVAL, "it is no regular file")
                size = status.st_size
                is_torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                write_all(descriptor, b"\n" * is_torn + canonical_json(document) + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StorageError(
                f"the takeover of lock {document['lock']} could not be recorded in {path}: {error.strerror}; free "
                "space or rights, then try again"
            ) from error
