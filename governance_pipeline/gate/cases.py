"""Where escalation cases stand: what the tables ask, what the ledger holds, and what of it counts.

What belongs here: one state for each case, the same for the commands and the asset checks. What does not: which records
make a case (crosscheck), recording (`case_deciding`) and layout (`case_page`). Nothing is stored: state, age and
whether a case is overdue are true when they are read, without any daemon. Source: spec/crosscheck.md §5.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.crosscheck.cases import cases_of
from governance_pipeline.crosscheck.policies import EscalationPolicy, escalation_policy
from governance_pipeline.errors import StorageError
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.grouped import grouped
from governance_pipeline.gate.inputs import read_inputs
from governance_pipeline.gate.parties import REQUESTER
from governance_pipeline.gate.resolutions import record_of_row, require_allowed
from governance_pipeline.ledger.cases import CaseEvent, CaseHistory, read_cases
from governance_pipeline.trust.case_statement import MISMATCH, Outcome, stated
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import Refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.gate.events import Requested
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.ledger.cases import Case, Opened
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trust.case_statement import CaseRef

TABLES = ("audit_escalations", "audit_cross_checks")
"""The tables that make the cases of a round."""


_NAMING = ["round_id", "record_id", "check_id", "field"]
"""What names the check and field of a case."""


class CaseState(StrEnum):
    """Where a case stands; an acknowledged one is still to be decided."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


class Said(NamedTuple):
    """A statement that counts: event number, when it was recorded, who signed, why, and what they found."""

    seq: int
    at: datetime
    people: tuple[str, ...]
    reason: str
    outcome: Outcome | None


class CaseStanding(NamedTuple):
    """A case, and where it stands.

    Attributes:
        case: what it asks.
        opened_at: when the pipeline recorded it; None: the ledger does not hold it yet.
        acknowledged: the last acknowledgement that counts.
        resolved: the first resolution that counts.
        age_days: whole days from opening to resolution, or to now; None when it was not opened.
        is_overdue: nobody has resolved it and the policy's age is reached; None when it was not opened.
        is_current: the round's tables ask it as they are; None: they are not there, or damaged.
        left_out: why recorded statements do not count.
    """

    case: Case
    opened_at: datetime | None
    acknowledged: Said | None
    resolved: Said | None
    age_days: int | None
    is_overdue: bool | None
    is_current: bool | None
    left_out: tuple[str, ...]

    @property
    def state(self) -> CaseState:
        """Its state, of statements that count alone."""
        if self.resolved is not None:
            return CaseState.RESOLVED
        return CaseState.OPEN if self.acknowledged is None else CaseState.ACKNOWLEDGED

    @property
    def owner(self) -> str | None:
        """Who has said last that they look after it; None: nobody, and the assignee is asked."""
        return None if self.acknowledged is None else self.acknowledged.people[0]


class Cases:
    """All cases of a ledger and a lake at one moment."""

    def __init__(
        self,
        verifier: Verifier,
        now: datetime,
        history: CaseHistory | None = None,
        requests: Sequence[Requested] | None = None,
    ) -> None:
        """Read what the ledger says; of its cases and its requests what was read already is taken as it is.

        Raises:
            StorageError: the ledger cannot be read.
            PolicyError: a copy of the escalation policy is looser than the shipped one.
        """
        self.verifier = verifier
        self.now = now
        self.history = read_cases(verifier.ledger) if history is None else history
        self.policy: EscalationPolicy = escalation_policy(verifier.config.source.parent)
        if requests is None:
            requests = read_history(verifier.ledger, is_strict=False).requests
        self._requests = grouped(requests, lambda request: request.round_id)
        self._actors: dict[str, frozenset[str]] = {}
        self._opened: dict[str, dict[CaseRef, Opened]] = defaultdict(dict)
        for ref, opened in self.history.opened.items():
            self._opened[ref.round_id][ref] = opened

    def standings(self, round_ids: Collection[str] | None = None) -> list[CaseStanding]:
        """Give the cases of rounds (None: of all there are), oldest first, those not opened yet last."""
        of_ledger = {ref.round_id for ref in self.history.opened}
        rounds = of_ledger | set(self.verifier.lake.rounds(TABLES[0])) if round_ids is None else set(round_ids)
        found = [standing for round_id in sorted(rounds) for standing in self._of_round(round_id)]
        return sorted(found, key=lambda s: (s.opened_at is None, s.opened_at or self.now, s.case.ref))

    def actors(self, round_id: str) -> frozenset[str]:
        """Give everybody who has a part in a round: by its tables, by requests about it, and as its cases were opened.

        Only a name more can be found in more places, so what is damaged or gone never clears anybody.
        """
        if round_id not in self._actors:
            names = {
                REQUESTER,
                *(n for o in self._opened.get(round_id, {}).values() for n in o.actors),
            }
            names |= {n for r in self._requests.get(round_id, ()) for n in (*r.actors, r.requester)}
            with suppress(StorageError):  # the ledger's names are what is left then
                names |= set(read_inputs(PUBLISH, round_id, self.verifier.lake).parties.actors)
            self._actors[round_id] = frozenset(names)
        return self._actors[round_id]

    def _of_round(self, round_id: str) -> Iterable[CaseStanding]:
        opened = self._opened.get(round_id, {})
        asked = current_cases(self.verifier.lake, round_id)
        current = {case.ref: case for case in asked or ()}
        for ref, case in {**current, **{ref: o.case for ref, o in opened.items()}}.items():
            opened_at = opened[ref].opened_at if ref in opened else None
            yield self._standing(case, opened_at, None if asked is None else ref in current)

    def _standing(self, case: Case, opened_at: datetime | None, is_current: bool | None) -> CaseStanding:
        said, left_out = self._said(case.ref)
        resolved = next((s for s in said if s.outcome is not None), None)
        before = [s for s in said if s.outcome is None and (resolved is None or s.seq < resolved.seq)]
        end = self.now if resolved is None else resolved.at
        age = None if opened_at is None else max((end - opened_at).days, 0)
        late = self.policy.overdue_after_days[MISMATCH if case.is_mismatch else "unverifiable"]
        is_overdue = None if age is None else resolved is None and age >= late
        return CaseStanding(
            case, opened_at, before[-1] if before else None, resolved, age, is_overdue, is_current, left_out
        )

    def _said(self, ref: CaseRef) -> tuple[list[Said], tuple[str, ...]]:
        said: list[Said] = []
        left_out: list[str] = []
        for step in self.history.steps.get(ref, ()):
            resolves = step.type is CaseEvent.RESOLVED
            try:
                found = stated(
                    step.envelope, ref, self.verifier.root, self.actors(ref.round_id), self.now, resolves=resolves
                )
                if resolves:
                    require_allowed(found, self.policy)
            except Refusal as refusal:
                left_out.append(f"event {step.seq}: {refusal}")
            else:
                said.append(Said(step.seq, step.ts, found.people, found.reason, found.outcome))
        return said, tuple(left_out)


def current_cases(lake: Lake, round_id: str) -> list[Case] | None:
    """Give the cases the tables of a round ask as they are; None: a table is not there, or damaged."""
    try:
        escalations = lake.get(TABLES[0], round_id)
        return [] if escalations.empty else cases_of(escalations, lake.get(TABLES[1], round_id)[_NAMING])
    except StorageError:
        return None


def unresolved_mismatches(standings: Sequence[CaseStanding]) -> list[CaseStanding]:
    """Give the mismatches the tables ask that nobody has resolved in a way that counts."""
    return [s for s in standings if s.case.is_mismatch and s.is_current and s.state is not CaseState.RESOLVED]


def standing_facts(standings: Sequence[CaseStanding]) -> dict[tuple[str, str], dict[str, Any]]:
    """Give where the case of each record stands, for pages and documents, by round and record id; current cases only.

    Members: case_id, state, opened_at (UTC text), age_days, is_overdue, owner (who holds it), assignee.
    """
    return {
        (s.case.round_id, record.record_id): {
            "case_id": s.case.case_id,
            "state": str(s.state),
            "opened_at": None if s.opened_at is None else instant_text(s.opened_at),
            "age_days": s.age_days,
            "is_overdue": s.is_overdue,
            "owner": s.owner,
            "assignee": s.case.assignee,
        }
        for s in standings
        if s.is_current
        for record in s.case.records
    }


def with_standing(audit_escalations: pd.DataFrame, standings: Sequence[CaseStanding]) -> pd.DataFrame:
    """Return the rows of the table as they stand by the ledger: state, opened_at, age_days, owner and is_overdue.

    The table itself stays what its inputs make it. A record of a group stands where its group stands.
    """
    by_record = {
        (s.case.round_id, record, s.case.reason): s for s in standings if s.is_current for record in s.case.records
    }
    rows = plain_rows(audit_escalations)
    found = [by_record.get((row["round_id"], record_of_row(row), row["reason"])) for row in rows]
    columns: dict[str, list[Any]] = {
        "state": [str(CaseState.OPEN if s is None else s.state) for s in found],
        **{name: [s and getattr(s, name) for s in found] for name in ("opened_at", "age_days", "owner", "is_overdue")},
    }
    return audit_escalations.assign(**columns)
