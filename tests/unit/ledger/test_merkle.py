"""The Merkle tree is that of RFC 9162, and only an exact proof is a proof."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.ledger.merkle import (
    EMPTY_ROOT,
    Tree,
    inclusion_path,
    is_included,
    leaf_hash,
    merkle_root,
    node_hash,
)

# The eight entries that implementations of Certificate Transparency agree on, and the root over them.
ENTRIES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOT_OF_EIGHT = "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
BLOBS = st.lists(st.binary(max_size=8), min_size=1, max_size=40)


def _by_definition(entries: list[bytes]) -> bytes:
    """RFC 9162 §2.1.1, word for word: split at the largest power of two below n."""
    if not entries:
        return hashlib.sha256(b"").digest()
    if len(entries) == 1:
        return leaf_hash(entries[0])
    k = 1
    while k * 2 < len(entries):
        k *= 2
    return node_hash(_by_definition(entries[:k]), _by_definition(entries[k:]))


def test_the_root_of_the_eight_known_entries_is_the_known_one():
    assert merkle_root(ENTRIES).hex() == ROOT_OF_EIGHT


def test_an_empty_tree_has_the_hash_of_nothing():
    assert merkle_root([]) == EMPTY_ROOT == hashlib.sha256(b"").digest()


@given(st.lists(st.binary(max_size=8), max_size=70))
def test_the_growing_tree_has_the_root_of_the_definition_at_every_size(entries):
    tree = Tree()
    for size, entry in enumerate(entries):
        assert tree.root() == _by_definition(entries[:size])
        tree.add(entry)
    assert (tree.size, tree.root()) == (len(entries), _by_definition(entries))


@given(BLOBS, st.data())
def test_every_entry_proves_its_place(entries, data):
    index = data.draw(st.integers(0, len(entries) - 1))
    path = inclusion_path([*map(leaf_hash, entries)], index)
    assert is_included(entries[index], index, len(entries), path, merkle_root(entries))


@pytest.mark.parametrize("size", range(1, 9))
def test_a_proof_changed_anywhere_proves_nothing(size):
    entries = ENTRIES[:size]
    root = merkle_root(entries)
    for index in range(size):
        path = inclusion_path([*map(leaf_hash, entries)], index)
        wrong = [
            (b"other", index, size, path, root),
            (entries[index], index, size, path, bytes(32)),
            (entries[index], index, size, [*path, bytes(32)], root),
            (entries[index], index, size, [bytes(32), *path], root),
            *((entries[index], other, size, path, root) for other in range(-1, size + 2) if other != index),
            *((entries[index], index, size, path[:at] + path[at + 1 :], root) for at in range(len(path))),
            *(
                (entries[index], index, size, [*path[:at], _flipped(path[at]), *path[at + 1 :]], root)
                for at in range(len(path))
            ),
            *(
                (entries[index], index, size, [*path[:at], path[at][:31], *path[at + 1 :]], root)
                for at in range(len(path))
            ),
        ]
        assert [proof for proof in wrong if is_included(*proof)] == []


def test_a_tree_of_no_entries_holds_nothing():
    assert not is_included(b"", 0, 0, [], EMPTY_ROOT)
    assert not is_included(b"", 0, 1, [], b"")
    assert not is_included(b"", 0, -1, [], EMPTY_ROOT)


def test_a_node_does_not_pass_as_an_entry():
    root = merkle_root(ENTRIES[:2])
    inner = leaf_hash(ENTRIES[0]) + leaf_hash(ENTRIES[1])
    assert not is_included(inner, 0, 1, [], root)


def test_a_path_of_an_entry_that_is_not_there_is_an_error():
    for index in (-1, 3):
        with pytest.raises(IndexError):
            inclusion_path([*map(leaf_hash, ENTRIES[:3])], index)


def _flipped(node: bytes) -> bytes:
    return bytes([node[0] ^ 1]) + node[1:]
