"""The fold of criterion evidence: which criteria are proven after a step.

What belongs here: the last state of each criterion and the share of required ones that are proven. What does not:
reading `evidence.jsonl` (ingest) and weights (trajectory). Of a criterion's records with step <= t the last by
(step, line) decides; refuted is not proven; exit code and strength play no part in it. Sources: spec/ingest.md §3,
spec/trajectory.md §1 and §3.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from governance_pipeline.rounds.contract import RoundContract


class EvidenceState(StrEnum):
    """What one evidence record says about its criterion."""

    PROVEN = "proven"
    UNPROVEN = "unproven"
    REFUTED = "refuted"


class Evidence(NamedTuple):
    """One record of `evidence.jsonl`, as far as the fold reads it.

    `step` and `line` count from 1; `strength` is 0, 0.25, 0.5, 0.75, 1 or None when the record has none.
    """

    step: int
    line: int
    criterion_id: str
    state: EvidenceState
    strength: float | None = None


class Proven(NamedTuple):
    """How many criteria a round requires and how many of them are proven."""

    required: int
    proven_required: int

    @property
    def share(self) -> float:
        """E of `trajectory-features-v1`: 0 to 1, and 0 when nothing is required."""
        return self.proven_required / self.required if self.required else 0.0


def last_states(records: Iterable[Evidence], up_to: int | None = None) -> dict[str, Evidence]:
    """The record that decides each criterion: one entry per criterion id seen, in or outside the contract.

    Args:
        records: in any order.
        up_to: last step that counts; None counts every record, also those after the last step of the round.
    """
    decided: dict[str, Evidence] = {}
    for record in records:
        if up_to is not None and record.step > up_to:
            continue
        known = decided.get(record.criterion_id)
        if known is None or (known.step, known.line) <= (record.step, record.line):
            decided[record.criterion_id] = record
    return decided


def proven(contract: RoundContract, records: Iterable[Evidence], up_to: int | None = None) -> Proven:
    """Required criteria and the proven ones among them after step `up_to` (None: at the end of the round)."""
    states = last_states(records, up_to)
    required = [criterion.id for criterion in contract.required]
    return Proven(len(required), sum(1 for id_ in required if _is_proven(states.get(id_))))


def proven_by_step(contract: RoundContract, records: Iterable[Evidence], steps: Sequence[int]) -> list[Proven]:
    """`proven` after each of `steps`, in their order, in one pass over the records however many steps there are."""
    required = {criterion.id for criterion in contract.required}
    ordered = sorted((r for r in records if r.criterion_id in required), key=lambda r: (r.step, r.line))
    held: set[str] = set()
    counts: dict[int, int] = {}
    position = 0
    for step in sorted(set(steps)):
        while position < len(ordered) and ordered[position].step <= step:
            record = ordered[position]
            (held.add if _is_proven(record) else held.discard)(record.criterion_id)
            position += 1
        counts[step] = len(held)
    return [Proven(len(required), counts[step]) for step in steps]


def ordinal_strength(record: Evidence | None) -> float:
    """Strength that counts, 0 to 1 (spec/trajectory.md §3): that of a proven last state, 1 when it has none, else 0."""
    if record is None or not _is_proven(record):
        return 0.0
    return 1.0 if record.strength is None else record.strength


def _is_proven(record: Evidence | None) -> bool:
    return record is not None and record.state == EvidenceState.PROVEN
