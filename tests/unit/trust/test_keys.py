"""Key files are made once, closed to others, and open only as what they are."""

from __future__ import annotations

import base64
import hashlib
import subprocess

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from governance_pipeline.errors import StorageError, UnreadableError, UsageError
from governance_pipeline.trust.keys import (
    fingerprint,
    generate_key,
    is_encrypted_key,
    is_signed_by,
    load_signer,
    read_public_key,
)


@pytest.mark.parametrize("passphrase", [None, b"four plain words here"])
def test_a_new_key_signs_what_its_public_half_confirms(tmp_path, passphrase):
    public = generate_key(tmp_path / "k.pem", passphrase)
    signer = load_signer(tmp_path / "k.pem", passphrase)
    assert (signer.public_key, signer.assurance) == (public, "key_file")
    assert signer.is_encrypted == (passphrase is not None) == is_encrypted_key(tmp_path / "k.pem")
    assert is_signed_by(public, b"message", signer.sign(b"message"))
    assert not is_signed_by(public, b"other", signer.sign(b"message"))


def test_a_key_file_is_open_to_its_owner_only(tmp_path):
    generate_key(tmp_path / "k.pem", None)
    assert (tmp_path / "k.pem").stat().st_mode & 0o777 == 0o600


def test_a_key_is_never_shown_by_its_signer(tmp_path):
    generate_key(tmp_path / "k.pem", None)
    assert "private" not in repr(load_signer(tmp_path / "k.pem", None))


def test_nothing_is_overwritten_by_a_new_key(tmp_path):
    (tmp_path / "k.pem").write_text("mine")
    (tmp_path / "link.pem").symlink_to(tmp_path / "elsewhere")
    for name in ("k.pem", "link.pem"):
        with pytest.raises(UsageError, match="never overwritten"):
            generate_key(tmp_path / name, None)
    assert (tmp_path / "k.pem").read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


def test_an_empty_passphrase_is_refused(tmp_path):
    with pytest.raises(UsageError, match="empty passphrase"):
        generate_key(tmp_path / "k.pem", b"")


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(StorageError, match="cannot be made"):
        generate_key(tmp_path / "none" / "k.pem", None)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o700 | 0o001])
def test_a_key_file_that_others_can_open_is_refused(tmp_path, mode):
    generate_key(tmp_path / "k.pem", None)
    (tmp_path / "k.pem").chmod(mode)
    with pytest.raises(UsageError, match="chmod 600"):
        load_signer(tmp_path / "k.pem", None)


def test_a_linked_key_file_is_refused(tmp_path):
    generate_key(tmp_path / "k.pem", None)
    (tmp_path / "link").symlink_to(tmp_path / "k.pem")
    with pytest.raises(UsageError, match="symlink"):
        load_signer(tmp_path / "link", None)


def test_the_passphrase_must_fit_the_file(tmp_path):
    generate_key(tmp_path / "open.pem", None)
    generate_key(tmp_path / "closed.pem", b"words")
    for name, passphrase in (("closed.pem", b"other"), ("closed.pem", None), ("open.pem", b"words")):
        with pytest.raises(UsageError):
            load_signer(tmp_path / name, passphrase)


def test_another_kind_of_key_or_no_key_is_refused(tmp_path):
    path = tmp_path / "k.pem"
    other = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for data in (other, b"no key", b""):
        path.write_bytes(data)
        path.chmod(0o600)
        with pytest.raises(UnreadableError):
            load_signer(path, None)


def test_a_public_key_is_read_from_pem_openssh_and_base64(tmp_path):
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key()
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    spellings = {
        "pem": key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
        "ssh": key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH) + b" ana@host\n",
        "b64": base64.b64encode(raw) + b"\n",
    }
    for name, data in spellings.items():
        (tmp_path / name).write_bytes(data)
        assert read_public_key(tmp_path / name) == raw
    assert fingerprint(raw) == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize(
    "data", [b"", b"AAAA", b"-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----", b"ssh-ed25519 x", b"\xff"]
)
def test_what_is_no_public_key_is_refused(tmp_path, data):
    (tmp_path / "k").write_bytes(data)
    with pytest.raises(UnreadableError):
        read_public_key(tmp_path / "k")


def test_a_private_key_or_another_kind_is_no_public_key(tmp_path):
    generate_key(tmp_path / "k.pem", None)
    with pytest.raises(UnreadableError, match="private"):
        read_public_key(tmp_path / "k.pem")
    other = rsa.generate_private_key(65537, 2048).public_key()
    (tmp_path / "r.pem").write_bytes(
        other.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    with pytest.raises(UnreadableError, match="only Ed25519"):
        read_public_key(tmp_path / "r.pem")


def test_bytes_that_are_no_point_or_one_of_small_order_are_no_key(tmp_path):
    header = bytes.fromhex("302a300506032b6570032100")  # SubjectPublicKeyInfo of Ed25519 (RFC 8410)
    for raw in (b"\x01" + bytes(31), bytes(32), b"\x02" + bytes(31), b"\xee" + b"\xff" * 30 + b"\x7f"):
        pem = b"-----BEGIN PUBLIC KEY-----\n" + base64.b64encode(header + raw) + b"\n-----END PUBLIC KEY-----\n"
        wire = b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20" + raw
        for data in (base64.b64encode(raw), pem, b"ssh-ed25519 " + base64.b64encode(wire)):
            (tmp_path / "k").write_bytes(data)
            with pytest.raises(UnreadableError, match="small order"):
                read_public_key(tmp_path / "k")


@pytest.mark.parametrize("signature", [b"", bytes(63), bytes(64), bytes(65)])
@pytest.mark.parametrize("public_key", [b"", bytes(31), bytes(33), b"\xff" * 32])
def test_garbage_never_verifies_and_never_raises(public_key, signature):
    assert not is_signed_by(public_key, b"", signature)


def test_openssl_reads_what_we_write(tmp_path):
    generate_key(tmp_path / "k.pem", None)
    try:
        done = subprocess.run(
            ["openssl", "pkey", "-in", str(tmp_path / "k.pem"), "-pubout"], capture_output=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("no openssl here")
    assert b"BEGIN PUBLIC KEY" in done.stdout
