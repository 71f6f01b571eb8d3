"""Entries of the ledger by what is asked of them, so that each of thousands is not looked for among all.

What belongs here: that one index. What does not: what the entries are (`events`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

Entry = TypeVar("Entry")
Key = TypeVar("Key", bound="Hashable")


def grouped(entries: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, list[Entry]]:
    """Give the entries of each key, in their order."""
    found: dict[Key, list[Entry]] = {}
    for entry in entries:
        found.setdefault(key(entry), []).append(entry)
    return found
