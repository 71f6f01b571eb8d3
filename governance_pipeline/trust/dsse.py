"""DSSE envelopes (Dead Simple Signing Envelope 1.0): strict reading, signing, and who signed.

What belongs here: the encoding that is signed (PAE), the JSON form of an envelope, and matching signatures with the
keys of a trust root. What does not: what a payload means (`statement`, `verdict`) and thresholds (gate).

By the specification: type and payload are signed as bytes, nothing is canonicalised; unknown members are ignored; a
`keyid` is a hint that decides nothing. Here it only chooses which refusal is shown when no key fits. Signatures are
counted by the bytes of the key that made them, so one key under two names is one signer (research/security.md row 13).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.limits import LIMITS, Limits
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.signatures import Proof, is_possible, proof_of

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.principals import Key, Principal, Role
    from governance_pipeline.trust.root import TrustRoot

ENVELOPE_BYTES: Final = 64 * 1024
"""Largest envelope and payload that is read (research/security.md b3); a verdict has about 3 KiB."""
ENVELOPE_LIMITS: Final[Limits] = replace(LIMITS, document_bytes=ENVELOPE_BYTES)
MOST_SIGNATURES: Final = 64
"""Most signatures of one envelope: each is tried with every key of the root, and that must stay cheap."""

_SEVERITY: Final = (
    ReasonCode.BAD_SIGNATURE,
    ReasonCode.UNTRUSTED_KEY,
    ReasonCode.NOT_YET_VALID,
    ReasonCode.EXPIRED,
    ReasonCode.REVOKED_KEY,
    ReasonCode.NO_USER_PRESENCE,
)
"""Which refusal is shown when several signatures fail for different reasons: the last of these."""


class Signature(NamedTuple):
    """One signature as the envelope carries it: a hint (empty when unset) and the bytes."""

    keyid: str
    sig: bytes


class Envelope(NamedTuple):
    """A parsed envelope; `payload` are the very bytes that were signed, never a copy written anew."""

    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...]

    @property
    def payload_sha256(self) -> str:
        """Digest of the payload: names the statement whatever signatures or spelling the envelope has."""
        return hashlib.sha256(self.payload).hexdigest()


class SignedBy(NamedTuple):
    """A principal of the trust root that signed, the fingerprint of its key, and in whose place; None: in its own."""

    principal: str
    key_fingerprint: str
    on_behalf_of: str | None = None


def pae(payload_type: str, payload: bytes) -> bytes:
    """Give the bytes that are signed: type and payload, each after its length (DSSE 1.0, Protocol)."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def parse_envelope(data: bytes) -> Envelope:
    """Read one envelope, at most 64 KiB, by the rules of the strict reader.

    Raises:
        Refusal: TOO_LARGE, or MALFORMED when it is no strict JSON, lacks a member, has one of the wrong type, holds
            Base64 that is not exactly one encoding of its bytes, or carries too many signatures.
    """
    members = parse_members(data, "the envelope")
    payload_type, signatures = members.get("payloadType"), members.get("signatures")
    if type(payload_type) is not str:
        raise _malformed("payloadType is no text")
    if not isinstance(signatures, list):
        raise _malformed("signatures is no list")
    if len(signatures) > MOST_SIGNATURES:
        raise _malformed(f"it carries {len(signatures)} signatures, at most {MOST_SIGNATURES} are tried")
    payload = _decoded(members.get("payload"), "payload")
    return Envelope(payload_type, payload, tuple(_signature(value) for value in signatures))


def parse_members(data: bytes, what: str) -> dict[str, Any]:
    """Read a signed JSON object under the bounds of an envelope.

    Raises:
        Refusal: TOO_LARGE or MALFORMED, naming `what`.
    """
    if len(data) > ENVELOPE_BYTES:
        message = f"{what} has {len(data)} bytes, at most {ENVELOPE_BYTES} are read"
        raise Refusal(ReasonCode.TOO_LARGE, message)
    try:
        value = parse_json(data, ENVELOPE_LIMITS)
    except RecordRefused as reason:
        raise Refusal(ReasonCode.MALFORMED, f"{what} is no strict JSON: {reason}") from None
    if not isinstance(value, dict):
        raise Refusal(ReasonCode.MALFORMED, f"{what} is no JSON object")
    return value


def sign(payload: bytes, payload_type: str, signer: Signer) -> bytes:
    """Sign a payload; the envelope as JSON text, Base64 in the standard alphabet."""
    return envelope_bytes(Envelope(payload_type, payload, (_made(payload, payload_type, signer),)))


def add_signature(envelope: Envelope, signer: Signer) -> Envelope:
    """Add another signature over the same type and payload."""
    made = _made(envelope.payload, envelope.payload_type, signer)
    return envelope._replace(signatures=(*envelope.signatures, made))


def envelope_bytes(envelope: Envelope) -> bytes:
    """Write an envelope as one line of JSON."""
    document = {
        "payloadType": envelope.payload_type,
        "payload": _encoded(envelope.payload),
        "signatures": [{"keyid": s.keyid, "sig": _encoded(s.sig)} for s in envelope.signatures],
    }
    return json.dumps(document, separators=(",", ":")).encode()


def verify_signatures(
    envelope: Envelope, root: TrustRoot, now: datetime, *, role: Role | None = None
) -> list[SignedBy]:
    """Find the principals that signed an envelope with a key that counts at `now`.

    Args:
        envelope: what claims to be signed.
        root: the trust root, already verified itself.
        now: instant at which keys, principals and revocations are judged.
        role: count principals with this role only.

    Returns:
        One entry per key, ordered by principal and key; never empty. Two keys of one principal are two entries:
        who counts principals or controllers does so from here.

    Raises:
        Refusal: nobody signed: MISSING without a signature, else BAD_SIGNATURE, UNTRUSTED_KEY (unknown, or without
            the role), NOT_YET_VALID, EXPIRED or REVOKED_KEY.
    """
    if not envelope.signatures:
        raise Refusal(ReasonCode.MISSING, "the envelope carries no signature; have it signed first")
    message = pae(envelope.payload_type, envelope.payload)
    signers: dict[bytes, SignedBy] = {}
    reasons: list[ReasonCode] = []
    for signature in envelope.signatures:
        found = _maker(signature, message, root)
        if found is None:
            reasons.append(_unknown_maker(signature, root))
            continue
        principal, key, proof = found
        reason = _reason_against(principal, key, root, now, role) or _absence(proof)
        if reason is None:
            signers[key.public_key] = SignedBy(principal.id, key.fingerprint)
        else:
            reasons.append(reason)
    if not signers:
        reason = max(reasons, key=_SEVERITY.index)
        raise Refusal(reason, _EXPLAINED[reason].format(count=len(envelope.signatures)))
    return sorted(signers.values())


_EXPLAINED: Final = {
    ReasonCode.BAD_SIGNATURE: "none of {count} signatures fits type and payload; they were changed, or cut",
    ReasonCode.UNTRUSTED_KEY: "no key of the trust root with the role that is needed made one of {count} signatures",
    ReasonCode.NOT_YET_VALID: "the key or its principal is not valid yet",
    ReasonCode.EXPIRED: "the key or its principal is no longer valid; have it renewed and sign again",
    ReasonCode.REVOKED_KEY: "the key is revoked; sign with another",
    ReasonCode.NO_USER_PRESENCE: "the authenticator signed without a touch of a verified person; sign again",
}


def _maker(signature: Signature, message: bytes, root: TrustRoot) -> tuple[Principal, Key, Proof] | None:
    for principal in root.principals:
        for key in principal.keys:
            proof = proof_of(key, message, signature.sig)
            if proof is not None:
                return principal, key, proof
    return None


def _unknown_maker(signature: Signature, root: TrustRoot) -> ReasonCode:
    """Choose the code to show: both refuse, and a forged hint changes nothing but the word."""
    if not signature.keyid or root.key(signature.keyid) is not None:
        return ReasonCode.BAD_SIGNATURE
    return ReasonCode.UNTRUSTED_KEY


def _reason_against(
    principal: Principal, key: Key, root: TrustRoot, now: datetime, role: Role | None
) -> ReasonCode | None:
    if role is not None and role not in principal.roles:
        return ReasonCode.UNTRUSTED_KEY
    if root.is_revoked(key.fingerprint, now):
        return ReasonCode.REVOKED_KEY
    for validity in (principal.validity, key.validity):
        if validity.is_before(now):
            return ReasonCode.NOT_YET_VALID
        if validity.is_over(now):
            return ReasonCode.EXPIRED
    return None


def _absence(proof: Proof) -> ReasonCode | None:
    return ReasonCode.NO_USER_PRESENCE if proof is Proof.ABSENT else None


def _made(payload: bytes, payload_type: str, signer: Signer) -> Signature:
    return Signature(fingerprint(signer.public_key), signer.sign(pae(payload_type, payload)))


def _signature(value: Any) -> Signature:
    if not isinstance(value, dict):
        raise _malformed("a signature is no object")
    keyid = value.get("keyid", "")
    if keyid is None:
        keyid = ""
    if type(keyid) is not str:
        raise _malformed("a keyid is no text")
    sig = _decoded(value.get("sig"), "sig")
    if not is_possible(sig):
        raise _malformed(f"a signature of {len(sig)} bytes is none: neither raw Ed25519 nor one of OpenSSH")
    return Signature(keyid, sig)


def _decoded(text: Any, member: str) -> bytes:
    """Decode Base64 of either alphabet that is the one encoding of its bytes."""
    if type(text) is not str:
        raise _malformed(f"{member} is no text")
    standard = text.replace("-", "+").replace("_", "/") if not {"+", "/"} & set(text) else text
    try:
        data = base64.b64decode(standard.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise _malformed(f"{member} is no Base64") from None
    if _encoded(data) != standard:
        raise _malformed(f"{member} is not written as its bytes are encoded")
    return data


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _malformed(what: str) -> Refusal:
    return Refusal(ReasonCode.MALFORMED, f"the envelope cannot be used: {what}")
