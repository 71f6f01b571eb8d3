"""Instants in signed documents and in the ledger: RFC 3339 in UTC, written one way.

What belongs here: the text of an instant and reading it back. What does not: times of agent logs, which come in many
spellings and stay claims (ingest).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z", re.ASCII)


def instant_text(at: datetime) -> str:
    """Write an instant as `2026-11-30T12:00:00.000000Z`: always microseconds, so that texts sort as times do.

    Raises:
        ValueError: the time has no zone, so it names no instant.
    """
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone, so it names no instant; pass a time in UTC")
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(len("2026-11-30T12:00:00.000000Z"), "0")


def instant_of(text: str) -> datetime:
    """Read an instant written as RFC 3339 with `Z`, at most microseconds.

    Raises:
        ValueError: another spelling, or no such date.
    """
    if not _INSTANT.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no instant; write it like 2026-11-30T12:00:00Z, in UTC")
    return datetime.fromisoformat(text).astimezone(UTC)
