"""Steps of verification that hold the ledger to what was signed and what is remembered of it.

What belongs here: the checkpoint that seals a decision, and the head this verifier has seen. What does not: the events
themselves (`passage_steps.log`). Source: spec/gate.md §2 and §5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.ledger.checkpoint import CHECKPOINT, has_log_key, open_checkpoint
from governance_pipeline.ledger.remembered import cut_off_words, kept_conflicts, remembered_head
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from governance_pipeline.gate.events import Recorded
    from governance_pipeline.gate.passage import Offer, Passage
    from governance_pipeline.ledger.head import Head


def seal(passage: Passage) -> None:
    """LOG_INCONSISTENT: a decision recorded since the log has a key is sealed by a checkpoint it signed.

    The checkpoint stands right behind the decision and ends with it, so no process without that key can have recorded
    it. A decision of before needs none; those that close are believed without.
    """

    def check(offer: Offer) -> None:
        event = offer.event
        if event is None or not has_log_key(passage.verifier.root, event.ts):
            return
        fault = _seal_fault(passage, event)
        if fault is not None:
            message = f"no checkpoint of the log seals event {event.seq}, which holds this decision: {fault}"
            raise Refusal(ReasonCode.LOG_INCONSISTENT, message)

    passage.each(check)


def head(passage: Passage) -> None:
    """LOG_INCONSISTENT: the ledger begins with what this verifier remembers of it, and the log told one history."""
    verifier = passage.verifier
    for path in kept_conflicts(verifier.config):
        message = f"{path} holds a checkpoint the log signed of another history; find out which of the two is true"
        raise Refusal(ReasonCode.LOG_INCONSISTENT, message)
    try:
        old = remembered_head(verifier.config)
    except UsageError as error:
        raise Refusal(ReasonCode.LOG_INCONSISTENT, str(error)) from error
    if old is not None and not _begins_with(old, passage):
        raise Refusal(ReasonCode.LOG_INCONSISTENT, cut_off_words(old))


def _begins_with(old: Head, passage: Passage) -> bool:
    ledger = passage.verifier.ledger
    return old.size <= ledger.size() and passage.history.head(ledger, old.size) == old


def _seal_fault(passage: Passage, event: Recorded) -> str | None:
    verifier = passage.verifier
    behind = next(verifier.ledger.events(after=event.seq), None)
    note = None if behind is None or behind.type != CHECKPOINT else behind.body.get("note")
    if type(note) is not str:
        return "there is none behind it"
    try:
        checkpoint = open_checkpoint(note.encode(), verifier.root, at=event.ts)
    except (UnreadableError, Refusal) as error:
        return str(error)
    is_of_it = checkpoint.head == passage.history.head(verifier.ledger, event.seq)
    return None if is_of_it else f"the one behind it is of {checkpoint.head.size} events of another history"
