"""Passkeys (WebAuthn): the form in which an assertion is kept in an envelope, and whether one was made over a message.

What belongs here: reading an assertion strictly and checking it with `cryptography` alone, so that whoever has the
envelope and the trust root can check it for ever, without a browser, a server or the `webauthn` extra. What does not:
whose key it is (`root`), making a passkey and asking for an assertion (the gate's inbox).

The `sig` of an envelope's signature is the RFC 8785 form of `govern/passkey-assertion/v1`: the members
`authenticator_data`, `client_data_json`, `credential_id` and `signature`, each in Base64url without padding, and
`schema`. What an authenticator signs is `authenticator_data || SHA-256(client_data_json)` (WebAuthn Level 2, 6.3.3
and 7.2); the client data, which the browser writes and no page can, name the challenge, which is the SHA-256 of the
message (the PAE), and the origin of the page. Flags UP and UV must both be set for a person to have been there.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from functools import lru_cache
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from governance_pipeline.errors import GovernError
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.json_text import parse_json

SCHEMA: Final = "govern/passkey-assertion/v1"
ASSERTION_BYTES: Final = 4096
"""Largest assertion that is read; one has some 600 bytes, with an RSA key of 4096 bits some 1,300."""
LARGEST_KEY_BYTES: Final = 1024
"""Largest public key of a passkey; P-256 has 91 bytes, RSA of 4096 bits 550."""
MOST_CREDENTIAL_BYTES: Final = 1023
"""Longest credential id (WebAuthn Level 2, 4 "Credential ID")."""

USER_PRESENT: Final = 0x01
USER_VERIFIED: Final = 0x04
_BACKUP_ELIGIBLE: Final = 0x08
_BACKED_UP: Final = 0x10
_ATTESTED: Final = 0x40
_EXTENDED: Final = 0x80
_HEAD_BYTES: Final = 37
"""Bytes of authenticator data before any extension: digest of the RP id, flags, counter."""
_RSA_BITS: Final = range(2048, 4097)
_RSA_EXPONENT: Final = 65537
_MEMBERS: Final = frozenset({"schema", "authenticator_data", "client_data_json", "credential_id", "signature"})
_CLIENT_TEXTS: Final = ("type", "challenge", "origin")


class Passkey(NamedTuple):
    """What the trust root says of a passkey beside its public key.

    Attributes:
        credential_id: name its authenticator knows it by.
        rp_id: host it is bound to; an authenticator signs for no other.
        origin: the one page it may be used on, port included.
    """

    credential_id: bytes
    rp_id: str
    origin: str


class Assertion(NamedTuple):
    """One assertion as it was written; nothing in it is believed."""

    credential_id: bytes
    authenticator_data: bytes
    client_data_json: bytes
    signature: bytes

    @property
    def flags(self) -> int:
        """Flags of the authenticator; 0 where the data are cut."""
        return self.authenticator_data[32] if len(self.authenticator_data) >= _HEAD_BYTES else 0

    @property
    def counter(self) -> int:
        """How often the authenticator says it has signed; 0 for one that does not count, as synced passkeys do not."""
        return int.from_bytes(self.authenticator_data[33:_HEAD_BYTES], "big")

    @property
    def is_present(self) -> bool:
        """True when the authenticator says that a person was there and that it verified who."""
        return self.flags & (USER_PRESENT | USER_VERIFIED) == USER_PRESENT | USER_VERIFIED


def challenge_of(message: bytes) -> bytes:
    """Give the challenge under which a passkey signs a message: its SHA-256."""
    return hashlib.sha256(message).digest()


def is_assertion(data: bytes) -> bool:
    """Tell whether bytes look like a written assertion."""
    return data.startswith(b"{") and len(data) <= ASSERTION_BYTES


def assertion_bytes(assertion: Assertion) -> bytes:
    """Write an assertion as it is kept in an envelope."""
    members = {name: base64url(value) for name, value in assertion._asdict().items()}
    return canonical_json({"schema": SCHEMA, **members})


def parse_assertion(data: bytes) -> Assertion | None:
    """Read a written assertion; None when it is none, or not written in the one way. Never raises."""
    if not is_assertion(data):
        return None
    try:
        members = parse_json(data)
        if not isinstance(members, dict) or set(members) != _MEMBERS or members.pop("schema") != SCHEMA:
            return None
        read = Assertion(**{name: base64url_bytes(value) for name, value in members.items()})
        return read if assertion_bytes(read) == data else None
    except (GovernError, ValueError):
        return None


def asserted_by(assertion: Assertion, message: bytes, public_key: bytes, passkey: Passkey) -> bool:
    """Tell whether a passkey made an assertion over a message, on its own page; never raises.

    Whether a person was there is another question: `Assertion.is_present`.
    """
    data = assertion.authenticator_data
    rules = (
        assertion.credential_id == passkey.credential_id,
        len(data) >= _HEAD_BYTES and data[:32] == hashlib.sha256(passkey.rp_id.encode()).digest(),
        _is_whole(data),
        _is_of_page(assertion.client_data_json, challenge_of(message), passkey.origin),
    )
    signed = data + hashlib.sha256(assertion.client_data_json).digest()
    return all(rules) and _is_signed(public_key, signed, assertion.signature)


def is_sound_passkey(public_key: bytes) -> bool:
    """Tell whether bytes are the one spelling of a key passkeys have here: P-256, or RSA of 2048 to 4096 bits."""
    return _loaded(public_key) is not None


def base64url(data: bytes) -> str:
    """Write bytes as Base64url without padding, as WebAuthn does everywhere."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def base64url_bytes(text: object) -> bytes:
    """Read Base64url without padding that is the one encoding of its bytes.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(text, str):
        raise ValueError("no text")  # noqa: TRY004 - one kind of error for whatever is not Base64url
    try:
        data = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError("no Base64url") from None
    if base64url(data) != text:
        raise ValueError("not written as its bytes are encoded")
    return data


def _is_whole(data: bytes) -> bool:
    """Tell whether authenticator data are those of an assertion: nothing after the head but announced extensions."""
    flags = data[32] if len(data) >= _HEAD_BYTES else _ATTESTED
    if flags & _ATTESTED or (flags & _BACKED_UP and not flags & _BACKUP_ELIGIBLE):
        return False
    return (len(data) > _HEAD_BYTES) == bool(flags & _EXTENDED)


def _is_of_page(client_data_json: bytes, challenge: bytes, origin: str) -> bool:
    """Tell whether the browser wrote these client data for a page of this origin, itself on top, and this challenge."""
    try:
        said = parse_json(client_data_json)
    except GovernError:
        return False
    if not isinstance(said, dict) or not all(isinstance(said.get(name), str) for name in _CLIENT_TEXTS):
        return False
    wanted = {"type": "webauthn.get", "challenge": base64url(challenge), "origin": origin}
    is_framed = said.get("crossOrigin", False) is not False or "topOrigin" in said
    return not is_framed and all(said[name] == value for name, value in wanted.items())


@lru_cache(maxsize=1024)
def _loaded(public_key: bytes) -> ec.EllipticCurvePublicKey | rsa.RSAPublicKey | None:
    if len(public_key) > LARGEST_KEY_BYTES:
        return None
    try:
        key = serialization.load_der_public_key(public_key)
    except (ValueError, UnsupportedAlgorithm):
        return None
    if not isinstance(key, ec.EllipticCurvePublicKey | rsa.RSAPublicKey):
        return None
    if isinstance(key, ec.EllipticCurvePublicKey):
        is_good = isinstance(key.curve, ec.SECP256R1)
    else:
        is_good = key.key_size in _RSA_BITS and key.public_numbers().e == _RSA_EXPONENT
    spelling = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return key if is_good and spelling == public_key else None


def _is_signed(public_key: bytes, signed: bytes, signature: bytes) -> bool:
    key = _loaded(public_key)
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))
        elif isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
        else:
            return False
    except (InvalidSignature, ValueError):
        return False
    return True
