"""The two halves of a decision in a browser: what is to be signed, and what became of the signature.

What belongs here: making the statement and its challenge, and turning an assertion into an envelope. What does not: any
question about either; a decision is drafted (`drafts`), held to everything and recorded (`deciding`) as any other, and
its person is whoever's passkey signed it: no member of a request names one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.answers import result
from governance_pipeline.gate.deciding import record_signed
from governance_pipeline.gate.decision import Verb, decision_statement
from governance_pipeline.gate.drafts import draft_decision
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.people import may_act
from governance_pipeline.gate.policy import Assurance
from governance_pipeline.gate.shown import request_of
from governance_pipeline.gate.states import standing_of
from governance_pipeline.trust import dsse
from governance_pipeline.trust.passkeys import assertion_bytes, challenge_of
from governance_pipeline.trust.principals import Kind, Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from governance_pipeline.gate.inbox.ceremonies import Ceremony
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.trust.passkeys import Assertion
    from governance_pipeline.trust.principals import Key
    from governance_pipeline.trust.root import TrustRoot


class ToSign(NamedTuple):
    """A decision that is to be signed: its request, its statement, and the passkeys that may sign it."""

    request_id: str
    payload: bytes
    credentials: tuple[bytes, ...]

    @property
    def challenge(self) -> bytes:
        """What the authenticator signs: the SHA-256 of the encoding that DSSE signs (PAE)."""
        return challenge_of(dsse.pae(STATEMENT_PAYLOAD_TYPE, self.payload))


MAKE_ONE: Final = "`govern trust add NAME --kind human --role approver --passkey` makes one"


def to_sign(
    verifier: Verifier,
    request_id: str,
    verb: Verb,
    reason: str,
    seen_sha256: str | None,
    *,
    origin: str,
    now: datetime,
    nonce: str,
) -> ToSign:
    """Make the decision somebody is going to sign.

    Args:
        verifier: what is trusted.
        request_id: the request, or the beginning of its id.
        verb: what is decided.
        reason: why, in words.
        seen_sha256: digest of the text the page showed; an approval needs it.
        origin: the page.
        now: the time.
        nonce: 32 hex digits nobody has used before.

    Raises:
        UsageError: no such request, or the reason cannot be signed; StorageError: its manifest is gone or damaged.
        Refusal: the request is not open to it, what it shows has changed, or nobody has a passkey for this page.
    """
    history = read_history(verifier.ledger, is_strict=verb is Verb.APPROVE)
    request = request_of(history, request_id)
    people = may_act(standing_of(request, verifier, history, now), verifier, history, now)
    draft = draft_decision(
        verifier, request.request_id, verb, reason, people, now=now, nonce=nonce, history=history
    ).decision
    if verb is Verb.APPROVE and seen_sha256 != draft.display_sha256:
        raise Refusal(ReasonCode.DIGEST_MISMATCH, "what is to be decided has changed while it was read; look again")
    credentials = tuple(key.passkey.credential_id for key in page_keys(verifier.root, origin, now) if key.passkey)
    if not credentials:
        raise Refusal(ReasonCode.UNTRUSTED_KEY, f"no approver has a passkey for {origin}; {MAKE_ONE}")
    statement = decision_statement(replace(draft, assurance=Assurance.PRESENCE))
    return ToSign(request.request_id, statement, credentials)


def finish(verifier: Verifier, ceremony: Ceremony, assertion: Assertion, now: datetime) -> dict[str, Any]:
    """Record a decision with the assertion that signs it; an entry of `govern/gate-results/v1`, refused or not."""
    refusal, decision_id = None, None
    try:
        data = envelope_of(verifier.root, ceremony.payload, assertion)
        decision_id = str(record_signed(verifier, data, now=now).body["decision_id"])
    except Refusal as error:
        refusal = error
    except StorageError as error:
        refusal = Refusal(ReasonCode.DIGEST_MISMATCH, str(error))
    history = read_history(verifier.ledger, is_strict=False)
    standing = standing_of(request_of(history, ceremony.request_id), verifier, history, now)
    return result(ceremony.request_id, ceremony.verb, decision_id, standing, refusal)


def envelope_of(root: TrustRoot, payload: bytes, assertion: Assertion) -> bytes:
    """Give the envelope of a statement that a passkey signed; whether it fits is asked when it is recorded.

    Raises:
        Refusal: UNTRUSTED_KEY, the trust root knows no such passkey.
    """
    for key in _passkeys(root):
        if key.passkey is not None and key.passkey.credential_id == assertion.credential_id:
            signed = dsse.Signature(key.fingerprint, assertion_bytes(assertion))
            return dsse.envelope_bytes(dsse.Envelope(STATEMENT_PAYLOAD_TYPE, payload, (signed,)))
    raise Refusal(ReasonCode.UNTRUSTED_KEY, "the trust root knows no such passkey; `govern trust show` lists them")


def page_keys(root: TrustRoot, origin: str, now: datetime) -> list[Key]:
    """Give the passkeys of approvers that were made for a page and are not revoked.

    Those of people who may not decide this request are among them: they are refused with the reason, not ignored.
    """
    return [
        key
        for key in _passkeys(root)
        if key.passkey is not None and key.passkey.origin == origin and not root.is_revoked(key.fingerprint, now)
    ]


def _passkeys(root: TrustRoot) -> Iterator[Key]:
    for principal in root.principals:
        if principal.kind is Kind.HUMAN and Role.APPROVER in principal.roles:
            yield from (key for key in principal.keys if key.passkey is not None)
