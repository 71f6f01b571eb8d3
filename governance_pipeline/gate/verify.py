"""Verification of passage: a fixed order of steps, fail closed, one reason code each (spec/gate.md §2).

What belongs here: the order, and turning whatever goes wrong into a refusal. What does not: any question itself. The
order is data, so that a test can leave each step out in turn and watch a forgery pass that this very step stops.
Appending the use to the ledger, which decides a race, comes after all of these (`guard`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.gate import delegations, envelope_steps, log_steps, passage_steps
from governance_pipeline.gate.closings import closing_decisions
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.inputs import read_inputs
from governance_pipeline.gate.passage import Offer, Passage
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from governance_pipeline.gate.events import History
    from governance_pipeline.gate.gates import Gate
    from governance_pipeline.gate.inputs import RoundInputs
    from governance_pipeline.gate.passage import Verifier

_LOGGER = logging.getLogger(__name__)


class Step(NamedTuple):
    """One step: its name, and the question, which raises a refusal."""

    name: str
    ask: Callable[[Passage], None]


AUTHORITY_STEP: Final = Step("authority", delegations.authority)
"""Asked also before a gate is closed: who closes it in the place of another was let to."""
DECISION_STEPS: Final[tuple[Step, ...]] = (
    Step("size", envelope_steps.size),
    Step("parse", envelope_steps.parse),
    Step("payload_type", envelope_steps.payload_type),
    Step("signature", envelope_steps.signature),
    Step("root", envelope_steps.root),
    Step("key", envelope_steps.key),
    Step("presence", envelope_steps.presence),
    Step("predicate", envelope_steps.predicate),
    AUTHORITY_STEP,
    Step("checkpoint", passage_steps.checkpoint),
    Step("freeze", passage_steps.freeze),
    Step("subject", passage_steps.subject),
    Step("policy", passage_steps.policy),
    Step("time", passage_steps.time),
    Step("independence", passage_steps.independence),
    Step("undecidable", passage_steps.undecidable),
)
"""What one decision must keep alone: asked before it is recorded, and each time it is used."""

STEPS: Final[tuple[Step, ...]] = (
    *DECISION_STEPS,
    Step("threshold", passage_steps.threshold),
    Step("standing", passage_steps.standing),
    Step("log", passage_steps.log),
    Step("seal", log_steps.seal),
    Step("head", log_steps.head),
    Step("consume", passage_steps.consume),
)
"""The whole order."""


ROUND_STEPS: Final = tuple(step for step in STEPS if step.name not in ("log", "seal", "head", "consume"))
"""All but what reads the whole ledger: for launching a run and telling people, after which an asset asks everything."""


def verify(passage: Passage, steps: Sequence[Step] = STEPS) -> Passage:
    """Ask every step; what comes back has passed.

    Raises:
        Refusal: the first step that says no; MISSING when no decision is offered; INTERNAL for anything unexpected.
    """
    if not passage.offers:
        raise _nothing_offered(passage)
    for step in steps:
        try:
            step.ask(passage)
        except Refusal:
            raise
        except StorageError as error:
            raise Refusal(_storage_code(step), f"{error} (asked by step {step.name})") from error
        except Exception as error:
            _LOGGER.exception("step %s of the gate failed", step.name)
            message = f"step {step.name} failed with {type(error).__name__}; the gate stays closed, the log says more"
            raise Refusal(ReasonCode.INTERNAL, message) from error
    return passage


def passage_of(
    verifier: Verifier,
    gate: Gate,
    round_id: str,
    now: datetime,
    *,
    asset: str | None = None,
    root_run_id: str | None = None,
    history: History | None = None,
    inputs: RoundInputs | None = None,
) -> Passage:
    """Gather one question from the ledger and the lake: every approval recorded for the round is offered.

    Args:
        verifier: what is trusted.
        gate: the gate.
        round_id: the round.
        now: the time.
        asset: gated asset that wants to use the bytes; None to ask only whether the gate is open.
        root_run_id: run it belongs to, across retries.
        history: the ledger as it was read already.
        inputs: the upstream tables as they were read already.

    Raises:
        Refusal: MISSING when nothing was asked for the round; DIGEST_MISMATCH when a table is not there or damaged;
            LOG_INCONSISTENT when the ledger cannot be used.
    """
    try:
        history = read_history(verifier.ledger) if history is None else history
    except StorageError as error:
        raise Refusal(ReasonCode.LOG_INCONSISTENT, str(error)) from error
    try:
        inputs = read_inputs(gate, round_id, verifier.lake) if inputs is None else inputs
    except StorageError as error:
        raise Refusal(ReasonCode.DIGEST_MISMATCH, str(error)) from error
    request = history.in_force(gate.name, round_id)
    if request is None:
        raise Refusal(ReasonCode.MISSING, f"nobody was asked about round {round_id}; make gate_requests first")
    recorded = [d for d in history.of_round(gate.name, round_id) if d.type is EventType.APPROVED]
    offers = [Offer(decision.envelope, decision) for decision in recorded]
    return Passage(verifier, inputs, history, request, offers, now, asset, root_run_id)


def _nothing_offered(passage: Passage) -> Refusal:
    """Say why there is nothing to verify: rejected, or never decided."""
    request = passage.request
    for closing in closing_decisions(passage.history, request, passage.verifier.root):
        return Refusal(ReasonCode.REVOKED, closing.said)
    return Refusal(
        ReasonCode.MISSING,
        f"round {request.round_id} awaits a decision; `govern gate approve {request.request_id}` or reject it",
    )


_OF_THE_LEDGER: Final = ("root", "log", "seal", "head")
"""Steps that read nothing else, so that what cannot be read is the ledger."""


def _storage_code(step: Step) -> ReasonCode:
    return ReasonCode.LOG_INCONSISTENT if step.name in _OF_THE_LEDGER else ReasonCode.DIGEST_MISMATCH
