"""Entries of the ledger by gate and round, so that each of thousands of rounds is not looked for among all of them.

What belongs here: that one index. What does not: what the entries are (`events`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfRound(Protocol):
    """Something that is of a gate and a round."""

    @property
    def gate(self) -> str:
        """Name of the gate."""

    @property
    def round_id(self) -> str:
        """Id of the round."""


Entry = TypeVar("Entry", bound=OfRound)


def by_round(entries: Iterable[Entry]) -> dict[tuple[str, str], list[Entry]]:
    """Give the entries of each gate and round, in their order."""
    found: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        found.setdefault((entry.gate, entry.round_id), []).append(entry)
    return found
