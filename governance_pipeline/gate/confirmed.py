"""Mismatches a person has decided, as plain rows: what the confidence tables and people's lists are made from.

What belongs here: reading them off where the cases stand. What does not: whether a resolution counts (`cases`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from governance_pipeline.gate.cases import CaseStanding


class DecidedMismatch(NamedTuple):
    """One record whose mismatch was resolved in a way that counts: what was found, and when the ledger recorded it."""

    round_id: str
    record_id: str
    outcome: str
    at: datetime


def decided_mismatches(standings: Iterable[CaseStanding]) -> list[DecidedMismatch]:
    """Return the decided mismatches the tables still ask about, by round and record.

    Of a record whose values changed since, the resolution is about other values and does not count.
    """
    return sorted(
        DecidedMismatch(s.case.round_id, record.record_id, str(s.resolved.outcome), s.resolved.at)
        for s in standings
        if s.case.is_mismatch and s.is_current and s.resolved is not None and s.resolved.outcome is not None
        for record in s.case.records
    )
