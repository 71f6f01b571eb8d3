"""Calibrations in the ledger: plans registered before their data exist, and what each came to, once.

What belongs here: the events, the fold, and what is in force. What does not: what people sign
(`trust.calibration_statement`) and how a plan is evaluated (verdict). The time of a registration is that of its event,
never of the plan. A result is kept whether it is a success or not, and of a signal the last one counts: a later plan
that fails takes the calibration back. Source: spec/verdict.md §3, spec/gate.md §5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.ledger.event import NewEvent
from governance_pipeline.ledger.rebaselines import RebaselineHistory, baseline_in_force, read_rebaselines
from governance_pipeline.ledger.verification import Fault
from governance_pipeline.trust.calibration_statement import plan_sha256, stated_plan, stated_result
from governance_pipeline.trust.reasons import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.root import TrustRoot


class CalibrationEvent(StrEnum):
    """Types of the events of calibrations; names stay for ever, because events do."""

    REGISTERED = "CALIBRATION_REGISTERED"
    EVALUATED = "CALIBRATION_EVALUATED"


class CalibrationStep(NamedTuple):
    """One recorded statement: an envelope, not believed; the actor is only shown."""

    seq: int
    ts: datetime
    actor: str
    envelope: bytes


@dataclass
class CalibrationHistory:
    """What the ledger says of calibrations, up to event number `size`.

    Of each id the first registration and the first evaluation count; `unusable` are events that do not hold what their
    type needs.
    """

    size: int = 0
    registered: dict[str, CalibrationStep] = field(default_factory=dict)
    evaluated: dict[str, CalibrationStep] = field(default_factory=dict)
    unusable: list[Fault] = field(default_factory=list)
    rebaselines: RebaselineHistory = field(default_factory=RebaselineHistory)


class CalibrationStanding(NamedTuple):
    """A calibration whose registration counts.

    Attributes:
        calibration_id: its id.
        plan: the registered `govern/calibration/v1`.
        plan_sha256: digest of it.
        registered_at: when the ledger recorded it.
        registered_by: who signed it.
        result: the `govern/calibration-result/v1`; None: not evaluated, or the result does not count.
        evaluated_at: when the ledger recorded that.
        seq: event of the result, else of the registration.
    """

    calibration_id: str
    plan: Mapping[str, Any]
    plan_sha256: str
    registered_at: datetime
    registered_by: tuple[str, ...]
    result: Mapping[str, Any] | None
    evaluated_at: datetime | None
    seq: int

    @property
    def is_validated(self) -> bool:
        """Whether it was evaluated, with success."""
        return self.result is not None and self.result.get("is_success") is True


def read_calibrations(ledger: Ledger) -> CalibrationHistory:
    """Fold the events of calibrations.

    Raises:
        StorageError: the ledger cannot be read.
    """
    history = CalibrationHistory(ledger.size())
    history.rebaselines = read_rebaselines(ledger, history.size)
    for event in ledger.events(types=set(CalibrationEvent)):
        if event.seq > history.size:
            break
        try:
            _add(history, event)
        except (LookupError, TypeError) as error:
            message = f"it does not hold what a {event.type} needs ({error!r})"
            history.unusable.append(Fault(event.seq, "unusable", message))
    return history


def standings(history: CalibrationHistory, root: TrustRoot, now: datetime) -> list[CalibrationStanding]:
    """Give the calibrations whose registration counts, oldest first; keys are judged at `now`."""
    found = (_standing(name, step, history, root, now) for name, step in history.registered.items())
    return [standing for standing in found if standing is not None]


def in_force(history: CalibrationHistory, root: TrustRoot, now: datetime) -> dict[str, CalibrationStanding]:
    """Give the calibration of each signal: that of the last evaluation, where it was a success.

    What was registered before the last re-baseline ended does not carry over: its cohort is another one by now.
    """
    baseline = baseline_in_force(history.rebaselines, root, now)
    first = 0 if baseline is None else baseline.seq
    known = (s for s in standings(history, root, now) if history.registered[s.calibration_id].seq > first)
    evaluated = sorted((s for s in known if s.result is not None), key=lambda s: s.seq)
    last = {str(standing.plan["signal"]): standing for standing in evaluated}
    return {signal: standing for signal, standing in last.items() if standing.is_validated}


def registration_event(plan: Mapping[str, Any], envelope: bytes, person: str, now: datetime) -> NewEvent:
    """Give the event of a registered plan. An id is registered once."""
    return _event(CalibrationEvent.REGISTERED, plan, plan, envelope, person, now)


def evaluation_event(
    plan: Mapping[str, Any], result: Mapping[str, Any], envelope: bytes, person: str, now: datetime
) -> NewEvent:
    """Give the event of an evaluation. A calibration is evaluated once."""
    return _event(CalibrationEvent.EVALUATED, plan, result, envelope, person, now)


def _event(
    kind: CalibrationEvent, plan: Mapping[str, Any], document: Mapping[str, Any], envelope: bytes, person: str,
    now: datetime,
) -> NewEvent:  # fmt: skip
    body = {
        "calibration_id": plan["calibration_id"],
        "signal": plan["signal"],
        "plan_sha256": plan_sha256(plan),
        **({} if kind is CalibrationEvent.REGISTERED else {"is_success": document["is_success"]}),
        "envelope": envelope.decode(),
    }
    return NewEvent(kind, person, body, now, f"{kind.lower()}:{plan['calibration_id']}")


def _standing(
    name: str, step: CalibrationStep, history: CalibrationHistory, root: TrustRoot, now: datetime
) -> CalibrationStanding | None:
    try:
        registered = stated_plan(step.envelope, root, now)
    except Refusal:
        return None
    if registered.document.get("calibration_id") != name:
        return None
    digest = plan_sha256(registered.document)
    known = CalibrationStanding(name, registered.document, digest, step.ts, registered.people, None, None, step.seq)
    evaluation = history.evaluated.get(name)
    if evaluation is None or evaluation.seq < step.seq:
        return known
    try:
        result = stated_result(evaluation.envelope, digest, root, now)
    except Refusal:
        return known
    return known._replace(result=result.document, evaluated_at=evaluation.ts, seq=evaluation.seq)


def _add(history: CalibrationHistory, event: Event) -> None:
    name, envelope = event.body["calibration_id"], event.body["envelope"]
    if type(name) is not str or type(envelope) is not str:
        raise TypeError("a text is missing")
    kept = history.registered if event.type == CalibrationEvent.REGISTERED else history.evaluated
    kept.setdefault(name, CalibrationStep(event.seq, event.ts, event.actor, envelope.encode()))
