"""What a person signs about a re-baseline: that an assumption no longer holds, and later that work may go on.

What belongs here: the two predicates, signing, and whether a statement counts. What does not: the steps between them
(framework) and recording (ledger). A declaration names its document by the digest of it, so an edited one is another; a
resumption names every step that was taken by the exact bytes of its event, so it covers what the person saw and nothing
that came later. Source: spec/framework.md §7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.excerpt import excerpt, is_said
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_text
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
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.root import TrustRoot

DECLARATION_PREDICATE: Final = "urn:govern:rebaseline-declaration:v1"
RESUMPTION_PREDICATE: Final = "urn:govern:rebaseline-resumption:v1"
DECLARATION_SCHEMA: Final = "govern/rebaseline-declaration/v1"
ID_PREFIX: Final = "rebaseline-"
_ID_DIGITS: Final = 16
_TEXTS: Final = ("declared_on", "scope_change", "from_baseline", "signed_at")


class Declared(NamedTuple):
    """A declaration that counts: who authorizes, and `govern/rebaseline-declaration/v1`."""

    people: tuple[str, ...]
    document: Mapping[str, Any]


class Resumed(NamedTuple):
    """A resumption that counts: who signed, and the baseline version that is in force from then on."""

    people: tuple[str, ...]
    baseline_version: str


def rebaseline_id(declaration: Mapping[str, Any]) -> str:
    """Give the id of a re-baseline: a prefix and the beginning of the digest of its declaration."""
    return ID_PREFIX + declaration_sha256(declaration)[:_ID_DIGITS]


def declaration_sha256(declaration: Mapping[str, Any]) -> str:
    """Give the digest of a declaration: SHA-256 of its RFC 8785 form."""
    return sha256_hex(canonical_json(declaration))


def sign_declaration(declaration: Mapping[str, Any], signer: Signer) -> bytes:
    """Sign a declaration (`govern/rebaseline-declaration/v1`); the envelope an event carries."""
    subject = Subject(rebaseline_id(declaration), declaration_sha256(declaration))
    return dsse.sign(statement_bytes([subject], DECLARATION_PREDICATE, declaration), STATEMENT_PAYLOAD_TYPE, signer)


def sign_resumption(name: str, chain_sha256: str, version: str, signer: Signer, signed_at: datetime) -> bytes:
    """Sign that work may go on.

    Args:
        name: id of the re-baseline.
        chain_sha256: digest of the events of every step that was taken.
        version: baseline version in force from then on.
        signer: key of the person.
        signed_at: by the clock of the person; shown, and believed by nobody.
    """
    predicate = {"rebaseline_id": name, "baseline_version": version, "signed_at": instant_text(signed_at)}
    payload = statement_bytes([Subject(name, chain_sha256)], RESUMPTION_PREDICATE, predicate)
    return dsse.sign(payload, STATEMENT_PAYLOAD_TYPE, signer)


def stated_declaration(envelope: bytes, name: str, root: TrustRoot, at: datetime, now: datetime) -> Declared:
    """Read a declaration that counts: signed by people with the role approver, about itself.

    Args:
        envelope: as it was recorded.
        name: id of the re-baseline it is recorded for.
        root: who is who.
        at: when it was recorded; keys must have been valid then.
        now: a key revoked by now counts no longer, whatever it signed before.

    Raises:
        Refusal: it does not count; the code says why.
    """
    people, subject, document = _stated(envelope, DECLARATION_PREDICATE, root, at, now)
    if subject != Subject(rebaseline_id(document), declaration_sha256(document)) or subject.name != name:
        raise Refusal(ReasonCode.DIGEST_MISMATCH, f"it does not declare {excerpt(name, 80)}, or was changed since")
    for member in _TEXTS:
        if not is_said(text_member(document, member)):
            raise malformed(f"{member} is blank")
    return Declared(people, document)


def stated_resumption(
    envelope: bytes, name: str, chain_sha256: str, root: TrustRoot, at: datetime, now: datetime
) -> Resumed:
    """Read a resumption that counts: signed by people with the role approver, about exactly these steps.

    Raises:
        Refusal: it does not count; the code says why. Arguments are those of `stated_declaration`.
    """
    people, subject, document = _stated(envelope, RESUMPTION_PREDICATE, root, at, now)
    if subject != Subject(name, chain_sha256) or text_member(document, "rebaseline_id") != name:
        message = "it resumes another re-baseline, or other steps than were taken"
        raise Refusal(ReasonCode.DIGEST_MISMATCH, f"{message}; look at the steps and sign again")
    return Resumed(people, text_member(document, "baseline_version"))


def _stated(
    envelope: bytes, predicate: str, root: TrustRoot, at: datetime, now: datetime
) -> tuple[tuple[str, ...], Subject, Mapping[str, Any]]:
    read = dsse.parse_envelope(envelope)
    signers = dsse.verify_signatures(read, root, at, role=Role.APPROVER)
    standing = [signer for signer in signers if not root.is_revoked(signer.key_fingerprint, now)]
    if not standing:
        raise Refusal(ReasonCode.REVOKED_KEY, "the key that signed it is revoked by now; sign again with another")
    statement = statement_of(read)
    if statement.predicate_type != predicate:
        raise Refusal(ReasonCode.WRONG_TYPE, f"{excerpt(statement.predicate_type, 80)} is not {predicate}")
    if len(statement.subjects) != 1:
        raise malformed("it is about more than one re-baseline")
    people = tuple(dict.fromkeys(signer.principal for signer in standing))
    return people, statement.subjects[0], statement.predicate
