"""Evidence weights in the ledger: their digest and the time they were declared at.

What belongs here: the event and the fold. What does not: what weights mean (trajectory). The time is that of the event;
the weights themselves are in it, so that whoever reads the ledger can compute everything again. They need no signature:
what protects them is that the ledger is append-only and an id is registered once. Source: spec/trajectory.md §3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ledger.cases import OPENER
from governance_pipeline.ledger.event import NewEvent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger

WEIGHTS: Final = "EVIDENCE_WEIGHTS_REGISTERED"
"""Type of the event; the name stays for ever, because events do."""


class RegisteredWeights(NamedTuple):
    """Weights as they were registered: digest, event and time."""

    sha256: str
    seq: int
    registered_at: datetime


def weights_event(weights_id: str, sha256: str, document: Mapping[str, Any], now: datetime) -> NewEvent:
    """Give the event of declared weights. An id is registered once."""
    body = {"weights_id": weights_id, "sha256": sha256, "weights": dict(document)}
    return NewEvent(WEIGHTS, OPENER, body, now, f"evidence-weights:{weights_id}")


def registered_weights(ledger: Ledger, weights_id: str) -> RegisteredWeights | None:
    """Give the first registration of an id; None: there is none.

    Raises:
        StorageError: the ledger cannot be read.
    """
    for event in ledger.events(types={WEIGHTS}):
        if event.body.get("weights_id") == weights_id and type(event.body.get("sha256")) is str:
            return _registered(event)
    return None


def _registered(event: Event) -> RegisteredWeights:
    return RegisteredWeights(event.body["sha256"], event.seq, event.ts)
