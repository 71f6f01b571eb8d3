"""What a person signs about an escalation case: that they look after it, or what they found.

What belongs here: the digest of what a case asks, the two predicates, signing, and whether a statement counts. What
does not: which cases there are (crosscheck) and recording (ledger, gate). A resolution changes neither value nor flag
(spec/crosscheck.md §5); it says that a person who made nothing of the round has looked. It is bound to the records with
both values as the person saw them, so that a number that changes is asked about anew.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.pair import approver_conflict
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import (
    STATEMENT_PAYLOAD_TYPE,
    Subject,
    malformed,
    statement_bytes,
    statement_of,
    text_member,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.root import TrustRoot
    from governance_pipeline.trust.statement import Statement

RESOLUTION_PREDICATE: Final = "urn:govern:case-resolution:v1"
ACKNOWLEDGEMENT_PREDICATE: Final = "urn:govern:case-acknowledgement:v1"
MISMATCH: Final = "mismatch"
"""Reason of a case whose declared and computed number differ; any other reason is why a number is unverifiable."""


class Outcome(StrEnum):
    """What a person found: the source is wrong, our computation is, both are right about other data, or it stands."""

    SOURCE_WRONG = "source_wrong"
    COMPUTATION_WRONG = "computation_wrong"
    DATA_CONFLICT = "data_conflict"
    ACCEPTED = "accepted"


class CaseRecord(NamedTuple):
    """One record a case is about, with both values as text; None is unknown."""

    record_id: str
    declared: str | None
    computed: str | None


class CaseRef(NamedTuple):
    """What a statement about a case is bound to: its round, its id, and the digest of what it asks."""

    round_id: str
    case_id: str
    sha256: str


class Stated(NamedTuple):
    """A statement that counts: who signed, their reason, and what they found (None: an acknowledgement)."""

    people: tuple[str, ...]
    reason: str
    outcome: Outcome | None


def case_sha256(round_id: str, reason: str, records: Iterable[CaseRecord]) -> str:
    """Give the digest of what a case asks: RFC 8785 of its round, reason and records with both values, by record id."""
    return sha256_hex(canonical_json([round_id, reason, sorted([*record] for record in records)]))


def sign_case(ref: CaseRef, reason: str, signer: Signer, signed_at: datetime, outcome: Outcome | None = None) -> bytes:
    """Sign a statement about a case; the envelope an event carries.

    Args:
        ref: the case.
        reason: why, in words.
        signer: key of the person.
        signed_at: by the clock of the person; shown, and believed by nobody.
        outcome: what they found; None: they acknowledge it.
    """
    predicate: dict[str, Any] = {
        "case_id": ref.case_id,
        "round_id": ref.round_id,
        "reason": reason,
        "signed_at": instant_text(signed_at),
        **({} if outcome is None else {"resolution": str(outcome)}),
    }
    kind = ACKNOWLEDGEMENT_PREDICATE if outcome is None else RESOLUTION_PREDICATE
    payload = statement_bytes([Subject(ref.case_id, ref.sha256)], kind, predicate)
    return dsse.sign(payload, STATEMENT_PAYLOAD_TYPE, signer)


def stated(
    envelope: bytes, ref: CaseRef, root: TrustRoot, actors: Iterable[str], now: datetime, *, resolves: bool
) -> Stated:
    """Read a statement about a case that counts: of people with the role, about this case, who made nothing of it.

    Args:
        envelope: as it was recorded.
        ref: the case.
        root: who is who.
        actors: who has a part in the round; none of them speaks about its cases (maker is not checker).
        now: instant at which keys are judged.
        resolves: whether it must be a resolution, or an acknowledgement.

    Raises:
        Refusal: it does not count; the code says why.
    """
    read = dsse.parse_envelope(envelope)
    signers = dsse.verify_signatures(read, root, now, role=Role.APPROVER)
    statement = statement_of(read)
    kind = RESOLUTION_PREDICATE if resolves else ACKNOWLEDGEMENT_PREDICATE
    if statement.predicate_type != kind:
        raise Refusal(ReasonCode.WRONG_TYPE, f"{excerpt(statement.predicate_type, 80)} is not {kind}")
    said = _said(statement, ref)
    parties = tuple(actors)
    people = tuple(dict.fromkeys(signer.principal for signer in signers))
    for person in people:
        conflict = approver_conflict(person, parties, root)
        if conflict is not None:
            message = f"{person!r} has a part in the round (rule {conflict.rule}: {conflict.shared!r})"
            raise Refusal(ReasonCode.SELF_APPROVAL, f"{message}; somebody else must look at its cases")
    return Stated(people, said, _outcome(statement) if resolves else None)


def _said(statement: Statement, ref: CaseRef) -> str:
    """Hold a statement to its case and give its reason."""
    named = (text_member(statement.predicate, "round_id"), text_member(statement.predicate, "case_id"))
    digests = [subject.sha256 for subject in statement.subjects]
    if named != (ref.round_id, ref.case_id) or digests != [ref.sha256]:
        message = f"it is about {excerpt(named[1], 80)} of round {excerpt(named[0], 80)} as it was then"
        raise Refusal(ReasonCode.DIGEST_MISMATCH, f"{message}; round, records or values of this case are others")
    reason = text_member(statement.predicate, "reason")
    if not reason.strip():
        raise malformed("the reason is blank")
    return reason


def _outcome(statement: Statement) -> Outcome:
    found = text_member(statement.predicate, "resolution")
    if found not in set(Outcome):
        raise malformed(f"{excerpt(found, 80)} is no resolution")
    return Outcome(found)
