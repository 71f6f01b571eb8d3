"""Signatures of OpenSSH (`ssh-keygen -Y sign`): reading one strictly, and who made it.

What belongs here: the armored form, the blob, and the check of the two kinds of key that count here: `ssh-ed25519`, and
`sk-ssh-ed25519@openssh.com`, whose private half is in a FIDO authenticator. What does not: whose key it is, and running
OpenSSH (`ssh_signer`).

`ssh-keygen -Y verify` does not look at the flags of an authenticator, so whether a person touched it (UP) and was
verified by it (UV) is read here (research/security.md b4). Formats: OpenSSH PROTOCOL.sshsig, PROTOCOL.u2f.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final, NamedTuple

from governance_pipeline.trust.keys import PUBLIC_KEY_BYTES, SIGNATURE_BYTES, is_signed_by

NAMESPACE: Final = "governance-pipeline"
"""What a signature must be made for; one made for git or for files is none here."""

ARMOR_BYTES: Final = 4096
"""Largest armored signature that is read; one of a FIDO key has some 500 bytes."""

USER_PRESENT: Final = 0x01
USER_VERIFIED: Final = 0x04
"""Flags of an authenticator: somebody touched it; it knew who (CTAP2, PROTOCOL.u2f)."""

PLAIN: Final = "ssh-ed25519"
AUTHENTICATOR: Final = "sk-ssh-ed25519@openssh.com"

_BEGIN: Final = b"-----BEGIN SSH SIGNATURE-----\n"
_END: Final = b"\n-----END SSH SIGNATURE-----"
_MAGIC: Final = b"SSHSIG"
_VERSION: Final = 1
_HASHES: Final = {"sha256": hashlib.sha256, "sha512": hashlib.sha512}
_COUNTER_BYTES: Final = 4


class SshSignature(NamedTuple):
    """One signature as OpenSSH wrote it; nothing in it is believed.

    Attributes:
        public_key: raw Ed25519 key it claims to be of.
        application: of an authenticator's key, what it is bound to (`ssh:…`); None: a key without one.
        namespace: what it was made for.
        hash_name: `sha256` or `sha512`, of the message.
        raw: the Ed25519 signature, 64 bytes.
        flags: of the authenticator; 0 without one.
        counter: of the authenticator, 4 bytes; empty without one.
    """

    public_key: bytes
    application: str | None
    namespace: str
    hash_name: str
    raw: bytes
    flags: int = 0
    counter: bytes = b""

    @property
    def is_present(self) -> bool:
        """True when the authenticator says that a person touched it and was verified."""
        return self.application is not None and self.flags & (USER_PRESENT | USER_VERIFIED) == (
            USER_PRESENT | USER_VERIFIED
        )


def is_armored(data: bytes) -> bool:
    """Tell whether bytes look like a signature of OpenSSH."""
    return data.startswith(_BEGIN)


def parse_sshsig(data: bytes) -> SshSignature | None:
    """Read an armored signature; None when it is none of a kind that counts here, or not written exactly.

    Never raises. Trailing line ends are allowed, as `ssh-keygen` writes one.
    """
    text = data.rstrip(b"\r\n")
    if len(data) > ARMOR_BYTES or not is_armored(data) or not text.endswith(_END):
        return None
    lines = text[len(_BEGIN) : -len(_END)].split(b"\n")
    try:
        return _blob(base64.b64decode(b"".join(line.removesuffix(b"\r") for line in lines), validate=True))
    except (binascii.Error, ValueError, LookupError):
        return None


def made_by(signature: SshSignature, message: bytes, public_key: bytes, application: str | None) -> bool:
    """Tell whether a key made a signature over a message, for this program; never raises.

    Args:
        signature: as read.
        message: what is signed.
        public_key: raw key of the trust root.
        application: what that key is bound to; None for a key outside of an authenticator. A key counts as the one
            kind only: what an authenticator signs has another form, and its key alone signs nothing.
    """
    if (signature.public_key, signature.application) != (public_key, application):
        return False
    if signature.namespace != NAMESPACE:
        return False
    signed = signed_data(signature, message)
    if application is not None:
        signed = _authenticator_data(signature, application, signed)
    return is_signed_by(public_key, signed, signature.raw)


def signed_data(signature: SshSignature, message: bytes) -> bytes:
    """Give the bytes OpenSSH signs for a message: never the message itself, and never those of a login."""
    digest = _HASHES[signature.hash_name](message).digest()
    parts = (signature.namespace.encode(), b"", signature.hash_name.encode(), digest)
    return _MAGIC + b"".join(map(_string, parts))


def _authenticator_data(signature: SshSignature, application: str, signed: bytes) -> bytes:
    return b"".join(
        (
            hashlib.sha256(application.encode()).digest(),
            bytes((signature.flags,)),
            signature.counter,
            hashlib.sha256(signed).digest(),
        )
    )


class _Reader:
    """Reads the fields of an SSH blob; raises ValueError when one is cut."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def take(self, size: int) -> bytes:
        """Take so many bytes."""
        if len(self._data) < size:
            raise ValueError("cut")
        taken, self._data = self._data[:size], self._data[size:]
        return taken

    def string(self) -> bytes:
        """Take a string after its length."""
        return self.take(int.from_bytes(self.take(4), "big"))

    def text(self) -> str:
        """Take a string of ASCII."""
        return self.string().decode("ascii")

    def end(self) -> None:
        """Refuse bytes that are left."""
        if self._data:
            raise ValueError("more than one value")


def _blob(data: bytes) -> SshSignature:
    reader = _Reader(data)
    if reader.take(len(_MAGIC)) != _MAGIC or int.from_bytes(reader.take(4), "big") != _VERSION:
        raise ValueError("another format")
    public_key, application = public_key_of(reader.string())
    namespace, reserved, hash_name = reader.text(), reader.string(), reader.text()
    raw, flags, counter = _signature(reader.string(), application)
    reader.end()
    if reserved or hash_name not in _HASHES:  # a reserved value is signed too, and nobody knows what it means
        raise ValueError("a value that is not known here")
    return SshSignature(public_key, application, namespace, hash_name, raw, flags, counter)


def public_key_of(blob: bytes) -> tuple[bytes, str | None]:
    """Read an SSH public key: its raw Ed25519 bytes, and what an authenticator bound it to (None: no authenticator).

    Raises:
        ValueError: another kind of key, or not written exactly.
    """
    reader = _Reader(blob)
    kind, raw = reader.text(), reader.string()
    if kind not in (PLAIN, AUTHENTICATOR) or len(raw) != PUBLIC_KEY_BYTES:
        raise ValueError("another kind of key")
    application = reader.string().decode("utf-8") if kind == AUTHENTICATOR else None
    reader.end()
    return raw, application


def _signature(blob: bytes, application: str | None) -> tuple[bytes, int, bytes]:
    reader = _Reader(blob)
    kind, raw = reader.text(), reader.string()
    if kind != (PLAIN if application is None else AUTHENTICATOR) or len(raw) != SIGNATURE_BYTES:
        raise ValueError("another kind of signature")
    flags, counter = 0, b""
    if application is not None:
        flags, counter = reader.take(1)[0], reader.take(_COUNTER_BYTES)
    reader.end()
    return raw, flags, counter


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data
