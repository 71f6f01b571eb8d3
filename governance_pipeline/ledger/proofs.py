"""Proofs about a ledger that anybody can check without it: one event is in it, one state is the beginning of another.

What belongs here: the documents `govern/ledger-proof/v1`, made and checked. What does not: the trees (`merkle`,
`consistency`) and whether a head is the one somebody kept: whoever checks brings that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.ledger.consistency import consistency_path, is_consistent
from governance_pipeline.ledger.head import Head
from governance_pipeline.ledger.merkle import (
    inclusion_path,
    is_included,
    leaf_hash,
    merkle_root_of_hashes,
)
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ledger.ledger import Ledger

SCHEMA = "govern/ledger-proof/v1"
PROOF_BYTES = 4 * 2**20
"""Largest proof that is read: an event has at most 1 MiB, and a path some 60 hashes."""

_INCLUSION = frozenset({"schema", "kind", "seq", "event", "size", "root", "path"})
_CONSISTENCY = frozenset({"schema", "kind", "old_size", "old_root", "size", "root", "path"})


class Checked(NamedTuple):
    """What a sound proof says: the head it is about, and the event it holds (None: it holds an older state)."""

    head: Head
    old_head: Head | None
    event: str | None


def inclusion_proof(ledger: Ledger, seq: int, size: int | None = None) -> dict[str, Any]:
    """Prove that event `seq` is in the ledger of `size` events (all of them by default).

    Raises:
        UsageError: there is no such event, or no such size.
        StorageError: the ledger cannot be read.
    """
    data = [event.bytes for event in ledger.events()]
    leaves = [leaf_hash(entry) for entry in data[: _size(size, len(data))]]
    if not 1 <= seq <= len(leaves):
        raise UsageError(f"event {seq} is not among the first {len(leaves)}; `govern ledger export` lists them")
    return {
        "schema": SCHEMA,
        "kind": "inclusion",
        "seq": seq,
        "event": data[seq - 1].decode(),
        "size": len(leaves),
        "root": merkle_root_of_hashes(leaves).hex(),
        "path": [node.hex() for node in inclusion_path(leaves, seq - 1)],
    }


def consistency_proof(ledger: Ledger, old_size: int, size: int | None = None) -> dict[str, Any]:
    """Prove that the ledger of `old_size` events is the beginning of that of `size` events.

    Raises:
        UsageError: there is no such size, or the older is the larger.
        StorageError: the ledger cannot be read.
    """
    leaves = [leaf_hash(event.bytes) for event in ledger.events()]
    leaves = leaves[: _size(size, len(leaves))]
    if not 1 <= old_size <= len(leaves):
        raise UsageError(f"no state of {old_size} events before that of {len(leaves)}; give one from 1 on")
    return {
        "schema": SCHEMA,
        "kind": "consistency",
        "old_size": old_size,
        "old_root": merkle_root_of_hashes(leaves[:old_size]).hex(),
        "size": len(leaves),
        "root": merkle_root_of_hashes(leaves).hex(),
        "path": [node.hex() for node in consistency_path(leaves, old_size)],
    }


def check_proof(data: bytes) -> Checked | None:
    """Check a proof by its own bytes; None when it proves nothing.

    Whether its head is the true one is not asked here: compare it with one that was kept elsewhere.

    Raises:
        UnreadableError: it is no proof document of this version.
    """
    if len(data) > PROOF_BYTES:
        raise UnreadableError(f"a proof has at most {PROOF_BYTES} bytes, this one {len(data)}")
    document = parse_json(data)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UnreadableError(f"this is no {SCHEMA} document; `govern ledger prove` and `consistency` write them")
    names = {"inclusion": _INCLUSION, "consistency": _CONSISTENCY}.get(str(document.get("kind")))
    if names is None or document.keys() != names:
        raise UnreadableError("this proof lacks a member or has one too many")
    try:
        return _inclusion(document) if names is _INCLUSION else _consistency(document)
    except (TypeError, ValueError, AttributeError):
        raise UnreadableError("a member of this proof is not of its form: sizes are numbers, hashes hex") from None


def _inclusion(document: Mapping[str, Any]) -> Checked | None:
    seq, size = _number(document["seq"]), _number(document["size"])
    path, root = _hashes(document["path"]), bytes.fromhex(document["root"])
    event: str = document["event"]
    if not is_included(event.encode(), seq - 1, size, path, root):
        return None
    return Checked(Head(size, root.hex()), None, event)


def _consistency(document: Mapping[str, Any]) -> Checked | None:
    old_size, size = _number(document["old_size"]), _number(document["size"])
    old_root, root = bytes.fromhex(document["old_root"]), bytes.fromhex(document["root"])
    if not is_consistent(old_size, size, _hashes(document["path"]), old_root, root):
        return None
    return Checked(Head(size, root.hex()), Head(old_size, old_root.hex()), None)


def _hashes(value: Sequence[str]) -> list[bytes]:
    return [bytes.fromhex(text) for text in value]


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _size(asked: int | None, there: int) -> int:
    if asked is not None and asked > there:
        raise UsageError(f"the ledger has {there} events, not {asked}")
    return there if asked is None else asked
