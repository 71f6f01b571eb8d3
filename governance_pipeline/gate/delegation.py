"""One signed delegation: an approver lets another person decide one request in their place, or takes that back.

What belongs here: the predicate (in-toto Statement v1, `approval-delegation` v1), signing and reading it, and the
record of its event. What does not: whether it counts (`delegations`) and recording it (`delegating`). It names one
request and one delegate, so nothing is handed on: a delegate signs decisions for the delegator, and no delegations.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.gate.event_members import text, texts
from governance_pipeline.gate.policy import Assurance
from governance_pipeline.ledger.head import Head
from governance_pipeline.strict.excerpt import excerpt, is_said
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_of, instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE, Statement, Subject, malformed, statement_bytes
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.trust.keys import Signer

PREDICATE: Final = "urn:govern:approval-delegation:v1"
SCHEMA: Final = "approval-delegation-v1"

_PLAIN: Final = (
    "gate", "round_id", "request_id", "delegator", "delegate", "nonce", "reason", "withdraws", "trust_tier",
    "is_throwaway",
)  # fmt: skip


class Act(StrEnum):
    """What is signed: a delegation, or that one is taken back."""

    DELEGATE = "DELEGATE"
    WITHDRAW = "WITHDRAW"


@dataclass(frozen=True, kw_only=True)
class Delegation:
    """A delegation as its statement says it.

    Attributes:
        act: given, or taken back.
        gate: gate it is for.
        round_id: round it is for.
        request_id: the one request it is for.
        subject_sha256: manifest the request is about.
        delegator: principal in whose place somebody may decide.
        delegate: principal who may.
        nonce: makes two of the same content two.
        not_before: from when it counts.
        expires: from when neither it counts nor what was decided by it.
        origin: which ledger the checkpoint is of.
        checkpoint: head of that ledger when it was made.
        reason: why; never empty.
        withdraws: id of the delegation that is taken back; None of one that is given.
        assurance: how the person signed, as claimed.
        trust_tier: what the set-up can prevent.
        is_throwaway: made under a trust root of a demo or test.
    """

    act: Act
    gate: str
    round_id: str
    request_id: str
    subject_sha256: str
    delegator: str
    delegate: str
    nonce: str
    not_before: datetime
    expires: datetime
    origin: str
    checkpoint: Head
    reason: str
    trust_tier: str
    withdraws: str | None = None
    assurance: Assurance = Assurance.KEY_FILE
    is_throwaway: bool = False


class Delegated(NamedTuple):
    """One recorded delegation, or (`is_given` false) one taken back: an envelope, not believed."""

    seq: int
    ts: datetime
    is_given: bool
    gate: str
    round_id: str
    request_id: str
    delegation_id: str
    actor: str
    envelope: bytes


def delegated_of(event: Event, *, is_given: bool) -> Delegated:
    """Read the event of a delegation.

    Raises:
        KeyError: a member is missing.
        TypeError: one is no text.
        ValueError: the round id is none.
    """
    names = texts(event.body, ("gate", "round_id", "request_id", "delegation_id"))
    if not is_round_id(names["round_id"]):
        raise ValueError("the round id is none")
    envelope = text(event.body["envelope"]).encode()
    return Delegated(event.seq, event.ts, is_given, **names, actor=event.actor, envelope=envelope)


def sign_delegation(delegation: Delegation, signer: Signer) -> bytes:
    """Sign a delegation; the envelope as it is recorded.

    Raises:
        UsageError: it breaks its own schema (an empty reason, say), or is larger than a reader takes.
    """
    predicate = _predicate(delegation)
    fault = document_fault(SCHEMA, predicate)
    if fault is None and not is_said(delegation.reason):
        fault = "the reason holds nothing a screen shows"
    if fault is not None:
        raise UsageError(f"this cannot be signed as a delegation: {fault}")
    subject = Subject(f"{delegation.gate}/{delegation.round_id}", delegation.subject_sha256)
    return dsse.sign(statement_bytes([subject], PREDICATE, predicate), STATEMENT_PAYLOAD_TYPE, signer)


def delegation_of(statement: Statement) -> Delegation:
    """Read the delegation a statement makes.

    Raises:
        Refusal: WRONG_TYPE for another predicate, MALFORMED when a member is missing, of the wrong type or unknown.
    """
    if statement.predicate_type != PREDICATE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"predicate {excerpt(statement.predicate_type, 80)!r} is no {PREDICATE}")
    members: Any = statement.predicate
    fault = document_fault(SCHEMA, members)
    if fault is not None:
        raise malformed(fault)
    if len(statement.subjects) != 1:
        raise malformed(f"it has {len(statement.subjects)} subjects; a delegation is about one manifest")
    if not is_said(members["reason"]):
        raise malformed("its reason holds nothing a screen shows")
    try:
        window = instant_of(members["not_before"]), instant_of(members["expires"])
    except ValueError as error:
        raise malformed(str(error)) from None
    checkpoint = members["log_checkpoint"]
    return Delegation(
        act=Act(members["act"]),
        **{name: members[name] for name in _PLAIN},
        subject_sha256=statement.subjects[0].sha256,
        not_before=window[0],
        expires=window[1],
        origin=checkpoint["origin"],
        checkpoint=Head(checkpoint["size"], checkpoint["root"]),
        assurance=Assurance(members["assurance"]),
    )


def _predicate(delegation: Delegation) -> dict[str, Any]:
    head = delegation.checkpoint
    return {
        "act": str(delegation.act),
        **{name: getattr(delegation, name) for name in _PLAIN},
        "not_before": instant_text(delegation.not_before),
        "expires": instant_text(delegation.expires),
        "log_checkpoint": {"origin": delegation.origin, "size": head.size, "root": head.root},
        "assurance": str(delegation.assurance),
    }
