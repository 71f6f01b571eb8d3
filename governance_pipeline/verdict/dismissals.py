"""Which findings a person has dismissed in a way that counts.

What belongs here: holding what the ledger has to the findings as they are. What does not: recording and signing
(gate), and what may be dismissed at all (dismissal_policy). A finding that is dismissed stays in every output, with
name and reason; only its decision is `dismissed`, from which nothing follows. Source: spec/verdict.md §4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.ledger.cases import OPENER
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust.actors import round_actors
from governance_pipeline.trust.dismissal_statement import dismissed, finding_ref
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.verdict.dismissal_policy import shipped_dismissal_policy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime

    import pandas as pd

    from governance_pipeline.ledger.dismissals import DismissalHistory
    from governance_pipeline.trust.dismissal_statement import FindingRef
    from governance_pipeline.trust.root import TrustRoot
    from governance_pipeline.verdict.dismissal_policy import DismissalPolicy

PARTY_TABLES: Final = ("core_runs", "core_steps", "core_changes")
"""Tables that name who produced a round."""
_SHOWN_CHARACTERS: Final = 1000


class Dismissal(NamedTuple):
    """A dismissal that counts: who, why, when it was recorded, its last day (None: no end), and its event."""

    by: tuple[str, ...]
    reason: str
    at: datetime
    until: date | None
    seq: int


@dataclass(frozen=True)
class Dismissals:
    """What of the recorded dismissals counts, under a trust root at an instant.

    Attributes:
        root: who is who; without one nothing counts.
        now: instant at which keys and last days are judged.
        history: what the ledger has; None: no ledger was looked at.
        policy: what may be dismissed; None: what the shipped policy says.
    """

    root: TrustRoot | None = None
    now: datetime | None = None
    history: DismissalHistory | None = None
    policy: DismissalPolicy | None = None
    _parties: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def known(self, tables: Mapping[str, pd.DataFrame]) -> Dismissals:
        """Give the same with the producers of the rounds of `tables`.

        Raises:
            LookupError: a table of `PARTY_TABLES` is missing, while dismissals are recorded. Without them nobody knows
                who must not dismiss.
        """
        if self.root is None or self.history is None or not self.history.of:
            return self
        actors = round_actors(empty_frame("core_attestations"), *(tables[name] for name in PARTY_TABLES))
        parties = {key: (*some, OPENER) for key, some in actors.items()}
        return Dismissals(self.root, self.now, self.history, self.policy, parties)

    def of(self, row: Mapping[str, Any]) -> Dismissal | None:
        """Give the first dismissal of a finding that counts; None: it is not dismissed.

        Args:
            row: round_id, finding_id, code, message and factors as in `verdict_findings`.
        """
        if self.root is None or self.now is None or self.history is None:
            return None
        recorded = self.history.of.get((row["round_id"], row["finding_id"]), ())
        policy = self.policy or shipped_dismissal_policy()
        if not recorded or row["code"] in policy.not_dismissible:
            return None
        parties = self._parties.get(row["round_id"])
        if parties is None:  # nobody is known to have produced this round, so nobody is clear of it
            return None
        for one in recorded:
            try:
                said = dismissed(one.envelope, ref_of(row), self.root, parties, self.now)
            except Refusal:
                continue
            return Dismissal(said.people, said.reason, one.ts, said.until, one.seq)
        return None


NOTHING: Final = Dismissals()
"""No ledger was looked at: nothing is dismissed."""


def ref_of(row: Mapping[str, Any]) -> FindingRef:
    """Give what a dismissal of a row of `verdict_findings` is bound to."""
    return finding_ref(row["round_id"], row["finding_id"], row["code"], row["message"], row["factors"])


def parties_of(tables: Mapping[str, pd.DataFrame], round_id: str) -> tuple[str, ...]:
    """Give who produced or requested a round, by its tables; nobody is known when it is only the requester."""
    actors = round_actors(empty_frame("core_attestations"), *(tables[name] for name in PARTY_TABLES))
    return (*actors.get(round_id, ()), OPENER)


def columns_of(dismissal: Dismissal | None, decision: str) -> dict[str, Any]:
    """Give decision and dismissal of a finding as columns of `verdict_findings`.

    Args:
        dismissal: the one that counts; None: the finding is not dismissed.
        decision: what would follow from the finding.
    """
    if dismissal is None:
        return {"decision": decision}
    return {
        "decision": "dismissed",
        "dismissed_decision": decision,
        "dismissed_by": ", ".join(dismissal.by),
        "dismissal_reason": dismissal.reason,
        "dismissed_at": dismissal.at,
        "dismissed_until_on": None if dismissal.until is None else dismissal.until.isoformat(),
        "dismissal_seq": dismissal.seq,
    }


def entry_of(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the dismissal of a row of `verdict_findings` as documents show it; None when it is not dismissed."""
    if row["dismissed_decision"] is None:
        return None
    return {
        "by": excerpt(row["dismissed_by"], _SHOWN_CHARACTERS),
        "reason": excerpt(row["dismissal_reason"], _SHOWN_CHARACTERS),
        "at": instant_text(row["dismissed_at"]),
        "until": row["dismissed_until_on"],
        "decision": row["dismissed_decision"],
        "ledger_seq": row["dismissal_seq"],
    }
