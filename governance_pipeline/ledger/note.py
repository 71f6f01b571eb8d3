"""Signed notes (C2SP signed-note): a few lines of text and who signed them, in the form transparency logs use.

What belongs here: writing, reading and verifying a note with Ed25519 keys. What does not: what its text says
(`checkpoint`) and whose key it is (the trust root). Source: c2sp.org/signed-note, signature type 0x01.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import UnreadableError
from governance_pipeline.trust.keys import PUBLIC_KEY_BYTES, SIGNATURE_BYTES, is_signed_by

if TYPE_CHECKING:
    from governance_pipeline.trust.keys import Signer

NOTE_BYTES: Final = 16 * 1024
"""Largest note that is read; a checkpoint with one signature has some 300 bytes."""
MOST_SIGNATURES: Final = 16

_ED25519: Final = b"\x01"
_ID_BYTES: Final = 4
_DASH: Final = "\u2014 "


class NoteSignature(NamedTuple):
    """One signature line: name of the key, its id, and the signature; nothing of it is believed."""

    name: str
    key_id: bytes
    sig: bytes


class Note(NamedTuple):
    """A parsed note; `text` are the very characters that were signed, with their last line feed."""

    text: str
    signatures: tuple[NoteSignature, ...]


def key_id(name: str, public_key: bytes) -> bytes:
    """Give the id of a key under a name: the first four bytes of SHA-256 of name, line feed, type and key."""
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + public_key).digest()[:_ID_BYTES]


def verifier_key(name: str, public_key: bytes) -> str:
    """Write a public key as verifiers of notes take it: name, id and key, joined by plus signs."""
    encoded = base64.b64encode(_ED25519 + public_key).decode()
    return f"{name}+{key_id(name, public_key).hex()}+{encoded}"


def read_verifier_key(text: str) -> tuple[str, bytes]:
    """Read a verifier key: name and raw Ed25519 bytes.

    Raises:
        UnreadableError: it is none, or of another kind.
    """
    name, _, rest = text.partition("+")
    named, _, encoded = rest.partition("+")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    is_key = raw[:1] == _ED25519 and len(raw) == 1 + PUBLIC_KEY_BYTES
    if not is_name(name) or not is_key or key_id(name, raw[1:]).hex() != named:
        raise UnreadableError(f"{text[:80]!r} is no verifier key; `govern trust show` prints that of a log")
    return name, raw[1:]


def is_name(name: str) -> bool:
    """Tell whether a text can name a key: not empty, no space, no plus sign, nothing a screen hides."""
    return bool(name) and "+" not in name and name.isprintable() and not any(c.isspace() for c in name)


def sign_note(text: str, name: str, signer: Signer) -> str:
    """Sign a text that ends with a line feed; the whole note.

    Args:
        text: lines; no signature may follow from within it, so it holds no empty line.
        name: of the key.
        signer: an Ed25519 key that signs the bytes themselves (a key file).
    """
    sig = base64.b64encode(key_id(name, signer.public_key) + signer.sign(text.encode())).decode()
    return f"{text}\n{_DASH}{name} {sig}\n"


def parse_note(data: bytes) -> Note:
    """Read a note strictly.

    Raises:
        UnreadableError: too large, no UTF-8, no text, no signature, or a line that is none.
    """
    if len(data) > NOTE_BYTES:
        raise UnreadableError(f"a note has at most {NOTE_BYTES} bytes, this one {len(data)}")
    try:
        whole = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableError("this is no signed note: it is no UTF-8") from None
    at = whole.rfind("\n\n")
    lines = whole[at + 2 :].split("\n") if at >= 0 else []
    if any(ord(c) < ord(" ") and c != "\n" for c in whole) or len(lines) < 2 or lines[-1]:  # noqa: PLR2004 - one line and its end
        raise UnreadableError("this is no signed note: text, an empty line, and signatures that end with a line feed")
    if len(lines) - 1 > MOST_SIGNATURES:
        raise UnreadableError(f"the note carries more than {MOST_SIGNATURES} signatures")
    return Note(whole[: at + 1], tuple(_signature(line) for line in lines[:-1]))


def is_note_by(note: Note, name: str, public_key: bytes) -> bool:
    """Tell whether a key signed a note under a name; signatures of others are passed over. Never raises."""
    wanted = (name, key_id(name, public_key))
    return any(
        (s.name, s.key_id) == wanted and is_signed_by(public_key, note.text.encode(), s.sig) for s in note.signatures
    )


def _signature(line: str) -> NoteSignature:
    name, _, encoded = line.removeprefix(_DASH).rpartition(" ")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if not line.startswith(_DASH) or not is_name(name) or len(raw) <= _ID_BYTES:
        raise UnreadableError(f"this is no signed note: {line[:80]!r} is no signature")
    return NoteSignature(name, raw[:_ID_BYTES], raw[_ID_BYTES : _ID_BYTES + SIGNATURE_BYTES + 1])
