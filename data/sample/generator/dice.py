"""Reproducible choices: a stream of numbers from SHA-256, the same on every Python version and platform."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Item = TypeVar("Item")


class Dice:
    """A stream of choices that depends on `seed` and on nothing else."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn = 0

    def between(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both included."""
        return low + int(self.hexadecimal(16), 16) % (high - low + 1)

    def pick(self, items: Sequence[Item]) -> Item:
        """Draw one of `items`."""
        return items[self.between(0, len(items) - 1)]

    def hexadecimal(self, length: int) -> str:
        """Draw `length` (at most 64) lower-case hex digits."""
        self._drawn += 1
        return hashlib.sha256(f"{self._seed}/{self._drawn}".encode()).hexdigest()[:length]

    def uuid(self) -> str:
        """Draw an id in the shape of a version 4 UUID."""
        digits = self.hexadecimal(32)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
