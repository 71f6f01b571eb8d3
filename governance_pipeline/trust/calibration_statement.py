"""What a person signs about a calibration: the plan before the data exist, and the result once it was evaluated.

What belongs here: the two predicates, signing, and whether a statement counts. What does not: what a plan says and how
it is evaluated (verdict), and recording (ledger). Source: spec/verdict.md §3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust import dsse
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import (
    STATEMENT_PAYLOAD_TYPE,
    Subject,
    malformed,
    statement_bytes,
    statement_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.root import TrustRoot

PLAN_PREDICATE: Final = "urn:govern:calibration-plan:v1"
RESULT_PREDICATE: Final = "urn:govern:calibration-result:v1"


class Stated(NamedTuple):
    """A statement that counts: who signed, and the plan or the result."""

    people: tuple[str, ...]
    document: Mapping[str, Any]


def plan_sha256(plan: Mapping[str, Any]) -> str:
    """Give the digest of a plan: SHA-256 of its RFC 8785 form."""
    return sha256_hex(canonical_json(plan))


def sign_plan(plan: Mapping[str, Any], signer: Signer) -> bytes:
    """Sign a plan (`govern/calibration/v1`); the envelope an event carries."""
    return _signed(plan, plan_sha256(plan), PLAN_PREDICATE, signer)


def sign_result(result: Mapping[str, Any], plan_digest: str, signer: Signer) -> bytes:
    """Sign the result of an evaluation (`govern/calibration-result/v1`); it is about the plan with this digest."""
    return _signed(result, plan_digest, RESULT_PREDICATE, signer)


def stated_plan(envelope: bytes, root: TrustRoot, now: datetime) -> Stated:
    """Read a plan that counts: signed by people with the role approver, and about itself.

    Raises:
        Refusal: it does not count; the code says why.
    """
    said, digest = _stated(envelope, PLAN_PREDICATE, root, now)
    if plan_sha256(said.document) != digest:
        raise malformed("the plan is not the one its digest names")
    return said


def stated_result(envelope: bytes, plan_digest: str, root: TrustRoot, now: datetime) -> Stated:
    """Read a result that counts: signed by people with the role approver, and about the plan with this digest.

    Raises:
        Refusal: it does not count; the code says why.
    """
    said, digest = _stated(envelope, RESULT_PREDICATE, root, now)
    if digest != plan_digest:
        raise Refusal(ReasonCode.DIGEST_MISMATCH, f"it is the result of plan {digest}, not of {plan_digest}")
    return said


def _signed(document: Mapping[str, Any], digest: str, predicate: str, signer: Signer) -> bytes:
    payload = statement_bytes([Subject(str(document["calibration_id"]), digest)], predicate, document)
    return dsse.sign(payload, STATEMENT_PAYLOAD_TYPE, signer)


def _stated(envelope: bytes, predicate: str, root: TrustRoot, now: datetime) -> tuple[Stated, str]:
    read = dsse.parse_envelope(envelope)
    signers = dsse.verify_signatures(read, root, now, role=Role.APPROVER)
    statement = statement_of(read)
    if statement.predicate_type != predicate:
        raise Refusal(ReasonCode.WRONG_TYPE, f"{excerpt(statement.predicate_type, 80)} is not {predicate}")
    if len(statement.subjects) != 1:
        raise malformed("it is about more than one plan")
    people = tuple(dict.fromkeys(signer.principal for signer in signers))
    return Stated(people, statement.predicate), statement.subjects[0].sha256
