"""What `govern ledger` answers, as JSON documents (schemas in `schemas/`).

What belongs here: results turned into plain values. What does not: printing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from governance_pipeline.ledger.checkpoint import log_origin
from governance_pipeline.ledger.note import verifier_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.head import Head
    from governance_pipeline.ledger.verification import Fault
    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.principals import Key


def verify_document(
    path: Path, head: Head, faults: Sequence[Fault], unaccounted: Sequence[Mapping[str, str]] | None = None
) -> dict[str, Any]:
    """Give `govern/ledger-verify/v1`: size, root and faults, first bad event first.

    `unaccounted` are published files that did not pass the gate; None where no lake was looked at.
    """
    return {
        "schema": "govern/ledger-verify/v1",
        "ledger": str(path),
        "size": head.size,
        "root": head.root,
        "is_sound": not faults and not unaccounted,
        "faults": [fault._asdict() for fault in faults],
        "unaccounted": None if unaccounted is None else list(unaccounted),
    }


def checkpoint_document(config: GateConfig, head: Head, note: str, keys: Iterable[Key]) -> dict[str, Any]:
    """Give `govern/ledger-checkpoint/v1`: the signed note, and the keys that verify one of this log."""
    origin = log_origin(config.root_fingerprint)
    return {
        "schema": "govern/ledger-checkpoint/v1",
        "origin": origin,
        "size": head.size,
        "root": head.root,
        "note": note,
        "verifier_keys": [verifier_key(origin, key.public_key) for key in keys],
    }


def export_document(path: Path, events: Iterable[Event]) -> dict[str, Any]:
    """Give `govern/ledger-export/v1`: the events as they are recorded."""
    return {
        "schema": "govern/ledger-export/v1",
        "ledger": str(path),
        "events": [json.loads(event.bytes) for event in events],
    }
