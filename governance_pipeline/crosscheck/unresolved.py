"""Rows of the audit tables that still speak against a round: what the asset checks and gates ask for.

What belongs here: which rows of a stored table are an open mismatch. What does not: comparing (engine, integrity).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    import pandas as pd

_CLOSED: Final = "resolved"


def open_mismatches(audit_escalations: pd.DataFrame) -> pd.DataFrame:
    """Return the escalated mismatches nobody has decided on; columns as contract `audit_escalations`.

    Acknowledged is not decided. Unverifiable records are open questions, not mismatches.
    """
    is_mismatch = audit_escalations["reason"] == str(RecordStatus.MISMATCH)
    return audit_escalations[is_mismatch & (audit_escalations["state"] != _CLOSED)]


def false_hashes(audit_integrity: pd.DataFrame) -> pd.DataFrame:
    """Return the declared hashes that are not those of the bytes; columns as contract `audit_integrity`."""
    return audit_integrity[audit_integrity["status"] == str(RecordStatus.MISMATCH)]
