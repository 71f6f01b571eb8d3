"""One reading gives the head of every beginning, the one the tree gives that is grown entry by entry."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.ledger.head import Head
from governance_pipeline.ledger.heads import Heads
from governance_pipeline.ledger.merkle import Tree

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_every_beginning_up_to_seventy_events_has_the_root_of_a_tree_that_grew():
    entries, tree = [str(number).encode() for number in range(70)], Tree()
    heads = Heads(entries)
    for size in range(71):
        assert heads.head(size) == Head(size, tree.root().hex())
        if size < len(entries):
            tree.add(entries[size])


@pytest.mark.parametrize("size", [-1, 4])
def test_a_state_the_ledger_never_had_is_refused(size):
    with pytest.raises(StorageError, match="3 events"):
        Heads([b"a", b"b", b"c"]).head(size)


def test_the_heads_of_a_ledger_are_those_it_computes_one_by_one(ledger):
    for number in range(5):
        ledger.append("NOTE", "ana", {"number": number}, ts=NOON)
    heads = ledger.heads()
    assert [heads.head(size) for size in range(6)] == [ledger.head(size) for size in range(6)]
