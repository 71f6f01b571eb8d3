"""A newer state proves the older one to be its beginning, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.ledger.consistency import consistency_path, is_consistent
from governance_pipeline.ledger.merkle import leaf_hash, merkle_root, merkle_root_of_hashes, node_hash

LEAVES = st.lists(st.binary(max_size=4), min_size=1, max_size=40)


def _by_definition(old: int, leaves: list[bytes], *, is_whole: bool = True) -> list[bytes]:
    """RFC 9162 §2.1.4.1, word for word (SUBPROOF)."""
    if old == len(leaves):
        return [] if is_whole else [merkle_root_of_hashes(leaves)]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if old <= k:
        return [*_by_definition(old, leaves[:k], is_whole=is_whole), merkle_root_of_hashes(leaves[k:])]
    return [*_by_definition(old - k, leaves[k:], is_whole=False), merkle_root_of_hashes(leaves[:k])]


@pytest.mark.parametrize("new", range(1, 20))
def test_the_path_is_the_one_of_the_definition_and_proves_every_older_size(new):
    entries = [bytes([n]) for n in range(new)]
    leaves = [leaf_hash(entry) for entry in entries]
    for old in range(1, new + 1):
        path = consistency_path(leaves, old)
        assert path == _by_definition(old, leaves)
        assert is_consistent(old, new, path, merkle_root(entries[:old]), merkle_root(entries))


@pytest.mark.parametrize("new", range(2, 12))
def test_a_proof_changed_anywhere_proves_nothing(new):
    entries = [bytes([n]) for n in range(new)]
    leaves = [leaf_hash(entry) for entry in entries]
    root = merkle_root(entries)
    for old in range(1, new):
        old_root, path = merkle_root(entries[:old]), consistency_path(leaves, old)
        wrong = [
            (old, new, path, bytes(32), root),
            (old, new, path, old_root, bytes(32)),
            (old, new, [*path, bytes(32)], old_root, root),
            (old, new, [bytes(32), *path], old_root, root),
            *((other, new, path, old_root, root) for other in range(-1, new + 2) if other != old),
            *((old, new, path[:at] + path[at + 1 :], old_root, root) for at in range(len(path))),
            *((old, new, [*path[:at], bytes(32), *path[at + 1 :]], old_root, root) for at in range(len(path))),
            *((old, new, [*path[:at], path[at][:31], *path[at + 1 :]], old_root, root) for at in range(len(path))),
        ]
        assert [proof for proof in wrong if is_consistent(*proof)] == []


@given(LEAVES, st.data())
def test_a_history_with_one_older_entry_changed_is_never_consistent(entries, data):
    old = data.draw(st.integers(1, len(entries)))
    changed = data.draw(st.integers(0, old - 1))
    other = [*entries[:changed], entries[changed] + b"!", *entries[changed + 1 :]]
    leaves = [leaf_hash(entry) for entry in other]
    assert not is_consistent(
        old, len(other), consistency_path(leaves, old), merkle_root(entries[:old]), merkle_root(other)
    )


def test_an_empty_beginning_proves_nothing():
    root = merkle_root([b"a"])
    assert consistency_path([leaf_hash(b"a")], 0) == []
    assert not is_consistent(0, 1, [], merkle_root([]), root)
    assert not is_consistent(1, 2, [], root, node_hash(leaf_hash(b"a"), leaf_hash(b"b")))


@pytest.mark.parametrize("old", [-1, 4])
def test_an_older_state_that_is_not_there_is_an_error(old):
    with pytest.raises(IndexError):
        consistency_path([leaf_hash(b"a")] * 3, old)
