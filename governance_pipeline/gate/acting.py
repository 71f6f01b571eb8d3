"""Acts that need a signature: asking for one, using it at the moment of effect, and finishing what was begun.

What belongs here: the request of a proposal, passing the gate with one that was made anew from the bytes at hand,
and the acts whose decision was used and that nobody has said to be done. What does not: the act itself, and the
questions, which are those of every gate (`verify`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.gate.closings import signed_decision
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import gate_of
from governance_pipeline.gate.guard import pass_all
from governance_pipeline.gate.inputs import proposed_inputs
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.parties import REQUESTER
from governance_pipeline.gate.proposals import keep_proposal
from governance_pipeline.gate.request import register_requests
from governance_pipeline.gate.states import is_used_up, standing_of
from governance_pipeline.gate.verify import passage_of, verify
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.gate.events import History, Passed, Requested
    from governance_pipeline.gate.gates import Gate
    from governance_pipeline.gate.passage import Passage, Verifier
    from governance_pipeline.gate.proposals import Proposal
    from governance_pipeline.gate.states import Standing


class Act(NamedTuple):
    """An act whose decision was used: what may be done, and nothing else.

    Attributes:
        gate: the gate of actions it passed.
        subject_id: what it is about.
        subject_sha256: the manifest that was approved.
        decision_id: the decision that was used.
        approvers: who signed it.
        run_id: names the act across retries.
        used_at: when the decision was used, by the ledger.
        action: what exactly, as it was approved.
        is_done: somebody has said that it is done.
    """

    gate: str
    subject_id: str
    subject_sha256: str
    decision_id: str
    approvers: tuple[str, ...]
    run_id: str
    used_at: datetime
    action: Mapping[str, Any]
    is_done: bool


def ask(proposal: Proposal, verifier: Verifier, now: datetime) -> Requested:
    """Ask for a decision on an act, unless the same act was asked about and may still be decided or done.

    What was done once is asked about anew: a decision is used once.

    Raises:
        UsageError: it cannot be proposed as it is.
        Refusal: LOG_INCONSISTENT, the ledger cannot be used.
        StorageError: lake or ledger could not be written.
    """
    keep_proposal(verifier.lake, proposal)
    return register_requests(gate_of(proposal.gate), [proposal.subject_id], verifier, now)[0]


def standing_of_act(proposal: Proposal, verifier: Verifier, now: datetime) -> Standing | None:
    """Give where the request about exactly this act stands; None when nobody was asked about it."""
    history = read_history(verifier.ledger)
    request = history.in_force(proposal.gate, proposal.subject_id)
    if request is None or request.upstream != proposed_inputs(gate_of(proposal.gate), proposal).digests:
        return None
    return standing_of(request, verifier, history, now)


def check_act(proposal: Proposal, verifier: Verifier, now: datetime) -> Passage:
    """Hold the decisions on an act to every question, using nothing.

    Raises:
        Refusal: it may not be done, with the reason code: MISSING when nobody was asked or nobody has decided,
            REPLAYED when it was done on this decision already.
    """
    gate, history = gate_of(proposal.gate), read_history(verifier.ledger)
    inputs = proposed_inputs(gate, proposal)
    passage = verify(passage_of(verifier, gate, proposal.subject_id, now, history=history, inputs=inputs))
    _refuse_done(proposal, history)
    return passage


def pass_act(proposal: Proposal, verifier: Verifier, run_id: str, now: datetime) -> list[Act]:
    """Use the decisions on an act, once: INTENT and CONSUMED are in the ledger when this returns.

    A run that died after it goes on under the same id; when the act is done the caller says so (`finish_act`).

    Args:
        proposal: the act, made anew from the bytes it is about to change.
        verifier: what is trusted.
        run_id: names the act across retries.
        now: the time.

    Returns:
        The act once for each decision that was used; all of them are finished together.

    Raises:
        Refusal: it may not be done, with the reason code; nothing may be changed then.
        StorageError: the ledger could not be written.
    """
    gate, history = gate_of(proposal.gate), read_history(verifier.ledger)
    _refuse_done(proposal, history)
    [asset] = gate.assets
    release = pass_all(verifier, asset, [proposed_inputs(gate, proposal)], run_id, run_id, now)[0]
    return [act for act in acts(gate, verifier) if act.decision_id in release.decision_ids]


def acts(gate: Gate, verifier: Verifier) -> list[Act]:
    """Give every act whose decision was used, oldest first; a use no approver has decided on is none.

    Raises:
        Refusal: LOG_INCONSISTENT, the ledger cannot be used.
        StorageError: the manifest of one is not in the lake any more, or damaged.
    """
    history = read_history(verifier.ledger)
    done = {
        (passed.decision_id, passed.subject_sha256)
        for passed in history.passages
        if passed.gate == gate.name and passed.type is EventType.DONE
    }
    used = [passed for passed in history.passages if passed.gate == gate.name and passed.type is EventType.CONSUMED]
    found = ((passed, _approvers(passed, history, verifier)) for passed in used)
    return [
        Act(
            gate=passed.gate,
            subject_id=passed.round_id,
            subject_sha256=passed.subject_sha256,
            decision_id=passed.decision_id,
            approvers=who,
            run_id=passed.root_run_id,
            used_at=passed.ts,
            action=kept_manifest(verifier.lake, passed.subject_sha256).document["action"],
            is_done=(passed.decision_id, passed.subject_sha256) in done,
        )
        for passed, who in found
        if who
    ]


def finish_act(act: Act, verifier: Verifier, output_sha256: str, now: datetime) -> None:
    """Record that an act is done, with the digest of what it has put in force; once more changes nothing.

    Raises:
        Refusal: REPLAYED when it was done with another result.
        StorageError: the ledger could not be written.
    """
    [asset] = gate_of(act.gate).assets
    body = {
        "gate": act.gate,
        "round_id": act.subject_id,
        "asset": asset,
        "decision_id": act.decision_id,
        "subject_sha256": act.subject_sha256,
        "run_id": act.run_id,
        "root_run_id": act.run_id,
        "output_sha256": output_sha256,
    }
    for kind in (EventType.RELEASED, EventType.DONE):
        key = f"{kind.lower()}:{act.decision_id}:{act.subject_sha256}:{asset}"
        try:
            verifier.ledger.append(kind, REQUESTER, body, ts=now, unique=key)
        except AlreadyRecorded as recorded:
            if recorded.event.body.get("output_sha256") != output_sha256:
                message = f"it was done with another result, as event {recorded.event.seq} says"
                raise Refusal(ReasonCode.REPLAYED, message) from None


def _approvers(passed: Passed, history: History, verifier: Verifier) -> tuple[str, ...]:
    """Give who signed the decision that was used; nobody where the ledger holds no such approval."""
    for recorded in history.of_round(passed.gate, passed.round_id):
        if recorded.type is EventType.APPROVED and recorded.decision_id == passed.decision_id:
            signed = signed_decision(recorded, verifier.root)
            said = None if signed is None else signed.decision
            if (
                signed is not None
                and said is not None
                and signed.decision_id == passed.decision_id
                and (said.verb, said.gate, said.round_id, said.subject_sha256)
                == (Verb.APPROVE, passed.gate, passed.round_id, passed.subject_sha256)
            ):
                return signed.who
    return ()


def _refuse_done(proposal: Proposal, history: History) -> None:
    request = history.in_force(proposal.gate, proposal.subject_id)
    if request is None or request.upstream != proposed_inputs(gate_of(proposal.gate), proposal).digests:
        return
    if is_used_up(request, history, EventType.DONE):
        message = f"request {request.request_id} was approved and done; doing it again needs another decision"
        raise Refusal(ReasonCode.REPLAYED, message)
