"""Consistency of two states of one ledger: a path that proves the older to be the beginning of the newer.

What belongs here: making such a path and checking one. What does not: the tree itself (`merkle`) and where the states
come from. Formulas: RFC 9162 §2.1.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.ledger.merkle import HASH_BYTES, merkle_root_of_hashes, node_hash

if TYPE_CHECKING:
    from collections.abc import Sequence


def consistency_path(leaf_hashes: Sequence[bytes], old_size: int) -> list[bytes]:
    """Give the hashes that prove the tree over the first `old_size` leaves to be the beginning of the whole one.

    Args:
        leaf_hashes: hash of each leaf of the newer tree, in order.
        old_size: size of the older tree; 0 and the whole size need no hashes.

    Raises:
        IndexError: the older tree is larger than the newer one.
    """
    if not 0 <= old_size <= len(leaf_hashes):
        raise IndexError(f"no state of {old_size} entries in a tree of {len(leaf_hashes)}")
    path: list[bytes] = []
    first, last, is_old_whole = 0, len(leaf_hashes), True
    steps: list[bytes] = []
    while 0 < old_size < last - first:
        split = _left_size(last - first)
        if old_size <= split:
            steps.append(merkle_root_of_hashes(leaf_hashes[first + split : last]))
            last = first + split
        else:
            steps.append(merkle_root_of_hashes(leaf_hashes[first : first + split]))
            first, old_size, is_old_whole = first + split, old_size - split, False
    if not is_old_whole:  # the old root is not known from this subtree alone
        path.append(merkle_root_of_hashes(leaf_hashes[first:last]))
    return [*path, *reversed(steps)]


def is_consistent(old_size: int, new_size: int, path: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """Tell whether a path proves the older tree to be the beginning of the newer one.

    Anything that is not exactly one proof is no proof. An empty beginning proves nothing, so an old size of 0 is never
    consistent by a proof; who remembers nothing has nothing to compare. Never raises.
    """
    hashes = [old_root, new_root, *path]
    if not 0 < old_size <= new_size or any(len(node) != HASH_BYTES for node in hashes):
        return False
    if old_size == new_size:
        return not path and old_root == new_root
    rest = list(path)
    node, last = old_size - 1, new_size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    if node and not rest:
        return False
    old = new = rest.pop(0) if node else old_root  # a full old tree is a node of the new one itself
    while last:
        if node & 1 or node < last:
            if not rest:
                return False
            sibling = rest.pop(0)
            if node & 1:
                old, new = node_hash(sibling, old), node_hash(sibling, new)
            else:
                new = node_hash(new, sibling)
        node, last = node >> 1, last >> 1
    return not rest and old == old_root and new == new_root


def _left_size(size: int) -> int:
    """Return the largest power of two below a size of at least 2."""
    return 1 << ((size - 1).bit_length() - 1)
