"""Signatures of OpenSSH: its own vectors verify, ours agree with `ssh-keygen`, and anything changed verifies nothing."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trust import sshsig
from governance_pipeline.trust.sshsig import SshSignature, made_by, parse_sshsig, public_key_of, signed_data

VECTORS = Path(__file__).parent / "sshsig"
MESSAGE = b"This is a test, this is only a test"
KEYGEN = shutil.which("ssh-keygen")


def _armored(blob: bytes) -> bytes:
    return b"-----BEGIN SSH SIGNATURE-----\n" + base64.b64encode(blob) + b"\n-----END SSH SIGNATURE-----\n"


def _vector(name):
    blob = base64.b64decode((VECTORS / f"{name}.pub").read_text().split()[1])
    return (VECTORS / f"{name}.sig").read_bytes(), *public_key_of(blob)


@pytest.fixture
def unittest_namespace(monkeypatch):
    """OpenSSH made its vectors for a namespace of its own."""
    monkeypatch.setattr(sshsig, "NAMESPACE", "unittest")


@pytest.mark.parametrize("name", ["ed25519", "ed25519_sk"])
def test_a_published_vector_verifies_with_its_key_and_no_other_message(name, unittest_namespace):
    data, public_key, application = _vector(name)
    signature = parse_sshsig(data)
    assert made_by(signature, MESSAGE, public_key, application)
    assert not made_by(signature, MESSAGE + b"!", public_key, application)
    assert not made_by(signature, MESSAGE, bytes(32), application)
    assert not made_by(signature, MESSAGE, public_key, None if application else "ssh:")


def test_the_published_authenticator_was_touched_and_did_not_verify_who(unittest_namespace):
    signature = parse_sshsig(_vector("ed25519_sk")[0])
    assert (signature.application, signature.flags, signature.counter.hex()) == ("ssh:", 0x01, "12345678")
    assert not signature.is_present


@pytest.mark.parametrize("name", ["ed25519", "ed25519_sk"])
def test_a_signature_made_for_another_namespace_is_none_here(name):
    data, public_key, application = _vector(name)
    assert not made_by(parse_sshsig(data), MESSAGE, public_key, application)


def test_a_kind_of_key_that_does_not_count_here_is_not_read():
    assert parse_sshsig((VECTORS / "ecdsa_sk.sig").read_bytes()) is None


@pytest.mark.parametrize(
    ("flags", "is_present"), [(0x00, False), (0x01, False), (0x04, False), (0x05, True), (0x45, True)]
)
def test_presence_needs_a_touch_and_a_verified_person(flags, is_present):
    key, application = Ed25519PrivateKey.generate(), "ssh:govern"
    signature = _signed_by_authenticator(key, application, flags)
    assert made_by(signature, MESSAGE, key.public_key().public_bytes_raw(), application)
    assert signature.is_present is is_present


def test_flags_that_were_set_afterwards_break_the_signature():
    key, application = Ed25519PrivateKey.generate(), "ssh:govern"
    signature = _signed_by_authenticator(key, application, 0x00)._replace(flags=0x05)
    assert signature.is_present
    assert not made_by(signature, MESSAGE, key.public_key().public_bytes_raw(), application)


def test_what_an_authenticators_key_signed_plainly_does_not_pass_as_its_own():
    key = Ed25519PrivateKey.generate()
    public_key = key.public_key().public_bytes_raw()
    plain = SshSignature(public_key, None, sshsig.NAMESPACE, "sha512", bytes(64))
    plain = plain._replace(raw=key.sign(signed_data(plain, MESSAGE)))
    assert made_by(plain, MESSAGE, public_key, None)
    assert not made_by(plain, MESSAGE, public_key, "ssh:")
    assert not plain._replace(flags=0x05).is_present


@pytest.mark.parametrize("name", ["ed25519", "ed25519_sk"])
def test_every_changed_byte_of_the_blob_is_refused(name, unittest_namespace):
    data, public_key, application = _vector(name)
    body = b"".join(data.split(b"-----")[2].split())
    blob = base64.b64decode(body)
    for at in range(len(blob)):
        changed = blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :]
        signature = parse_sshsig(_armored(changed))
        assert signature is None or not made_by(signature, MESSAGE, public_key, application), at
    for cut in (blob[:-1], blob + b"\0"):
        assert parse_sshsig(_armored(cut)) is None


@given(st.binary(max_size=300) | st.binary(max_size=200).map(_armored))
def test_any_bytes_are_read_or_refused_and_never_an_error(data):
    assert parse_sshsig(data) is None


@pytest.mark.skipif(KEYGEN is None, reason="no ssh-keygen on this machine")
@pytest.mark.parametrize("options", [(), ("-O", "hashalg=sha256")])
def test_what_ssh_keygen_signs_verifies_here_and_what_it_refuses_does_not(tmp_path, options):
    key = tmp_path / "key"
    subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for namespace, counts in ((sshsig.NAMESPACE, True), ("git", False)):
        signed = subprocess.run(
            [KEYGEN, "-q", "-Y", "sign", "-n", namespace, *options, "-f", str(key)],
            input=MESSAGE, capture_output=True, check=True,
        ).stdout  # fmt: skip
        public_key, application = public_key_of(base64.b64decode((tmp_path / "key.pub").read_text().split()[1]))
        assert made_by(parse_sshsig(signed), MESSAGE, public_key, application) is counts
        assert not made_by(parse_sshsig(signed), MESSAGE + b" ", public_key, application)


def _signed_by_authenticator(key, application, flags):
    signature = SshSignature(
        key.public_key().public_bytes_raw(), application, sshsig.NAMESPACE, "sha512", bytes(64), flags, bytes(4)
    )
    signed = sshsig._authenticator_data(signature, application, signed_data(signature, MESSAGE))
    return signature._replace(raw=key.sign(signed))
