"""A person decides: sign and record.

What belongs here: recording an approval, a rejection or a revocation, signed here or elsewhere. What does not: asking
the person (cli), what is signed (`drafts`) and using the decision (`guard`). Everything that is verified at use is
verified here as well, so that nobody believes to have opened a gate that will refuse; the ledger takes a decision only
if nothing was appended since the state it was made from was read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.decision import DECISION_BYTES, Verb, decision_of, origin_of, sign_decision
from governance_pipeline.gate.drafts import check_open, draft_decision
from governance_pipeline.gate.envelope_steps import proven_assurance
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import gate_of
from governance_pipeline.gate.inputs import RoundInputs
from governance_pipeline.gate.passage import Offer, Passage
from governance_pipeline.gate.policy import Assurance
from governance_pipeline.gate.sealing import remember, seal_of
from governance_pipeline.gate.shown import request_of
from governance_pipeline.gate.states import standing_of
from governance_pipeline.gate.verify import AUTHORITY_STEP, DECISION_STEPS, passage_of, verify
from governance_pipeline.ledger.event import AlreadyRecorded, NewEvent
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.trust import dsse
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import statement_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any

    from governance_pipeline.gate.decision import Decision
    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.verify import Step
    from governance_pipeline.ledger.event import Event
    from governance_pipeline.trust.keys import Signer

TRIES: Final = 100
"""How often a decision is made anew because something else was appended meanwhile; each try takes milliseconds."""
_NAMES: Final = [step.name for step in DECISION_STEPS]
SIGNER_STEPS: Final[tuple[Step, ...]] = DECISION_STEPS[: _NAMES.index("predicate")]
"""What a closing decision must keep to be recorded: it is signed by an approver. It needs no open window."""

_EVENT_OF: Final = {
    Verb.APPROVE: EventType.APPROVED,
    Verb.REJECT: EventType.REJECTED,
    Verb.REVOKE: EventType.REVOKED,
}


def decide(
    verifier: Verifier,
    request_id: str,
    verb: Verb,
    reason: str,
    signer: Signer,
    *,
    now: datetime,
    nonce: str,
    seen_sha256: str | None = None,
    on_behalf_of: str | None = None,
) -> Event:
    """Sign a decision and record it.

    Args:
        verifier: what is trusted.
        request_id: the request.
        verb: what is decided.
        reason: why, in words.
        signer: key of the person.
        now: the time.
        nonce: 32 hex digits nobody has used before.
        seen_sha256: digest of the text the person read before approving; None where the caller shows nothing.
        on_behalf_of: principal in whose place the signer decides, who let them; None for themselves.

    Returns:
        The event that holds the decision.

    Raises:
        UsageError: no such request, or the reason is empty or too long.
        Refusal: the decision would not count, or the request is not open to it; nothing is recorded.
        StorageError: the ledger could not be written.
    """
    people = {p.id for p in verifier.root.principals if any(k.public_key == signer.public_key for k in p.keys)}

    def made(history: History) -> tuple[bytes, Decision]:
        draft = draft_decision(
            verifier, request_id, verb, reason, people, now=now, nonce=nonce, history=history, on_behalf_of=on_behalf_of
        )
        if verb is Verb.APPROVE and seen_sha256 not in (None, draft.decision.display_sha256):
            raise Refusal(ReasonCode.DIGEST_MISMATCH, "what is to be decided has changed while it was read; look again")
        decision = replace(draft.decision, assurance=Assurance(signer.assurance))
        return sign_decision(decision, signer), decision

    return _record_made(verifier, made, now, is_strict=verb is Verb.APPROVE)


def record_signed(verifier: Verifier, data: bytes, *, now: datetime) -> Event:
    """Record a decision that was signed elsewhere, after everything that is asked of one signed here.

    Args:
        verifier: what is trusted.
        data: the envelope.
        now: the time.

    Returns:
        The event that holds the decision.

    Raises:
        UsageError: it answers no request of this ledger.
        Refusal: the decision would not count, or the request is not open to it; nothing is recorded.
        StorageError: the ledger could not be written.
    """
    if len(data) > DECISION_BYTES:
        raise Refusal(ReasonCode.TOO_LARGE, f"the decision has {len(data)} bytes, at most {DECISION_BYTES} are read")
    envelope = dsse.parse_envelope(data)
    people = {signed.principal for signed in dsse.verify_signatures(envelope, verifier.root, now, role=Role.APPROVER)}
    decision = decision_of(statement_of(envelope))
    if decision.origin != origin_of(verifier.config):
        raise Refusal(ReasonCode.LOG_INCONSISTENT, f"it was made before another ledger ({decision.origin!r})")

    def made(history: History) -> tuple[bytes, Decision]:
        if (
            decision.checkpoint.size > history.size
            or history.head(verifier.ledger, decision.checkpoint.size) != decision.checkpoint
        ):
            what = "the ledger is not the one this decision was made from; export it again"
            raise Refusal(ReasonCode.LOG_INCONSISTENT, what)
        standing = standing_of(request_of(history, decision.request_id), verifier, history, now)
        supersedes = check_open(standing, decision.verb, verifier, history, people)
        if decision.verb is Verb.APPROVE and decision.supersedes != supersedes:
            raise Refusal(ReasonCode.SUPERSEDED, "what was decided before it has changed since; export it again")
        return data, decision

    return _record_made(verifier, made, now, is_strict=decision.verb is Verb.APPROVE)


def _record_made(
    verifier: Verifier, made: Callable[[History], tuple[bytes, Decision]], now: datetime, *, is_strict: bool
) -> Event:
    """Make a decision from the ledger as it is, hold it to every question, and record it onto that very ledger."""
    for _ in range(TRIES):
        history = read_history(verifier.ledger, is_strict=is_strict)
        data, decision = made(history)
        request = request_of(history, decision.request_id)
        offer = _verified(Offer(data), decision, request, verifier, history, now)
        try:
            return _record(offer, decision, verifier, history, now)
        except LedgerMoved:
            continue
        except AlreadyRecorded as recorded:
            message = f"this decision was recorded before, as event {recorded.event.seq}"
            raise Refusal(ReasonCode.REPLAYED, message) from None
    raise StorageError(f"ledger {verifier.ledger.path} is too busy: {TRIES} tries found it changed; try again")


def _verified(
    offer: Offer, made: Decision, request: Requested, verifier: Verifier, history: History, now: datetime
) -> Offer:
    """Hold an approval to everything that will be asked of it when it is used, a closing one to who signed it.

    Closing reads no table: one that is damaged or gone must not keep anybody from taking an approval back.
    """
    gate, round_id = gate_of(request.gate), request.round_id
    if made.verb is Verb.APPROVE:
        passage, steps = passage_of(verifier, gate, round_id, now, history=history), DECISION_STEPS
    else:
        nothing = RoundInputs(gate, round_id, {})
        passage, steps = Passage(verifier, nothing, history, request, [], now), (*SIGNER_STEPS, AUTHORITY_STEP)
        offer.decision = made
    passage.offers = [offer]
    return verify(passage, steps).offers[0]


def _record(offer: Offer, made: Decision, verifier: Verifier, history: History, now: datetime) -> Event:
    person = offer.signers[0].principal.id
    body: dict[str, Any] = {
        "gate": made.gate,
        "round_id": made.round_id,
        "request_id": made.request_id,
        "decision_id": offer.read.payload_sha256,
        "subject_sha256": made.subject_sha256,
        "assurance": str(proven_assurance(offer)),
        "trust_tier": made.trust_tier,
        "on_behalf_of": made.on_behalf_of,
        "envelope": offer.data.decode(),
    }
    entry = NewEvent(_EVENT_OF[made.verb], person, body, now, f"decision:{offer.read.payload_sha256}")
    seal = seal_of(verifier, now, is_opening=made.verb is Verb.APPROVE)
    (event,) = verifier.ledger.append_all([entry], after=history.size, seal=seal)
    remember(verifier, now)
    return event
