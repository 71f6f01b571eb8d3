"""What `govern ledger` answers, as JSON documents (schemas in `schemas/`).

What belongs here: results turned into plain values. What does not: printing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.head import Head
    from governance_pipeline.ledger.verification import Fault


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


def export_document(path: Path, events: Iterable[Event]) -> dict[str, Any]:
    """Give `govern/ledger-export/v1`: the events as they are recorded."""
    return {
        "schema": "govern/ledger-export/v1",
        "ledger": str(path),
        "events": [json.loads(event.bytes) for event in events],
    }
