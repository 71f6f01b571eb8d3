"""What a signature shows of how it was made, and that a key counts in its own way only."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from governance_pipeline.trust import sshsig
from governance_pipeline.trust.principals import Key
from governance_pipeline.trust.signatures import Proof, is_possible, proof_of
from governance_pipeline.trust.sshsig import SshSignature, signed_data

MESSAGE = b"a statement"
PRIVATE = Ed25519PrivateKey.generate()
PUBLIC = PRIVATE.public_key().public_bytes_raw()
PLAIN, HELD = Key(PUBLIC), Key(PUBLIC, application="ssh:govern")


def armored(application=None, flags=0, namespace=sshsig.NAMESPACE):
    """Write a signature over the message as OpenSSH does."""
    counter = b"\0\0\0\7" if application else b""
    read = SshSignature(PUBLIC, application, namespace, "sha512", bytes(64), flags, counter)
    signed = signed_data(read, MESSAGE)
    kind, more = (sshsig.PLAIN, b"") if application is None else (sshsig.AUTHENTICATOR, bytes((flags,)) + counter)
    if application is not None:
        signed = sshsig._authenticator_data(read, application, signed)
    string = sshsig._string
    key = string(kind.encode()) + string(PUBLIC) + (string(application.encode()) if application else b"")
    signature = string(kind.encode()) + string(PRIVATE.sign(signed)) + more
    blob = b"SSHSIG\0\0\0\1" + b"".join(
        map(string, (key, namespace.encode(), b"", b"sha512", signature)),
    )
    return b"-----BEGIN SSH SIGNATURE-----\n" + base64.b64encode(blob) + b"\n-----END SSH SIGNATURE-----\n"


@pytest.mark.parametrize(
    ("key", "signature", "proof"),
    [
        (PLAIN, PRIVATE.sign(MESSAGE), Proof.RAW),
        (PLAIN, armored(), Proof.OPENSSH),
        (HELD, armored("ssh:govern", 0x05), Proof.PRESENT),
        (HELD, armored("ssh:govern", 0x01), Proof.ABSENT),
        (HELD, armored("ssh:govern", 0x00), Proof.ABSENT),
        (HELD, armored("ssh:other", 0x05), None),
        (HELD, PRIVATE.sign(MESSAGE), None),
        (HELD, armored(), None),
        (PLAIN, armored("ssh:govern", 0x05), None),
        (PLAIN, armored(namespace="git"), None),
        (PLAIN, PRIVATE.sign(b"another"), None),
        (Key(bytes(32)), PRIVATE.sign(MESSAGE), None),
        (PLAIN, b"", None),
        (PLAIN, bytes(64), None),
    ],
)
def test_a_signature_shows_what_it_can_show_and_no_more(key, signature, proof):
    assert proof_of(key, MESSAGE, signature) is proof


def test_what_is_neither_raw_nor_of_openssh_is_no_signature():
    assert [is_possible(data) for data in (bytes(64), armored(), bytes(63), b"x" * 5000)] == [True, True, False, False]
    assert not is_possible(armored().rstrip() + b" " * 5000)
