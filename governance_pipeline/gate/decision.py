"""One signed decision of a person: in-toto Statement v1 with the predicate human-approval v1, in a DSSE envelope.

What belongs here: the predicate, writing, signing and reading it. What does not: whether it counts (`verify`) and
recording it (`deciding`). The subject of the statement is the manifest; everything else a decision depends on is named
in the predicate: gate, round and request, the text that was shown, who produced, the policy, the head of the ledger the
person's program saw, and a window of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.gate.manifest import PolicyRef
from governance_pipeline.gate.policy import Assurance
from governance_pipeline.ledger.head import Head
from governance_pipeline.strict.excerpt import excerpt, is_said
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_of, instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE, Statement, Subject, malformed, statement_bytes

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.keys import Signer

PREDICATE: Final = "urn:govern:human-approval:v1"
DECISION_BYTES: Final = 48 * 1024
"""Largest decision that is read; one has about 3 KiB, and one that names hundreds of producers 30 KiB."""
NONCE_BYTES: Final = 16
TRUST_TIER: Final = "T0"
"""The tier in force with keys in files of the same user: forging, replay and editing are detected, not prevented
(research/security.md b1)."""
TIER_MEANS: Final = "T0: same user, key in a file; whatever runs as this user is detected afterwards, not prevented"


class Verb(StrEnum):
    """What a person decides. REJECT and REVOKE beat APPROVE."""

    APPROVE = "APPROVE"
    REJECT = "REJECT"
    REVOKE = "REVOKE"


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A decision as its statement says it.

    Attributes:
        verb: what was decided.
        gate: gate it is for.
        round_id: round it is for.
        request_id: request it answers.
        subject_sha256: manifest it is about.
        display_sha256: digest of the text that was shown.
        producers: who produced, as the person was told; of a decision that closes none, for nothing is shown then.
        nonce: makes two decisions of the same content two.
        not_before: from when it counts.
        expires: from when it does not count any more.
        policy: gate policy it was made under.
        origin: which ledger the checkpoint is of.
        checkpoint: head of that ledger when it was made.
        reason: why; never empty.
        on_behalf_of: principal in whose place the signer decides, who let them (`delegation`); None for themselves.
        supersedes: an earlier decision that it takes the place of: of a revocation the approval, of an approval the own
            rejection or revocation that it takes back.
        assurance: how the person signed, as claimed.
        trust_tier: what the set-up can prevent.
        is_throwaway: made under a trust root of a demo or test.
    """

    verb: Verb
    gate: str
    round_id: str
    request_id: str
    subject_sha256: str
    display_sha256: str
    producers: tuple[str, ...]
    nonce: str
    not_before: datetime
    expires: datetime
    policy: PolicyRef
    origin: str
    checkpoint: Head
    reason: str
    on_behalf_of: str | None = None
    supersedes: str | None = None
    assurance: Assurance = Assurance.KEY_FILE
    trust_tier: str = TRUST_TIER
    is_throwaway: bool = False


def origin_of(config: GateConfig) -> str:
    """Name the ledger of a configuration: by the root key that is pinned with it."""
    return f"govern-ledger:{config.root_fingerprint}"


def sign_decision(decision: Decision, signer: Signer) -> bytes:
    """Sign a decision; the envelope as it is recorded.

    Raises:
        UsageError: it breaks its own schema (an empty reason, no producers), or is larger than a reader takes.
    """
    data = dsse.sign(decision_statement(decision), STATEMENT_PAYLOAD_TYPE, signer)
    if len(data) > DECISION_BYTES:
        raise UsageError(f"the decision has {len(data)} bytes, at most {DECISION_BYTES} are read; shorten the reason")
    return data


def decision_statement(decision: Decision) -> bytes:
    """Give the statement of a decision: the payload that is signed, here, in a browser or elsewhere.

    Raises:
        UsageError: it breaks its own schema (an empty reason, no producers).
    """
    predicate = _predicate(decision)
    fault = document_fault("human-approval-v1", predicate)
    if fault is None and not is_said(decision.reason):
        fault = "the reason holds nothing a screen shows"
    if fault is not None:
        raise UsageError(f"this cannot be signed as a decision: {fault}")
    subject = Subject(f"{decision.gate}/{decision.round_id}", decision.subject_sha256)
    return statement_bytes([subject], PREDICATE, predicate)


def decision_of(statement: Statement) -> Decision:
    """Read the decision a statement makes.

    Raises:
        Refusal: WRONG_TYPE for another predicate, MALFORMED when a member is missing, of the wrong type or unknown.
    """
    if statement.predicate_type != PREDICATE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"predicate {excerpt(statement.predicate_type, 80)!r} is no {PREDICATE}")
    members: Any = statement.predicate
    fault = document_fault("human-approval-v1", members)
    if fault is not None:
        raise malformed(fault)
    if len(statement.subjects) != 1:
        raise malformed(f"it has {len(statement.subjects)} subjects; a decision is about one manifest")
    try:
        window = instant_of(members["not_before"]), instant_of(members["expires"])
    except ValueError as error:
        raise malformed(str(error)) from None
    checkpoint = members["log_checkpoint"]
    return Decision(
        verb=Verb(members["decision"]),
        **{name: members[name] for name in _PLAIN},
        subject_sha256=statement.subjects[0].sha256,
        display_sha256=members["display_digest"]["sha256"],
        producers=tuple(members["producers"]),
        not_before=window[0],
        expires=window[1],
        policy=PolicyRef(members["policy"]["version"], members["policy"]["digest"]["sha256"]),
        origin=checkpoint["origin"],
        checkpoint=Head(checkpoint["size"], checkpoint["root"]),
        assurance=Assurance(members["assurance"]),
    )


_PLAIN: Final = (
    "gate", "round_id", "request_id", "nonce", "reason", "on_behalf_of", "supersedes", "trust_tier", "is_throwaway",
)  # fmt: skip


def _predicate(decision: Decision) -> dict[str, Any]:
    head = decision.checkpoint
    return {
        "decision": str(decision.verb),
        **{name: getattr(decision, name) for name in _PLAIN},
        "display_digest": {"sha256": decision.display_sha256},
        "producers": list(decision.producers),
        "not_before": instant_text(decision.not_before),
        "expires": instant_text(decision.expires),
        "policy": {"version": decision.policy.version, "digest": {"sha256": decision.policy.sha256}},
        "log_checkpoint": {"origin": decision.origin, "size": head.size, "root": head.root},
        "assurance": str(decision.assurance),
    }
