"""E and J: what a round has proven up to a step, and that in relation to the surface of the step.

What belongs here: the share with its reason, and the ratio. What does not: the fold of evidence records
(`rounds.evidence`). Source: spec/trajectory.md §1.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.rounds.evidence import Evidence, EvidenceState, proven, proven_by_step
from governance_pipeline.trajectory.events import EVIDENCE_FILE, quarantined_lines
from governance_pipeline.trajectory.formulas import EPSILON
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.reasons import Reason
from governance_pipeline.trajectory.terms import Term

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from governance_pipeline.trajectory.rules import RoundRules


class RoundEvidence(NamedTuple):
    """The evidence of one round.

    `reason` says why E is unknown, None when it is known; `required` is None without a valid contract.
    """

    rules: RoundRules
    records: list[Evidence]
    reason: Reason | None

    @property
    def required(self) -> int | None:
        """Criteria the contract requires."""
        return None if self.rules.contract is None else len(self.rules.contract.required)

    @property
    def proven_required(self) -> int | None:
        """Those proven by all records of the round, also those after its last step; None when E is unknown."""
        if self.reason is not None or self.rules.contract is None:
            return None
        return proven(self.rules.contract, self.records).proven_required

    def share(self) -> Term:
        """E of the round."""
        if self.reason is not None or self.rules.contract is None:
            return Term(None, self.reason)
        return Term(proven(self.rules.contract, self.records).share)

    def shares(self, steps: Sequence[int]) -> list[Term]:
        """E after each of some steps, in their order."""
        if self.reason is not None or self.rules.contract is None:
            return [Term(None, self.reason)] * len(steps)
        return [Term(at.share) for at in proven_by_step(self.rules.contract, self.records, steps)]


def evidence_by_round(
    rules: Mapping[str, RoundRules], core_evidence: pd.DataFrame, raw_quarantine: pd.DataFrame
) -> dict[str, RoundEvidence]:
    """Give the evidence of every round; a quarantined line may have said anything about any criterion."""
    records: dict[str, list[Evidence]] = defaultdict(list)
    for row in rows_of(core_evidence, ("round_id", "step_index", "line", "criterion_id", "state", "strength")):
        state = EvidenceState(row["state"])
        record = Evidence(row["step_index"], row["line"], row["criterion_id"], state, row["strength"])
        records[row["round_id"]].append(record)
    broken = quarantined_lines(raw_quarantine, EVIDENCE_FILE)
    found = {}
    for round_id, of in rules.items():
        lost = Reason.EVIDENCE_QUARANTINED if round_id in broken else None
        found[round_id] = RoundEvidence(of, records[round_id], of.no_contract or lost)
    return found


def evidence_per_surface(evidence: float | None, surface: float | None) -> float | None:
    """J = (E + epsilon) / (S + epsilon); None when either is unknown."""
    return None if evidence is None or surface is None else (evidence + EPSILON) / (surface + EPSILON)
