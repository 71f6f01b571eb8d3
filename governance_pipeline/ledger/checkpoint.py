"""Checkpoints of a ledger (C2SP tlog-checkpoint): origin, size and root, signed by the key of the log.

What belongs here: the text of a checkpoint, signing one, and reading one back. What does not: the note around it
(`note`), and which head a verifier remembers (`remembered`). A log that signs two checkpoints of which neither is the
beginning of the other has shown by its own signature that it tells two histories.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.ledger.head import Head
from governance_pipeline.ledger.merkle import HASH_BYTES
from governance_pipeline.ledger.note import is_note_by, parse_note, sign_note
from governance_pipeline.trust.keys import fingerprint, load_signer
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.principals import Key
    from governance_pipeline.trust.root import TrustRoot

CHECKPOINT: Final = "CHECKPOINT"
"""Type of the event that holds a checkpoint of everything before it."""

_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,14}", re.ASCII)
_LINES: Final = 3


class Checkpoint(NamedTuple):
    """What a checkpoint says: of which log, and its head."""

    origin: str
    head: Head


def log_origin(root_fingerprint: str) -> str:
    """Name a ledger: by the root key that is pinned with it. It is also the name of the log's key in a note."""
    return f"govern-ledger:{root_fingerprint}"


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """Write a checkpoint: three lines, the root in Base64."""
    root = base64.b64encode(bytes.fromhex(checkpoint.head.root)).decode()
    return f"{checkpoint.origin}\n{checkpoint.head.size}\n{root}\n"


def read_checkpoint(text: str) -> Checkpoint:
    """Read the text of a checkpoint; lines after the third are extensions and are not read.

    Raises:
        UnreadableError: it is none.
    """
    lines = text.split("\n")
    if len(lines) <= _LINES or lines[-1] or not all(lines[:-1]) or not _SIZE.fullmatch(lines[1]):
        raise UnreadableError("this is no checkpoint: origin, size and root, one line each")
    try:
        root = base64.b64decode(lines[2], validate=True)
    except (binascii.Error, ValueError):
        root = b""
    if len(root) != HASH_BYTES:
        raise UnreadableError("this is no checkpoint: its root is no Base64 of 32 bytes")
    return Checkpoint(lines[0], Head(int(lines[1]), root.hex()))


def log_keys(root: TrustRoot) -> Iterator[Key]:
    """Give the keys that may sign checkpoints: those of principals with the role log."""
    return (key for principal in root.principals if Role.LOG in principal.roles for key in principal.keys)


def has_log_key(root: TrustRoot, at: datetime) -> bool:
    """Tell whether there was a key of the log at an instant, so that what was decided then has its checkpoint."""
    return any(not key.validity.is_before(at) for key in log_keys(root))


def log_signer(config: GateConfig, root: TrustRoot, now: datetime) -> Signer | None:
    """Open the key of the log; None where the trust root has none.

    Raises:
        UsageError: the root has one, and this configuration names no file of it, or of another key, or one that does
            not count now.
    """
    if not has_log_key(root, now):
        return None
    if config.log_key is None:
        raise UsageError(f'the trust root has a log key, {config.source} names none; add log_key = "its file"')
    signer = load_signer(config.log_key, None)
    key = next((key for key in log_keys(root) if key.public_key == signer.public_key), None)
    if key is None:
        raise UsageError(f"{config.log_key} holds no log key of the trust root; `govern trust show` lists them")
    if not _counts(key, root, now):
        raise UsageError(f"log key {fingerprint(key.public_key)} does not count now; `govern trust log-key` makes one")
    return signer


def signed_checkpoint(head: Head, config: GateConfig, signer: Signer) -> str:
    """Sign a head of the ledger a configuration names; the whole note."""
    origin = log_origin(config.root_fingerprint)
    return sign_note(checkpoint_text(Checkpoint(origin, head)), origin, signer)


def open_checkpoint(data: bytes, root: TrustRoot, *, at: datetime | None = None) -> Checkpoint:
    """Read a checkpoint that a log of this trust root signed, also under the name it had before a root key rotated.

    Args:
        data: the note.
        root: says which keys are of the log.
        at: instant at which the key must have counted; None holds the log to whatever it ever signed, also with a key
            that was revoked since.

    Raises:
        UnreadableError: it is no signed note of a checkpoint.
        Refusal: WRONG_CHECKPOINT for another log; BAD_SIGNATURE when no key of the log signed it.
    """
    note = parse_note(data)
    checkpoint = read_checkpoint(note.text)
    owners = (p for p in root.principals if Role.ROOT in p.roles)
    if checkpoint.origin not in {log_origin(key.fingerprint) for owner in owners for key in owner.keys}:
        raise Refusal(ReasonCode.WRONG_CHECKPOINT, f"it is a checkpoint of {checkpoint.origin!r}, not of this ledger")
    keys = [key for key in log_keys(root) if at is None or _counts(key, root, at)]
    if not any(is_note_by(note, checkpoint.origin, key.public_key) for key in keys):
        raise Refusal(ReasonCode.BAD_SIGNATURE, "no log key of the trust root that counts signed this checkpoint")
    return checkpoint


def _counts(key: Key, root: TrustRoot, at: datetime) -> bool:
    is_in_time = not key.validity.is_before(at) and not key.validity.is_over(at)
    return is_in_time and not root.is_revoked(key.fingerprint, at)
