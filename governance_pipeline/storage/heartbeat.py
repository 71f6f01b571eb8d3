"""Signs of life: one small file per sensor in the lake, holding the time of its last tick.

What belongs here: leaving one and reading it back. What does not: when one is too old, and who is told. With it a
command can tell without Dagster whether a sensor still runs; it proves nothing and decides nothing.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.storage.versions import bytes_of

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.storage.lake import Lake

FOLDER: Final = "heartbeats"
"""Folder of the lake that keeps them."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,79}", re.ASCII)


def beat(lake: Lake, name: str, now: datetime) -> None:
    """Leave the time (with its zone) of a tick of the sensor `name`, in place of the last one.

    Raises:
        UsageError: the name is no name of a sensor, or the time has no zone.
        StorageError: it could not be written.
    """
    path = _place(lake, name)
    if now.tzinfo is None:
        raise UsageError(f"{now} has no time zone, so it says nothing to a process elsewhere; pass a time in UTC")
    lake.writer.write(path, f"{now.astimezone(UTC).isoformat()}\n".encode())


def last_beat(lake: Lake, name: str) -> datetime | None:
    """Give the time of the last tick of a sensor, in UTC; None when it never ticked here.

    Raises:
        UsageError: the name is no name of a sensor.
        StorageError: what is there is no heartbeat.
    """
    path = _place(lake, name)
    try:
        text = bytes_of(path).decode("ascii", "replace").strip()
        return datetime.fromisoformat(text).astimezone(UTC)
    except FileNotFoundError:
        return None
    except ValueError:
        raise StorageError(f"{path} holds no time; remove it, the sensor writes it again") from None


def _place(lake: Lake, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a sensor")
    return lake.root / FOLDER / name
