"""What a validator or a person signs about one entry of an audit trail: that they derived its result again.

What belongs here: the predicate, signing, and whether a statement counts. What does not: reading the trail and deriving
again (framework). An entry that calls itself verified is a claim of whoever wrote it. Source: spec/framework.md §6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust import dsse
from governance_pipeline.trust.auditors import auditors, refuse_own_work
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import (
    STATEMENT_PAYLOAD_TYPE,
    Subject,
    malformed,
    statement_bytes,
    statement_of,
    text_member,
)
from governance_pipeline.trust.verdict import REDERIVATIONS

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.root import TrustRoot

PREDICATE: Final = "urn:govern:audit-entry-confirmation:v1"


class Confirmed(NamedTuple):
    """A confirmation that counts: who signed, and how they derived the result again."""

    people: tuple[str, ...]
    method: str


def sign_confirmation(entry_sha256: str, agent_id: str, method: str, signer: Signer, signed_at: datetime) -> bytes:
    """Sign that the result of the entry with this digest was derived again by a method; the envelope of an event."""
    predicate = {"agent_id": agent_id, "method": method, "signed_at": instant_text(signed_at)}
    payload = statement_bytes([Subject("", entry_sha256)], PREDICATE, predicate)
    return dsse.sign(payload, STATEMENT_PAYLOAD_TYPE, signer)


def stated_confirmation(
    envelope: bytes, entry_sha256: str, agent_id: str, root: TrustRoot, at: datetime, now: datetime
) -> Confirmed:
    """Read a confirmation that counts: of this entry, by somebody who may judge and did not do the work.

    Raises:
        Refusal: it does not count; the code says why.
    """
    read = dsse.parse_envelope(envelope)
    people = auditors(read, root, at, now)
    statement = statement_of(read)
    if statement.predicate_type != PREDICATE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"{excerpt(statement.predicate_type, 80)} is not {PREDICATE}")
    if [subject.sha256 for subject in statement.subjects] != [entry_sha256]:
        raise Refusal(ReasonCode.DIGEST_MISMATCH, "it confirms another entry, or this one was changed since")
    method = text_member(statement.predicate, "method")
    if method not in REDERIVATIONS:
        raise malformed(f"{excerpt(method, 80)} derives nothing again; {', '.join(sorted(REDERIVATIONS))} do")
    refuse_own_work(people, agent_id, root)
    return Confirmed(people, method)
