"""Who holds a lock: the record beside the lock file, written by us and read from anybody.

What belongs here: the members of a record, its JSON and reading it back. What does not: whether the owner still lives
(`lock_standing`) and taking a lock (`locks`). A lock file of another program is read too, if it names a process.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import Fault, FaultyFileError, RecordRefused, UsageError
from governance_pipeline.framework.documents import document_fault
from governance_pipeline.framework.processes import Machine, Process
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.instants import instant_of, instant_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

OWNER_SCHEMA: Final = "govern/lock-owner/v1"
OWNER_BYTES: Final = 64 * 1024
"""Largest record that is read; ours has some hundred bytes."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,79}", re.ASCII)
_LARGEST_PID: Final = 2**31 - 1


class Mode(StrEnum):
    """How a lock is held: by a kernel lock that lives as long as its holder, or in the name of another process."""

    PROCESS = "process"
    CLAIM = "claim"


class Owner(NamedTuple):
    """One owner: lock and mode, process, and for people user, command and purpose; times in UTC.

    `mode`, `started`, `heartbeat` and `lock_inode` are None in the record of another program.
    """

    lock: str
    mode: Mode | None
    process: Process
    user: str
    command: str
    purpose: str | None
    started: datetime | None
    heartbeat: datetime | None
    lock_inode: int | None


def checked_name(name: str) -> str:
    """Give back what may name a lock: it becomes a file name.

    Raises:
        UsageError: it may not.
    """
    if not is_name(name):
        raise UsageError(f"{name!r} is no name of a lock; use lower-case letters, digits and _.- (up to 80)")
    return name


def is_name(name: str) -> bool:
    """Tell whether a text may name a lock."""
    return bool(_NAME.fullmatch(name)) and not name.endswith((".json", ".lock"))


def owner_document(owner: Owner) -> dict[str, Any]:
    """Give the JSON document (govern/lock-owner/v1) of an owner we recorded."""
    machine = owner.process.machine
    return {
        "schema": OWNER_SCHEMA,
        "lock": owner.lock,
        "mode": owner.mode and str(owner.mode),
        "pid": owner.process.pid,
        "boot_id": machine.boot_id,
        "start_ticks": owner.process.start_ticks,
        "pid_namespace": machine.pid_namespace,
        "host": machine.host,
        "user": owner.user,
        "command": owner.command,
        "purpose": owner.purpose,
        "started": owner.started and instant_text(owner.started),
        "heartbeat": owner.heartbeat and instant_text(owner.heartbeat),
        "lock_inode": owner.lock_inode,
    }


def read_owner(path: Path, name: str) -> Owner:
    """Read a record: ours, or one of another program that names at least a `pid`, or that is nothing but a number.

    Raises:
        FileRefused: nothing is there, or it is no regular file.
        FaultyFileError: it names no process.
    """
    with open_regular(path) as stream:
        data = stream.read(OWNER_BYTES + 1)
    if len(data) > OWNER_BYTES:
        raise _faulty(path, "too_large", f"more than {OWNER_BYTES} bytes; no owner record has")
    try:
        value = parse_json(data)
    except RecordRefused as error:
        raise _faulty(path, error.code, str(error)) from None
    if isinstance(value, dict) and value.get("schema") == OWNER_SCHEMA:
        return _ours(value, path)
    return _foreign({"pid": value} if isinstance(value, int) else value, path, name)


def _ours(value: Mapping[str, Any], path: Path) -> Owner:
    fault = document_fault("lock-owner-v1", value)
    if fault is not None:
        raise _faulty(path, "schema", fault)
    machine = Machine(value["host"], value["boot_id"], value["pid_namespace"])
    try:
        started, heartbeat = instant_of(value["started"]), instant_of(value["heartbeat"])
    except ValueError as error:
        raise _faulty(path, "schema", str(error)) from None
    return Owner(
        value["lock"],
        Mode(value["mode"]),
        Process(value["pid"], value["start_ticks"], machine),
        value["user"],
        value["command"],
        value["purpose"],
        started,
        heartbeat,
        value["lock_inode"],
    )


def _foreign(value: Any, path: Path, name: str) -> Owner:
    pid = value.get("pid") if isinstance(value, dict) else None
    if type(pid) is not int or not 0 < pid <= _LARGEST_PID:
        raise _faulty(path, "no_process", "it names no process: a member `pid` with its number is needed")
    host, command = value.get("host"), value.get("command")
    machine = Machine(host if isinstance(host, str) else "", None, None)
    text = command if isinstance(command, str) else ""
    return Owner(name, None, Process(pid, None, machine), "", text, None, None, None, None)


def _faulty(path: Path, code: str, message: str) -> FaultyFileError:
    return FaultyFileError(str(path), [Fault(code, None, message)])
