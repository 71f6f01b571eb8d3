"""The table `audit_locks` and the document about locks: where each stands, with its takeovers.

What belongs here: rows. What does not: judging (`lock_standing`).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.framework.locks import Locks, is_silent
from governance_pipeline.framework.takeovers import EVENT, takeovers_in
from governance_pipeline.trust.instants import instant_of, instant_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.lock_standing import Judgement
    from governance_pipeline.framework.processes import Look
    from governance_pipeline.ledger.ledger import Ledger

TABLE: Final = "audit_locks"
MEMBERS: Final = (
    "lock",
    "standing",
    "reason_code",
    "mode",
    "pid",
    "start_ticks",
    "boot_id",
    "host",
    "user_name",
    "command",
    "purpose",
    "started_at",
    "heartbeat_at",
    "is_silent",
    "takeover_count",
    "last_takeover_at",
)
"""Columns of the table and members of the document, in order."""


def rows(
    folder: GovernedFolder, now: datetime, *, ledger: Ledger | None = None, look: Look | None = None
) -> pd.DataFrame:
    """Make `audit_locks` of a folder; one row per lock, columns as contract `audit_locks`.

    Args:
        folder: the governed folder.
        now: the time signs of life are held against.
        ledger: where takeovers may be recorded, beside the folder's own file.
        look: how processes are looked at.

    Raises:
        StorageError: the ledger cannot be read, or a lock file is none.
    """
    from governance_pipeline.contracts.audit_locks import AuditLocks  # brings pandas along: not for who only looks
    from governance_pipeline.contracts.frames import typed

    return typed(AuditLocks, TABLE, lock_rows(folder, now, ledger=ledger, look=look))


def lock_rows(
    folder: GovernedFolder, now: datetime, *, ledger: Ledger | None = None, look: Look | None = None
) -> list[dict[str, Any]]:
    """Give the rows of `rows` as plain values, sorted by lock."""
    locks = Locks(folder, look=look)
    taken = _takeovers(locks, ledger)
    return [
        {**judged_row(name, judged, now), "takeover_count": len(times), "last_takeover_at": max(times, default=None)}
        for name, judged in locks.standings().items()
        for times in (taken.get(name, []),)
    ]


def locks_document(found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the JSON document (govern/locks/v1) about locks, from their rows."""
    return {
        "schema": "govern/locks/v1",
        "locks": [{name: _json_value(row.get(name)) for name in MEMBERS} for row in found],
    }


def judged_row(name: str, judged: Judgement, now: datetime) -> dict[str, Any]:
    """Give what a judgement says of a lock, as members of its row; without its takeovers."""
    row: dict[str, Any] = {"lock": name, "standing": str(judged.standing), "reason_code": str(judged.reason)}
    owner = judged.owner
    if owner is None:
        return row
    machine = owner.process.machine
    return {
        **row,
        "mode": owner.mode and str(owner.mode),
        "pid": owner.process.pid,
        "start_ticks": owner.process.start_ticks,
        "boot_id": machine.boot_id,
        "host": machine.host or None,
        "user_name": owner.user or None,
        "command": owner.command or None,
        "purpose": owner.purpose,
        "started_at": owner.started,
        "heartbeat_at": owner.heartbeat,
        "is_silent": is_silent(owner, now) if owner.heartbeat is not None else None,
    }


def _json_value(value: Any) -> Any:
    return instant_text(value) if isinstance(value, datetime) else value


def _takeovers(locks: Locks, ledger: Ledger | None) -> dict[str, list[datetime]]:
    times: dict[str, list[datetime]] = {}
    for lock, at in _recorded(locks, ledger):
        times.setdefault(lock, []).append(at)
    return times


def _recorded(locks: Locks, ledger: Ledger | None) -> Iterator[tuple[str, datetime]]:
    for line in takeovers_in(locks.folder):
        yield line["lock"], instant_of(line["ts"])
    if ledger is not None:
        here = str(locks.folder.resolve())
        for event in ledger.events(types={EVENT}):
            if event.body.get("folder") == here:
                yield str(event.body.get("lock")), event.ts
