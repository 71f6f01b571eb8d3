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
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))  # the same in every worker: it is in test ids
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
        pytest.param(PLAIN, PRIVATE.sign(MESSAGE), Proof.RAW, id="raw_by_its_key"),
        pytest.param(PLAIN, armored(), Proof.OPENSSH, id="openssh_by_its_key"),
        pytest.param(HELD, armored("ssh:govern", 0x05), Proof.PRESENT, id="touched_and_verified"),
        pytest.param(HELD, armored("ssh:govern", 0x01), Proof.ABSENT, id="touched_only"),
        pytest.param(HELD, armored("ssh:govern", 0x00), Proof.ABSENT, id="neither"),
        pytest.param(HELD, armored("ssh:other", 0x05), None, id="another_application"),
        pytest.param(HELD, PRIVATE.sign(MESSAGE), None, id="raw_by_an_authenticators_key"),
        pytest.param(HELD, armored(), None, id="plain_openssh_by_an_authenticators_key"),
        pytest.param(PLAIN, armored("ssh:govern", 0x05), None, id="authenticators_form_by_a_plain_key"),
        pytest.param(PLAIN, armored(namespace="git"), None, id="another_namespace"),
        pytest.param(PLAIN, PRIVATE.sign(b"another"), None, id="another_message"),
        pytest.param(Key(bytes(32)), PRIVATE.sign(MESSAGE), None, id="another_key"),
        pytest.param(PLAIN, b"", None, id="empty"),
        pytest.param(PLAIN, bytes(64), None, id="zeros"),
    ],
)
def test_a_signature_shows_what_it_can_show_and_no_more(key, signature, proof):
    assert proof_of(key, MESSAGE, signature) is proof


def test_what_is_neither_raw_nor_of_openssh_is_no_signature():
    assert [is_possible(data) for data in (bytes(64), armored(), bytes(63), b"x" * 5000)] == [True, True, False, False]
    assert not is_possible(armored().rstrip() + b" " * 5000)
