"""What the gate writes into the ledger, and reading it back: requests, decisions, passages, freezes, and the rest.

What belongs here: types of events, their bodies, and the fold that puts them in order. What does not: whether any of it
counts. A fold believes nothing: a decision here is an envelope somebody recorded, to be verified each time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.asked_once import AskedOnce
from governance_pipeline.gate.attempts import Failed, Retried, failed_of, retried_of
from governance_pipeline.gate.delegation import Delegated, delegated_of
from governance_pipeline.gate.event_members import request_members, text, texts
from governance_pipeline.gate.freezes import Freezes
from governance_pipeline.gate.gates import is_gate
from governance_pipeline.gate.grouped import grouped
from governance_pipeline.ledger.rebaselines import read_rebaselines
from governance_pipeline.ledger.verification import Fault
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger


class EventType(StrEnum):
    """Types of the gate's events; names stay for ever, because events do."""

    REQUESTED = "REQUESTED"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    REVOKED = "REVOKED"
    INTENT = "INTENT"
    CONSUMED = "CONSUMED"
    RELEASED = "RELEASED"
    DONE = "DONE"
    FREEZE = "FREEZE"
    UNFREEZE = "UNFREEZE"
    CASE_RESOLVED = "CASE_RESOLVED"
    RUN_FAILED = "RUN_FAILED"
    RETRY = "RETRY"
    DELEGATED = "DELEGATED"
    UNDELEGATED = "UNDELEGATED"


DECISIONS = (EventType.APPROVED, EventType.REJECTED, EventType.REVOKED)
CLOSING = (EventType.REJECTED, EventType.REVOKED)
DELEGATIONS = (EventType.DELEGATED, EventType.UNDELEGATED)
PASSAGES = (EventType.INTENT, EventType.CONSUMED, EventType.RELEASED, EventType.DONE)
PASSAGE_MEMBERS = ("gate", "round_id", "asset", "decision_id", "subject_sha256", "run_id", "root_run_id")
"""What the body of every event of a passage holds."""

UNUSABLE, _DECISION_TEXTS = "unusable", ("gate", "round_id", "request_id", "decision_id")
"""Code of the fault of an event that does not hold what its type needs."""


class Requested(NamedTuple):
    """One window of one request: asked at `created`, to be decided before `expires`.

    `window` counts from 0: unchanged work whose request timed out is asked again under the same id. `upstream` holds
    the digests the subject was made from, so that a changed table is seen without making the manifest again; `verdicts`
    those of the validators' verdicts, so that one that vanishes later is missed.
    """

    seq: int
    request_id: str
    gate: str
    round_id: str
    subject_sha256: str
    window: int
    created: datetime
    expires: datetime
    requester: str
    actors: tuple[str, ...]
    policy_version: str
    policy_sha256: str
    code_sha256: str
    upstream: Mapping[str, str]
    verdict_status: str
    producers_count: int
    failed_independence: int
    mismatch_cases: int
    verdicts: tuple[str, ...]
    supersedes: str | None
    project_baseline: str | None = None


class Recorded(NamedTuple):
    """One decision as it was recorded: an envelope, not believed."""

    seq: int
    ts: datetime
    type: EventType
    gate: str
    round_id: str
    request_id: str
    decision_id: str
    actor: str
    envelope: bytes


class Passed(NamedTuple):
    """One step of a passage: the decision and bytes that were used, for which asset, by which run."""

    seq: int
    ts: datetime
    type: EventType
    gate: str
    round_id: str
    asset: str
    decision_id: str
    subject_sha256: str
    run_id: str
    root_run_id: str
    output_sha256: str | None


class Resolution(NamedTuple):
    """One recorded resolution of a case: an envelope, not believed; the texts are only shown."""

    seq: int
    case_id: str
    actor: str
    resolution: str
    reason: str
    envelope: bytes


@dataclass
class History(AskedOnce):
    """What the ledger says of the gate, up to event number `size`.

    `last_ts` is the latest time of an event that may open something; one that closes may carry any, so that a person
    whose clock was wrong closes nothing but what they meant to. `unusable` are events that do not hold what their type
    needs: as long as there is one, every gate is closed.
    """

    size: int = 0
    last_ts: datetime | None = None
    requests: list[Requested] = field(default_factory=list)
    decisions: list[Recorded] = field(default_factory=list)
    passages: list[Passed] = field(default_factory=list)
    freezes: Freezes = field(default_factory=Freezes)
    resolutions: dict[str, list[Resolution]] = field(default_factory=dict)
    failures: list[Failed] = field(default_factory=list)
    retries: list[Retried] = field(default_factory=list)
    delegations: list[Delegated] = field(default_factory=list)
    unusable: list[Fault] = field(default_factory=list)

    def in_force(self, gate: str, round_id: str) -> Requested | None:
        """Give the latest request of a round; None when nothing was asked yet."""
        return self._asked.get((gate, round_id))

    def of_round(self, gate: str, round_id: str) -> list[Recorded]:
        """Give the decisions recorded for a round, oldest first."""
        return list(self._decided.get((gate, round_id), ()))

    def approvals(self, request: Requested) -> list[Recorded]:
        """Give the approvals recorded for one window of a request, oldest first; none is believed yet."""
        recorded = self.of_round(request.gate, request.round_id)
        return [
            d
            for d in recorded
            if d.type is EventType.APPROVED and d.seq > request.seq and d.request_id == request.request_id
        ]

    def windows(self, request_id: str) -> list[Requested]:
        """Give the windows of a request, oldest first."""
        return [r for r in self.requests if r.request_id == request_id]

    def passages_of(self, request: Requested) -> list[Passed]:
        """Give the steps of passages on one window of a request, oldest first."""
        passages = self._passed.get((request.gate, request.round_id), ())
        return [p for p in passages if p.seq > request.seq and p.subject_sha256 == request.subject_sha256]

    @cached_property
    def used(self) -> dict[tuple[str, str], list[Passed]]:
        """Asset and round -> the steps of its passages, oldest first."""
        return grouped(self.passages, lambda passed: (passed.asset, passed.round_id))

    @cached_property
    def approvals_by_id(self) -> dict[str, list[Recorded]]:
        """Id of a decision -> what was recorded under it as an approval, oldest first; none is believed yet."""
        approvals = (d for d in self.decisions if d.type is EventType.APPROVED)
        return grouped(approvals, lambda recorded: recorded.decision_id)

    @cached_property
    def _asked(self) -> dict[tuple[str, str], Requested]:
        return {(r.gate, r.round_id): r for r in self.requests}

    @cached_property
    def _decided(self) -> dict[tuple[str, str], list[Recorded]]:
        return grouped(self.decisions, lambda decision: (decision.gate, decision.round_id))

    @cached_property
    def _passed(self) -> dict[tuple[str, str], list[Passed]]:
        return grouped(self.passages, lambda passed: (passed.gate, passed.round_id))


def read_history(ledger: Ledger, *, is_strict: bool = True) -> History:
    """Fold the gate's events of a ledger.

    Args:
        ledger: where they are.
        is_strict: an event that cannot be used is a refusal; else it is left out and named in `unusable`, which is for
            closing a gate and for naming such events, never for opening one.

    Raises:
        Refusal: LOG_INCONSISTENT when the ledger cannot be read, or an event does not hold what its type needs; names
            the event.
    """
    try:
        history = _folded(ledger)
    except StorageError as error:
        raise Refusal(ReasonCode.LOG_INCONSISTENT, str(error)) from error
    if is_strict:
        refuse_unusable(history)
    return history


def refuse_unusable(history: History) -> None:
    """Refuse a history in which an event could not be used.

    Raises:
        Refusal: LOG_INCONSISTENT, naming the first one.
    """
    for first in history.unusable[:1]:
        message = (
            f"event {first.seq} of the ledger: {first.code}: {first.message}; every gate stays closed. "
            "`govern ledger verify` names all such events: find out who appended them, and restore the ledger from "
            "before. Rejecting and revoking still work"
        )
        raise Refusal(ReasonCode.LOG_INCONSISTENT, message)


def _folded(ledger: Ledger) -> History:
    size = ledger.size()
    history = History(size, freezes=Freezes(rebaselines=read_rebaselines(ledger, size)))
    for event in ledger.events(after=size - 1):
        _note_time(history, event)
    for event in ledger.events(types=set(EventType)):
        if event.seq > size:
            break
        _note_time(history, event)
        try:
            _add(history, event)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            said = f"it does not hold what a {event.type} needs ({error!r})"
            history.unusable.append(Fault(event.seq, UNUSABLE, said))
    return history


def _note_time(history: History, event: Event) -> None:
    if event.type not in CLOSING:
        history.last_ts = max(event.ts, history.last_ts or event.ts)


def _add(history: History, event: Event) -> None:
    kind, body = EventType(event.type), event.body
    if kind is EventType.REQUESTED:
        if is_gate(text(body["gate"])):  # a gate of another version of this program is no business of this one
            baseline, members = body.get("project_baseline_version"), request_members(body)
            history.requests.append(Requested(seq=event.seq, project_baseline=baseline and text(baseline), **members))
    elif kind in DECISIONS:
        names, envelope = texts(body, _DECISION_TEXTS), text(body["envelope"]).encode()
        history.decisions.append(Recorded(event.seq, event.ts, kind, **names, actor=event.actor, envelope=envelope))
    elif kind in PASSAGES:
        names, output = texts(body, PASSAGE_MEMBERS), body.get("output_sha256")
        history.passages.append(Passed(event.seq, event.ts, kind, **names, output_sha256=output and text(output)))
    elif kind is EventType.FREEZE:
        history.freezes.add(event)
    elif kind is EventType.UNFREEZE:
        history.freezes.lift(event)
    else:
        _add_around(history, kind, event)


def _add_around(history: History, kind: EventType, event: Event) -> None:
    """Add what goes with a decision: attempts to publish it, delegations, and the cases it rests on."""
    if kind is EventType.RUN_FAILED:
        history.failures.append(failed_of(event))
    elif kind is EventType.RETRY:
        history.retries.append(retried_of(event))
    elif kind in DELEGATIONS:
        history.delegations.append(delegated_of(event, is_given=kind is EventType.DELEGATED))
    else:
        names, envelope = texts(event.body, ("case_id", "resolution", "reason")), text(event.body["envelope"]).encode()
        made = Resolution(event.seq, actor=event.actor, envelope=envelope, **names)
        history.resolutions.setdefault(made.case_id, []).append(made)
