"""A ledger held to checkpoints somebody kept: each that the log signed must be a state of it.

What belongs here: finding those that are none, and two of which neither can be the beginning of the other. What does
not: keeping such a proof (`remembered`). A log that signed both has told two histories (C2SP tlog-checkpoint).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.ledger.checkpoint import open_checkpoint
from governance_pipeline.ledger.verification import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.ledger.head import Head
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.root import TrustRoot


class Held(NamedTuple):
    """What became of kept checkpoints: faults, and the notes that contradict this ledger."""

    faults: list[Fault]
    contradicting: list[bytes]


def hold_to(ledger: Ledger, notes: Sequence[bytes], root: TrustRoot) -> Held:
    """Hold a ledger to checkpoints that were kept elsewhere.

    Args:
        ledger: the ledger.
        notes: signed notes, as they were kept.
        root: says which keys are of the log.

    Raises:
        UnreadableError: one is no signed note of a checkpoint.
        Refusal: WRONG_CHECKPOINT, BAD_SIGNATURE: one is of another log, or no key of this log signed it.
        StorageError: the ledger cannot be read.
    """
    heads = [open_checkpoint(note, root).head for note in notes]
    found = [(note, fault) for note, head in zip(notes, heads, strict=True) if (fault := _fault(ledger, head))]
    return Held([*(fault for _, fault in found), *_two_histories(heads)], [note for note, _ in found])


def _fault(ledger: Ledger, head: Head) -> Fault | None:
    size = ledger.size()
    if head.size > size:
        return Fault(size + 1, "truncated", f"the log signed a state of {head.size} events, now there are {size}")
    if ledger.head(head.size) != head:
        message = f"the log signed another history: its first {head.size} events had root {head.root}"
        return Fault(None, "equivocation", message)
    return None


def _two_histories(heads: Sequence[Head]) -> Iterator[Fault]:
    roots: dict[int, str] = {}
    for head in heads:
        if roots.setdefault(head.size, head.root) != head.root:
            message = f"the log signed two histories of {head.size} events: {roots[head.size]} and {head.root}"
            yield Fault(None, "equivocation", message)
