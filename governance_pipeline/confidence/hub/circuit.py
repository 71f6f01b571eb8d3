"""The circuit breaker: how many retries a number of errors in a row still allows.

What belongs here: the steps. What does not: counting errors (`settling`). The first sending of a new event is no retry:
it is what shows that the hub is back. Source: spec/confidence.md §9.
"""

from __future__ import annotations

from typing import Final

ONE_PER_SESSION: Final = 10
"""Errors in a row from which a session gets one retry."""
NO_RETRY: Final = 25
"""Errors in a row from which nothing is retried by itself, and a soft notice is told."""
STOP: Final = 50
"""Errors in a row at which the state becomes `error` and nothing is sent until somebody runs `hub sync`."""
PER_ROUND: Final = 20
"""Most requests of one round that nobody waits for, such as the one at the start of a session."""


def retries_allowed(errors: int) -> int:
    """Return how many retries a round may make; where it is one, it is one for the whole session."""
    if errors >= NO_RETRY:
        return 0
    return 1 if errors >= ONE_PER_SESSION else PER_ROUND
