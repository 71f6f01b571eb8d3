"""What closes a gate again: rejections and revocations, and verdicts of validators that were there and are gone.

What belongs here: finding these in the ledger. What does not: refusing because of them (`passage_steps`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.gate.decision import Decision, Verb, decision_of
from governance_pipeline.gate.events import EventType
from governance_pipeline.trust import dsse
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.signatures import proof_of
from governance_pipeline.trust.statement import statement_of

if TYPE_CHECKING:
    from governance_pipeline.gate.events import History, Recorded, Requested, Resolution
    from governance_pipeline.gate.inputs import RoundInputs
    from governance_pipeline.gate.manifest import Manifest
    from governance_pipeline.trust.root import TrustRoot


class Signed(NamedTuple):
    """A decision, its id, and the approvers of the trust root that signed it, however their keys stand today."""

    decision: Decision
    decision_id: str
    who: tuple[str, ...]

    @property
    def said(self) -> str:
        """Say in words who closed and why."""
        verb = "rejected" if self.decision.verb is Verb.REJECT else "revoked"
        place = self.decision.on_behalf_of
        behalf = "" if place is None else f" on behalf of {place!r}"
        return f"{verb} by {', '.join(map(repr, self.who))}{behalf}: {self.decision.reason!r}"


def read_decision(recorded: Recorded, root: TrustRoot | None) -> Signed | None:
    """Read a recorded decision as `signed_decision`; without a root, whoever signed it, and `who` is then empty."""
    if root is not None:
        return signed_decision(recorded, root)
    try:
        envelope = dsse.parse_envelope(recorded.envelope)
        return Signed(decision_of(statement_of(envelope)), envelope.payload_sha256, ())
    except Refusal:
        return None


def signed_decision(recorded: Recorded, root: TrustRoot) -> Signed | None:
    """Read a recorded decision that an approver signed; None for anything else.

    Keys that were revoked or ran out count here: what closes is believed easily. An opening is verified in full.
    """
    try:
        envelope = dsse.parse_envelope(recorded.envelope)
        decision = decision_of(statement_of(envelope))
    except Refusal:
        return None
    message = dsse.pae(envelope.payload_type, envelope.payload)
    who = tuple(
        principal.id
        for principal in root.principals
        if Role.APPROVER in principal.roles
        and any(proof_of(key, message, s.sig) is not None for key in principal.keys for s in envelope.signatures)
    )
    return Signed(decision, envelope.payload_sha256, who) if who else None


def closing_decisions(history: History, request: Requested, root: TrustRoot) -> list[Signed]:
    """Give the rejections and revocations of a request that an approver signed, oldest first.

    They never expire, and hold for every window of the request; one that nobody signed closes nothing.
    """
    recorded = history.of_round(request.gate, request.round_id)
    closing = [signed_decision(r, root) for r in recorded if r.type in (EventType.REJECTED, EventType.REVOKED)]
    return [
        signed
        for signed in closing
        if signed is not None
        and signed.decision.verb is not Verb.APPROVE
        and signed.decision.request_id == request.request_id
    ]


def unlifted_closings(history: History, request: Requested, root: TrustRoot) -> list[Signed]:
    """Give the closing decisions their own person has not taken back by a later approval that names them."""
    closings = closing_decisions(history, request, root)
    if not closings:  # most requests: no approval needs to be read
        return []
    approvals = [
        signed_decision(r, root)
        for r in history.of_round(request.gate, request.round_id)
        if r.type is EventType.APPROVED
    ]
    taken_back = {
        (person, approval.decision.supersedes)
        for approval in approvals
        if approval is not None and approval.decision.verb is Verb.APPROVE
        for person in approval.who
    }
    return [
        closing
        for closing in closings
        if not any((person, closing.decision_id) in taken_back for person in closing.who)
    ]


def case_resolutions(manifest: Manifest, history: History, size: int | None = None) -> list[Resolution]:
    """Give what was recorded on the cases of a manifest's claims, oldest first; of the first `size` events only."""
    cases = {f"case-{claim['record_id']}" for claim in manifest.document["claims"]}
    found = [resolution for case in cases for resolution in history.resolutions.get(case, ())]
    return sorted((r for r in found if size is None or r.seq <= size), key=lambda resolution: resolution.seq)


def lost_verdicts(history: History, inputs: RoundInputs) -> list[str]:
    """Give the digests of validator verdicts that an earlier request of the round listed and that are gone."""
    here = {row["payload_sha256"] for row in inputs.rows("core_attestations")}
    asked = [r for r in history.requests if (r.gate, r.round_id) == (inputs.gate.name, inputs.round_id)]
    return sorted({digest for request in asked for digest in request.verdicts} - here)
