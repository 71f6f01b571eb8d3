"""Ed25519 keys: made once into a file, read back as a signer, known by the digest of their public bytes.

What belongs here: key files, the signer protocol, one signature checked with one key. What does not: whose key it is
(`root`) and what is signed (`dsse`). A key in a file of the same user detects forgery, it does not prevent it
(research/security.md b1); other signers (ssh-agent, passkeys) only have to satisfy `Signer`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.strict.files import open_regular
from governance_pipeline.trust.new_files import write_new
from governance_pipeline.trust.owned_files import private_bytes
from governance_pipeline.trust.points import is_sound_point

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC_KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
KEY_FILE_BYTES: Final = 16 * 1024
"""Largest key file that is read; an Ed25519 key in PEM has some hundred bytes."""
PASSPHRASE_BYTES: Final = 4096
"""Most of a passphrase file that is read."""
KEY_FILE: Final = "key_file"
"""Assurance of a key that any process of its user can read (spec/gate.md §3)."""

_RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)


class Signer(Protocol):
    """Whoever can sign: the 32 public bytes, how sure we are that a person did it, and the signature itself."""

    @property
    def public_key(self) -> bytes:
        """Raw Ed25519 public key."""
        ...

    @property
    def assurance(self) -> str:
        """How the key is kept: key_file, ssh_agent or presence (spec/gate.md §3)."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Sign a message; the raw signature."""
        ...


@dataclass(frozen=True, repr=False)
class KeyFileSigner:
    """A signer whose key lies in a file; `is_encrypted` tells whether a passphrase protects it there."""

    private_key: Ed25519PrivateKey
    is_encrypted: bool
    assurance: str = KEY_FILE

    @property
    def public_key(self) -> bytes:
        """Raw Ed25519 public key, 32 bytes."""
        return self.private_key.public_key().public_bytes(*_RAW)

    def sign(self, message: bytes) -> bytes:
        """Sign a message; 64 bytes, the same for the same message."""
        return self.private_key.sign(message)


def fingerprint(public_key: bytes) -> str:
    """Give the name of a key: SHA-256 of its raw public bytes, lower-case hex."""
    return hashlib.sha256(public_key).hexdigest()


def is_signed_by(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether a signature over a message was made with the private half of a key; never raises."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


class NewKey(NamedTuple):
    """A key that was made and lies nowhere yet: its public bytes, and the content of its file (PKCS#8 PEM)."""

    public_key: bytes
    file_bytes: bytes


def new_key(passphrase: bytes | None) -> NewKey:
    """Make a new key.

    Args:
        passphrase: encrypts the content of its file; None leaves it open to every process of this user, which is for
            throw-away roots only.

    Raises:
        UsageError: the passphrase is empty.
    """
    if passphrase is not None and not passphrase:
        raise UsageError("an empty passphrase protects nothing; give one of several words")
    key = Ed25519PrivateKey.generate()
    encryption = (
        serialization.NoEncryption() if passphrase is None else serialization.BestAvailableEncryption(passphrase)
    )
    data = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    return NewKey(key.public_key().public_bytes(*_RAW), data)


def generate_key(path: Path, passphrase: bytes | None) -> bytes:
    """Make a new key in a new file (mode 0600) and return its public bytes; arguments as `new_key`.

    Raises:
        UsageError: the file exists, or the passphrase is empty.
        StorageError: it could not be written.
    """
    made = new_key(passphrase)
    write_new(path, made.file_bytes)
    return made.public_key


def is_encrypted_key(path: Path) -> bool:
    """Tell whether a key file asks for a passphrase.

    Raises:
        UsageError: no regular file, of another user, or readable by others.
    """
    return b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in _private_bytes(path)


def load_signer(path: Path, passphrase: bytes | None) -> KeyFileSigner:
    """Read a key file as a signer.

    Raises:
        UnreadableError: no Ed25519 key in PKCS#8.
        UsageError: no regular file, of another user, or readable by others; the passphrase is wrong, missing, or given
            for a file that has none.
    """
    return _signer(_private_bytes(path), passphrase, path)


def signer_of(key: NewKey, passphrase: bytes | None) -> KeyFileSigner:
    """Give the signer of a key that was just made with this passphrase."""
    return _signer(key.file_bytes, passphrase, "of the new key")


def _signer(data: bytes, passphrase: bytes | None, path: Path | str) -> KeyFileSigner:
    try:
        key = serialization.load_pem_private_key(data, passphrase)
    except TypeError:
        need = "no passphrase, but one was given" if passphrase is not None else "a passphrase"
        raise UsageError(f"key file {path} needs {need}") from None
    except (ValueError, UnsupportedAlgorithm):
        if passphrase is not None:
            raise UsageError(f"key file {path} does not open: wrong passphrase, or a damaged file") from None
        raise UnreadableError(f"key file {path} holds no private key in PEM (PKCS#8)") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UnreadableError(f"key file {path} holds another kind of key; only Ed25519 is used here")
    return KeyFileSigner(key, is_encrypted=passphrase is not None)


def read_passphrase(path: Path) -> bytes:
    """Read the first line of a file that only its owner can open.

    Raises:
        UsageError: no regular file, of another user, or readable by others.
    """
    first, _, _ = private_bytes(path, "passphrase file", PASSPHRASE_BYTES).partition(b"\n")
    return first.rstrip(b"\r")


def read_public_key(path: Path) -> bytes:
    """Read the 32 bytes of an Ed25519 public key: PEM, an OpenSSH line, or Base64 of the raw bytes.

    Raises:
        UnreadableError: no regular file, or none of the three.
    """
    data = _bytes_of(path)
    if b"PRIVATE KEY" in data:
        raise UnreadableError(f"{path} holds a private key; give the file with the public half")
    try:
        if data.lstrip().startswith(b"-----"):
            return _raw(serialization.load_pem_public_key(data), path)
        if data.lstrip().startswith(b"ssh-"):
            return _raw(serialization.load_ssh_public_key(data.strip()), path)
        raw = base64.b64decode(data.strip(), validate=True)
    except (ValueError, binascii.Error, UnsupportedAlgorithm):
        raise UnreadableError(f"{path} holds no public key; give PEM, an OpenSSH line or Base64") from None
    if len(raw) != PUBLIC_KEY_BYTES:
        raise UnreadableError(f"{path} holds {len(raw)} bytes; an Ed25519 public key has {PUBLIC_KEY_BYTES}")
    return _sound(raw, path)


def _raw(key: object, path: Path) -> bytes:
    if not isinstance(key, Ed25519PublicKey):
        raise UnreadableError(f"{path} holds another kind of key; only Ed25519 is used here")
    return _sound(key.public_bytes(*_RAW), path)


def _sound(public_key: bytes, path: Path) -> bytes:
    """Refuse bytes for which anybody could write a signature."""
    if not is_sound_point(public_key):
        raise UnreadableError(f"{path} holds no key: its bytes are no point of Ed25519, or one of small order")
    return public_key


def _private_bytes(path: Path) -> bytes:
    """Read a key file, refusing one that others than its owner may open."""
    return private_bytes(path, "key file", KEY_FILE_BYTES)


def _bytes_of(path: Path) -> bytes:
    with open_regular(path) as stream:
        return stream.read(KEY_FILE_BYTES)
