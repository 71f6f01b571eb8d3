"""The principal that signs the checkpoints of a ledger.

What belongs here: its name, its file and its place in a trust root. What does not: signing (`checkpoint`) and adding it
(`log_keeping`, `root_keeping`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.trust.principals import Key, Kind, Principal, Role, Validity

if TYPE_CHECKING:
    from datetime import datetime

LOG_KEY_FILE: Final = "log-key.pem"
LOG_ID: Final = "log"


def log_principal(public_key: bytes, now: datetime) -> Principal:
    """Give the principal that signs checkpoints: a service, and nothing else."""
    return Principal(LOG_ID, Kind.SERVICE, LOG_ID, frozenset({Role.LOG}), (Key(public_key, Validity(now, None)),))
