"""A person registers the plan of a calibration, and later the one result it came to.

What belongs here: refusing what would not count, and appending it. What does not: evaluating (verdict) and asking the
person (cli). The time of a registration is the time of this machine when it was appended, whatever the plan says.
Source: spec/verdict.md §3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.sealing import seal_of
from governance_pipeline.ledger.calibrations import (
    CalibrationStanding,
    evaluation_event,
    in_force,
    read_calibrations,
    registration_event,
    standings,
)
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.trust.calibration_statement import sign_plan, sign_result, stated_plan, stated_result
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.verdict.calibration_evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.ledger.event import Event
    from governance_pipeline.trust.keys import Signer

TABLE: Final = "features_conformal"
LIST_SCHEMA: Final = "govern/calibration-list/v1"


class Evaluated(NamedTuple):
    """An evaluation that was recorded: its event, and the result."""

    event: Event
    result: dict[str, Any]


def register(verifier: Verifier, plan: Mapping[str, Any], signer: Signer, *, clock: Callable[[], datetime]) -> Event:
    """Sign a plan and record it.

    Raises:
        Refusal: the signature would not count, or the id was registered before.
        StorageError: the ledger could not be read or written.
    """
    now = clock()
    envelope = sign_plan(plan, signer)
    people = stated_plan(envelope, verifier.root, now).people
    try:
        return verifier.ledger.append_all(
            [registration_event(plan, envelope, people[0], now)], seal=seal_of(verifier, now, is_opening=False)
        )[0]
    except AlreadyRecorded as recorded:
        message = f"calibration {plan['calibration_id']} was registered before, as event {recorded.event.seq}"
        raise Refusal(ReasonCode.REPLAYED, f"{message}; a plan is never changed, give another id") from None


def evaluate_once(
    verifier: Verifier, calibration_id: str, labels: bytes, signer: Signer, *, clock: Callable[[], datetime]
) -> Evaluated:
    """Evaluate a registered plan on labelled rounds of the lake, sign the result and record it, whatever it is.

    Raises:
        UsageError: no such plan, or the labelled rounds cannot be evaluated; nothing is recorded.
        Refusal: it was evaluated before, or the signature would not count.
        StorageError: lake or ledger could not be read or written.
    """
    now, history = clock(), read_calibrations(verifier.ledger)
    if calibration_id in history.evaluated:
        seq = history.evaluated[calibration_id].seq
        message = f"calibration {calibration_id} was evaluated, event {seq}; another sample needs another plan"
        raise Refusal(ReasonCode.REPLAYED, message)
    standing = _registered(verifier, standings(history, verifier.root, now), calibration_id)
    result = evaluate(standing.plan, standing.registered_at, labels, _rows(verifier))
    envelope = sign_result(result, standing.plan_sha256, signer)
    people = stated_result(envelope, standing.plan_sha256, verifier.root, now).people
    event = evaluation_event(standing.plan, result, envelope, people[0], now)
    try:
        seal = seal_of(verifier, now, is_opening=False)
        return Evaluated(verifier.ledger.append_all([event], after=history.size, seal=seal)[0], result)
    except (AlreadyRecorded, LedgerMoved):
        raise StorageError("the ledger was written to meanwhile; `list` tells whether this was evaluated") from None


def list_document(verifier: Verifier, now: datetime) -> dict[str, Any]:
    """Give `govern/calibration-list/v1`: every registered calibration, what it came to, and whether it is in force."""
    history = read_calibrations(verifier.ledger)
    known = {standing.calibration_id: standing for standing in standings(history, verifier.root, now)}
    valid = {standing.calibration_id for standing in in_force(history, verifier.root, now).values()}
    rows = [
        _entry(name, step.seq, step.actor, step.ts, known.get(name), is_in_force=name in valid)
        for name, step in history.registered.items()
    ]
    return {"schema": LIST_SCHEMA, "calibrations": rows, "unusable_events": [fault.seq for fault in history.unusable]}


def _entry(
    name: str, seq: int, actor: str, at: datetime, standing: CalibrationStanding | None, *, is_in_force: bool
) -> dict[str, Any]:
    evaluated_at = None if standing is None else standing.evaluated_at
    return {
        "calibration_id": name,
        "ledger_seq": seq,
        "registered_by": actor if standing is None else ", ".join(standing.registered_by),
        "registered_at": instant_text(at),
        "counts": standing is not None,
        "plan": None if standing is None else dict(standing.plan),
        "result": None if standing is None or standing.result is None else dict(standing.result),
        "evaluated_at": None if evaluated_at is None else instant_text(evaluated_at),
        "is_in_force": is_in_force,
    }


def _registered(verifier: Verifier, found: list[CalibrationStanding], calibration_id: str) -> CalibrationStanding:
    for standing in found:
        if standing.calibration_id == calibration_id:
            return standing
    raise UsageError(
        f"no calibration {calibration_id[:80]!r} that counts is registered in {verifier.ledger.path}; "
        "`govern verdict calibration list` lists them"
    )


def _rows(verifier: Verifier) -> list[Mapping[str, Any]]:
    lake = verifier.lake
    return [row for round_id in lake.rounds(TABLE) for row in plain_rows(lake.get(TABLE, round_id))]
