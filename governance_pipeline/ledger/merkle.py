"""The Merkle tree of RFC 9162 over exact bytes: root, inclusion path, and checking one.

What belongs here: hashing, for any sequence of byte strings. What does not: which bytes (`ledger`) and who signs a
root (checkpoints). Formulas: RFC 9162 §2.1.1 (tree hash), §2.1.3 (inclusion).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""Root of a tree without leaves."""


def leaf_hash(data: bytes) -> bytes:
    """Hash one entry; the prefix keeps a leaf from passing as a node."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that grows at its end, kept as the roots of its full subtrees: memory and work per entry are log n."""

    def __init__(self) -> None:
        self._subtrees: list[bytes] = []
        self.size = 0

    def add(self, data: bytes) -> None:
        """Append one entry."""
        self.add_hash(leaf_hash(data))

    def add_hash(self, node: bytes) -> None:
        """Append one entry by the hash of its leaf."""
        position = self.size
        while position & 1:
            node = node_hash(self._subtrees.pop(), node)
            position >>= 1
        self._subtrees.append(node)
        self.size += 1

    def root(self) -> bytes:
        """Give the root over all entries so far."""
        if not self._subtrees:
            return EMPTY_ROOT
        root = self._subtrees[-1]
        for left in reversed(self._subtrees[:-1]):
            root = node_hash(left, root)
        return root


def merkle_root(entries: Iterable[bytes]) -> bytes:
    """Give the root over entries, in order."""
    tree = Tree()
    for entry in entries:
        tree.add(entry)
    return tree.root()


def merkle_root_of_hashes(leaf_hashes: Iterable[bytes]) -> bytes:
    """Give the root over entries of which the leaf hashes are known, in order."""
    tree = Tree()
    for leaf in leaf_hashes:
        tree.add_hash(leaf)
    return tree.root()


def inclusion_path(leaf_hashes: Sequence[bytes], index: int) -> list[bytes]:
    """Give the hashes that prove entry `index` (from 0) to be in the tree over these leaves, from the leaf upwards.

    Raises:
        IndexError: there is no such entry.
    """
    if not 0 <= index < len(leaf_hashes):
        raise IndexError(f"no entry {index} in a tree of {len(leaf_hashes)}")
    level = list(leaf_hashes)
    path: list[bytes] = []
    while len(level) > 1:
        sibling = index ^ 1
        if sibling < len(level):
            path.append(level[sibling])
        level = [node_hash(*level[i : i + 2]) if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
        index >>= 1
    return path


def is_included(data: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Tell whether a path proves that an entry has place `index` in the tree of `size` entries with this root.

    Anything that is not exactly one proof is no proof: negative numbers, a size of 0, hashes of another length, a path
    too short or too long. Never raises.
    """
    if not 0 <= index < size or len(root) != HASH_BYTES or any(len(node) != HASH_BYTES for node in path):
        return False
    node, last, rest = leaf_hash(data), size - 1, list(path)
    while last:
        if index & 1 or index < last:  # it has a sibling; a last node without one moves up as it is
            if not rest:
                return False
            sibling = rest.pop(0)
            node = node_hash(sibling, node) if index & 1 else node_hash(node, sibling)
        index, last = index >> 1, last >> 1
    return not rest and node == root
