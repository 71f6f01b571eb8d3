"""Every head a ledger ever had, from one reading of its bytes.

What belongs here: the full subtrees of the Merkle tree, from which the root of any beginning follows in log n hashes.
What does not: reading the bytes (`ledger`), and what a head is held to (gate). One passage asks for several heads, a
list of requests for hundreds: hashing the ledger anew for each would take longer than everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.errors import StorageError
from governance_pipeline.ledger.head import Head
from governance_pipeline.ledger.merkle import EMPTY_ROOT, leaf_hash, node_hash

if TYPE_CHECKING:
    from collections.abc import Iterable


class Heads:
    """The heads of all beginnings of a sequence of events."""

    def __init__(self, events: Iterable[bytes]) -> None:
        """Hash the exact bytes of events, in order."""
        level = [leaf_hash(data) for data in events]
        self.size = len(level)
        self._levels = [level]
        while len(level) > 1:
            level = [node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
            self._levels.append(level)

    def head(self, size: int) -> Head:
        """Give the head of the first `size` events (RFC 9162 §2.1.1).

        Raises:
            StorageError: there are fewer events.
        """
        if not 0 <= size <= self.size:
            raise StorageError(f"the ledger has {self.size} events, not {size}")
        root, rest = b"", size
        for height, level in enumerate(self._levels):  # from the smallest full subtree, which is the last, to the left
            if size >> height & 1:
                rest -= 1 << height
                subtree = level[rest >> height]
                root = node_hash(subtree, root) if root else subtree
        return Head(size, (root or EMPTY_ROOT).hex())
