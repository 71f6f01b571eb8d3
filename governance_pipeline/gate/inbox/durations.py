"""How long ago and how long still, in the words of the pages.

What belongs here: seconds to words. What does not: instants, which are always shown beside them in full.
"""

from __future__ import annotations

from typing import Final

_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def age_words(seconds: float) -> str:
    """Say how old something is, in its largest unit and the next: `2 days 3 hours`, `5 minutes`, `just now`."""
    return _words(seconds) or "just now"


def left_words(seconds: float) -> str:
    """Say how long something lasts: `in 2 days 3 hours`, `in a moment`, `over`."""
    if seconds <= 0:
        return "over"
    return f"in {_words(seconds) or 'a moment'}"


def _words(seconds: float) -> str:
    left, parts = max(int(seconds), 0), list[str]()
    for name, size in _UNITS:
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number} {name}{'' if number == 1 else 's'}")
        if parts and (len(parts) > 1 or not number):
            break
    return " ".join(parts)
