"""A person decides: look, sign, record.

What belongs here: what a request shows, and recording an approval, a rejection or a revocation. What does not: asking
the person (cli) and using the decision (`guard`). Everything that is verified at use is verified here as well, so that
nobody believes to have opened a gate that will refuse; the ledger takes a decision only if nothing was appended since
the state it was made from was read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.closings import case_resolutions, signed_decision, unlifted_closings
from governance_pipeline.gate.decision import Decision, Verb, origin_of, sign_decision
from governance_pipeline.gate.display import closing_text, display_sha256, display_text
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import gate_of
from governance_pipeline.gate.inputs import RoundInputs
from governance_pipeline.gate.manifest import PolicyRef, kept_manifest
from governance_pipeline.gate.passage import Offer, Passage, policy_ref
from governance_pipeline.gate.policy import Assurance
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.gate.verify import DECISION_STEPS, passage_of, verify
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.manifest import Manifest
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.states import Standing
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
_REJECTABLE: Final = frozenset({State.PENDING, State.APPROVED, State.BLOCKED_POLICY, State.STALE})
"""Whatever may pass now or once the tables are as they were; what is stale may be made as it was at any time."""
_CODE_OF_STATE: Final = {
    State.APPROVED: ReasonCode.REPLAYED,
    State.CONSUMED: ReasonCode.REPLAYED,
    State.REJECTED: ReasonCode.REVOKED,
    State.REVOKED: ReasonCode.REVOKED,
}
"""Code of a refusal to decide, where the state itself has none."""


class Shown(NamedTuple):
    """A request as a person sees it: where it stands, the manifest, and the exact text."""

    standing: Standing
    manifest: Manifest
    text: str

    @property
    def display_sha256(self) -> str:
        """Digest of the text."""
        return display_sha256(self.text)


class _Told(NamedTuple):
    """What a decision says its person was told: digest of the text, the producers it names, and the policy."""

    display_sha256: str
    producers: tuple[str, ...]
    policy: PolicyRef


def request_of(history: History, request_id: str) -> Requested:
    """Give the newest window of a request by its id, or by the beginning of one that names it alone.

    Raises:
        UsageError: no request, or several, have it.
    """
    found = {r.request_id: r for r in history.requests if r.request_id.startswith(request_id)} if request_id else {}
    if len(found) != 1:
        problem = "several requests begin" if found else "no request begins"
        raise UsageError(f"{problem} with {request_id[:64]!r}; `govern gate inbox` lists them")
    return next(iter(found.values()))


def shown(verifier: Verifier, request_id: str, now: datetime, history: History | None = None) -> Shown:
    """Give what a person is shown of a request.

    Raises:
        UsageError: no such request.
        StorageError: its manifest is not in the lake any more, or damaged.
        Refusal: LOG_INCONSISTENT.
    """
    history = read_history(verifier.ledger) if history is None else history
    request = request_of(history, request_id)
    manifest = kept_manifest(verifier.lake, request.subject_sha256)
    if (manifest.document["gate"], manifest.document["round_id"]) != (request.gate, request.round_id):
        raise StorageError(f"manifest {request.subject_sha256} is of another round than request {request.request_id}")
    text = display_text(request, manifest, case_resolutions(manifest, history))
    return Shown(standing_of(request, verifier, history, now), manifest, text)


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

    Returns:
        The event that holds the decision.

    Raises:
        UsageError: no such request, or the reason is empty or too long.
        Refusal: the decision would not count, or the request is not open to it; nothing is recorded.
        StorageError: the ledger could not be written.
    """
    for _ in range(TRIES):
        history = read_history(verifier.ledger, is_strict=verb is Verb.APPROVE)
        request = request_of(history, request_id)
        told = _told(verifier, request, verb, history, now)
        if verb is Verb.APPROVE and seen_sha256 not in (None, told.display_sha256):
            raise Refusal(ReasonCode.DIGEST_MISMATCH, "what is to be decided has changed while it was read; look again")
        supersedes = _check_open(standing_of(request, verifier, history, now), verb, verifier, history, signer)
        made = _decision(request, told, verb, reason, verifier, history, now=now, nonce=nonce)
        made = replace(made, supersedes=supersedes, assurance=Assurance(signer.assurance))
        data = sign_decision(made, signer)
        offer = _verified(Offer(data), made, request, verifier, history, now)
        try:
            return _record(offer, made, verifier, history, now)
        except LedgerMoved:
            continue
        except AlreadyRecorded as recorded:
            message = f"this decision was recorded before, as event {recorded.event.seq}"
            raise Refusal(ReasonCode.REPLAYED, message) from None
    raise StorageError(f"ledger {verifier.ledger.path} is too busy: {TRIES} tries found it changed; try again")


def _told(verifier: Verifier, request: Requested, verb: Verb, history: History, now: datetime) -> _Told:
    """Give what the person is told: everything before an approval, of the ledger alone before a gate is closed."""
    if verb is not Verb.APPROVE:
        policy = PolicyRef(request.policy_version, request.policy_sha256)
        return _Told(display_sha256(closing_text(request)), (), policy)
    view = shown(verifier, request.request_id, now, history)
    return _Told(view.display_sha256, tuple(view.manifest.document["producers"]), policy_ref(verifier.policy))


def _decision(
    request: Requested,
    told: _Told,
    verb: Verb,
    reason: str,
    verifier: Verifier,
    history: History,
    *,
    now: datetime,
    nonce: str,
) -> Decision:
    return Decision(
        verb=verb,
        gate=request.gate,
        round_id=request.round_id,
        request_id=request.request_id,
        subject_sha256=request.subject_sha256,
        display_sha256=told.display_sha256,
        producers=told.producers,
        nonce=nonce,
        not_before=now,
        expires=now + verifier.policy.ttl,
        policy=told.policy,
        origin=origin_of(verifier.config),
        checkpoint=verifier.ledger.head(history.size),
        reason=reason,
        is_throwaway=verifier.root.is_throwaway,
    )


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
        passage, steps = Passage(verifier, nothing, history, request, [], now), SIGNER_STEPS
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
        "assurance": str(made.assurance),
        "trust_tier": made.trust_tier,
        "envelope": offer.data.decode(),
    }
    unique = f"decision:{offer.read.payload_sha256}"
    return verifier.ledger.append(_EVENT_OF[made.verb], person, body, ts=now, unique=unique, after=history.size)


def _check_open(standing: Standing, verb: Verb, verifier: Verifier, history: History, signer: Signer) -> str | None:
    """Refuse a decision the request is not open to; give the decision it takes the place of."""
    request, state = standing.request, standing.state
    approvals = [
        signed
        for recorded in history.approvals(request)
        if (signed := signed_decision(recorded, verifier.root)) is not None
    ]
    own = {p.id for p in verifier.root.principals if any(k.public_key == signer.public_key for k in p.keys)}
    if verb is Verb.APPROVE:
        if state in (State.REJECTED, State.REVOKED):
            closings = unlifted_closings(history, request, verifier.root)
            if len(closings) == 1 and own & set(closings[0].who):
                return closings[0].decision_id
        is_second = standing.code is ReasonCode.THRESHOLD and any(own & set(signed.who) for signed in approvals)
        if state is State.PENDING and not is_second:
            return None
        raise (
            _not_open(standing, ReasonCode.REPLAYED, "you have approved it already")
            if is_second
            else _not_open(standing)
        )
    if verb is Verb.REJECT:
        if state in _REJECTABLE:
            return None
        raise _not_open(standing)
    if approvals and state not in (State.SUPERSEDED, State.REVOKED, State.REJECTED):
        return approvals[-1].decision_id
    if not approvals:
        raise _not_open(standing, ReasonCode.MISSING, "nobody has approved it, so there is nothing to revoke")
    raise _not_open(standing)


def _not_open(standing: Standing, code: ReasonCode | None = None, why: str | None = None) -> Refusal:
    code = code or _CODE_OF_STATE.get(standing.state) or standing.code or ReasonCode.INTERNAL
    said = why or standing.message or "it was decided already; `govern gate log` says by whom"
    return Refusal(code, f"request {standing.request.request_id} is {standing.state}: {said}")
