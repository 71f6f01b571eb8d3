"""What an auditor signs about a classification rule: how often it was wrong on a sample they looked at themselves.

What belongs here: the predicate, signing, and whether a statement counts. What does not: counting the errors and what
follows from them (framework). Source: spec/framework.md §5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust import dsse
from governance_pipeline.trust.auditors import auditors, refuse_own_work
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
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.root import TrustRoot

PREDICATE: Final = "urn:govern:classification-rule-audit:v1"


class Audited(NamedTuple):
    """An audit that counts: who signed, and the document."""

    people: tuple[str, ...]
    document: Mapping[str, Any]


def sign_audit(document: Mapping[str, Any], signer: Signer) -> bytes:
    """Sign an audit; the envelope an event carries. Its subject is the rule, by the digest of its file."""
    subject = Subject(str(document["rule_id"]), str(document["rule_sha256"]))
    return dsse.sign(statement_bytes([subject], PREDICATE, document), STATEMENT_PAYLOAD_TYPE, signer)


def stated_audit(envelope: bytes, root: TrustRoot, at: datetime, now: datetime) -> Audited:
    """Read an audit that counts: signed by a validator or approver who did not write the rule.

    Args:
        envelope: as it was recorded.
        root: who is who.
        at: when it was recorded; keys must have been valid then.
        now: a key revoked by now counts no longer.

    Raises:
        Refusal: it does not count; the code says why.
    """
    read = dsse.parse_envelope(envelope)
    people = auditors(read, root, at, now)
    statement = statement_of(read)
    if statement.predicate_type != PREDICATE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"{excerpt(statement.predicate_type, 80)} is not {PREDICATE}")
    document = statement.predicate
    subject = Subject(text_member(document, "rule_id"), text_member(document, "rule_sha256"))
    if statement.subjects != (subject,):
        raise malformed("it is not about the rule it names")
    refuse_own_work(people, text_member(document, "author"), root)
    return Audited(people, document)
