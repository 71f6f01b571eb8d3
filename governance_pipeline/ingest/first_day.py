"""The day a log is of: that of the first time it shows, enough to sort a heap into days and used for nothing else.

What belongs here: finding that time in any value. What does not: the times of runs and steps (formats).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TIME_MEMBERS: Final = ("timestamp", "ts", "time", "created_at", "started_at", "start_time", "created")
_TIME_DEPTH: Final = 6


def day_of(values: Sequence[Any]) -> str | None:
    """Give the UTC date of the first time met under one of the usual names; None where there is none."""
    for value in values:
        for time in _times(value, 0):
            at = parse_time(time, assume_utc=True)
            if at is not None:
                return at.date().isoformat()
    return None


def _times(value: Any, depth: int) -> Iterator[Any]:
    """Give what stands under the usual names of a time, in the order written."""
    if depth > _TIME_DEPTH:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            if name in _TIME_MEMBERS:
                yield member
            elif isinstance(member, dict | list):
                yield from _times(member, depth + 1)
    elif isinstance(value, list):
        for member in value:
            if isinstance(member, dict | list):
                yield from _times(member, depth + 1)
