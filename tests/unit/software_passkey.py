"""An authenticator in software for tests: makes passkeys from names and asserts with whatever a test tells it to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from governance_pipeline.trust.passkeys import Assertion, Passkey, assertion_bytes, base64url, challenge_of
from governance_pipeline.trust.principals import Key, Validity

RP, ORIGIN = "localhost", "http://localhost:8733"
PRESENT = 0x05
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


@cache
def _rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@dataclass
class SoftwarePasskey:
    """A passkey of a name; it counts its signatures when `counter` is set."""

    name: str
    rp_id: str = RP
    origin: str = ORIGIN
    flags: int = PRESENT
    counter: int = 0
    is_rsa: bool = False
    client: dict = field(default_factory=dict)
    assurance: str = "presence"

    @property
    def private_key(self):
        if self.is_rsa:
            return _rsa_key()
        number = int.from_bytes(hashlib.sha256(f"passkey of {self.name}".encode()).digest(), "big")
        return ec.derive_private_key(number % (_P256_ORDER - 1) + 1, ec.SECP256R1())

    @property
    def public_key(self) -> bytes:
        form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        return self.private_key.public_key().public_bytes(*form)

    @property
    def credential_id(self) -> bytes:
        return hashlib.sha256(f"credential of {self.name}".encode()).digest()[:16]

    @property
    def passkey(self) -> Passkey:
        return Passkey(self.credential_id, RP, ORIGIN)

    def key(self, validity: Validity = Validity()) -> Key:  # noqa: B008 - a frozen value
        return Key(self.public_key, validity, passkey=self.passkey)

    def authenticator_data(self, more: bytes = b"") -> bytes:
        if self.counter:
            self.counter += 1
        head = hashlib.sha256(self.rp_id.encode()).digest() + bytes((self.flags,))
        return head + self.counter.to_bytes(4, "big") + more

    def client_data(self, challenge: bytes) -> bytes:
        said = {"type": "webauthn.get", "challenge": base64url(challenge), "origin": self.origin, "crossOrigin": False}
        return json.dumps({**said, **self.client}).encode()

    def assertion(self, challenge: bytes, more: bytes = b"") -> Assertion:
        """Assert a challenge; every part can be wrong, the signature over the parts is always sound."""
        data, client = self.authenticator_data(more), self.client_data(challenge)
        signed = data + hashlib.sha256(client).digest()
        if self.is_rsa:
            signature = self.private_key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
        else:
            signature = self.private_key.sign(signed, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
        return Assertion(self.credential_id, data, client, signature)

    def sign(self, message: bytes) -> bytes:
        """Sign as a `Signer` does."""
        return assertion_bytes(self.assertion(challenge_of(message)))
