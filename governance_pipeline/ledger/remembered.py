"""The head a verifier remembers: whatever ledger it reads next must begin with it.

What belongs here: one small file beside the verifier's own configuration, apart from the ledger, and proofs that the
log told two histories. What does not: refusing passage (gate). An older copy of the ledger put back is sound in itself;
only a head that was kept elsewhere shows it (research/security.md row 26). Each verifier keeps its own: that of another
account, host or CI is the outside one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError, UnreadableError
from governance_pipeline.ledger.checkpoint import (
    Checkpoint,
    checkpoint_text,
    log_origin,
    read_checkpoint,
    signed_checkpoint,
)
from governance_pipeline.ledger.note import NOTE_BYTES, parse_note
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.storage.lock import exclusive
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.trust.owned_files import owned_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.ledger.head import Head
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.keys import Signer

HEAD_ENDING: Final = ".ledger-head"
CONFLICT_ENDING: Final = ".ledger-conflict"
"""Endings of what lies beside a configuration, after its own name without ending."""


def head_path(config: GateConfig) -> Path:
    """Give the file that remembers the head, beside the configuration."""
    return config.source.with_name(config.source.stem + HEAD_ENDING)


def remembered_head(config: GateConfig) -> Head | None:
    """Give the head this verifier has seen last; None when it has seen none.

    Raises:
        StorageError: the file is there and cannot be used; who does not know what it remembers lets nothing pass.
        UsageError: others than its owner may write it or its folder.
    """
    path = head_path(config)
    if not path.is_symlink() and not path.exists():
        return None
    data = owned_bytes(path, "remembered head of the ledger", NOTE_BYTES)
    try:
        text = parse_note(data).text if b"\n\n" in data else data.decode("utf-8")
        return read_checkpoint(text).head
    except (UnreadableError, UnicodeDecodeError) as error:
        raise StorageError(f"{path} remembers no head ({error}); restore it, or have its owner look why") from None


def remember_head(config: GateConfig, ledger: Ledger, signer: Signer | None = None) -> Head:
    """Remember the head the ledger has now, if it begins as it did; never an older one.

    Args:
        config: where it is remembered.
        ledger: the ledger it names.
        signer: key of the log; without one the checkpoint stays unsigned, which is for its own verifier only.

    Raises:
        StorageError: the ledger is not the one that was remembered, or something cannot be read or written.
    """
    path = head_path(config)
    with exclusive(path.with_name(path.name + ".lock")):
        old = remembered_head(config) or ledger.head(0)
        now = ledger.grown_from(old)
        if now is None:
            raise StorageError(cut_off_words(old))
        if now != old or not path.exists():
            unsigned = checkpoint_text(Checkpoint(log_origin(config.root_fingerprint), now))
            text = unsigned if signer is None else signed_checkpoint(now, config, signer)
            AtomicWriter(path.parent).write(path, text.encode())
    return now


def cut_off_words(old: Head) -> str:
    """Say that a ledger does not begin with the events it had, and what to do."""
    return (
        f"the ledger does not begin with the {old.size} events that had root {old.root}: it was cut off, put back to "
        "an older copy or written anew; restore it"
    )


def keep_conflict(config: GateConfig, note: bytes) -> Path:
    """Keep a checkpoint the log signed and that is none of this ledger: the proof, which closes every gate.

    Raises:
        StorageError: it could not be written.
    """
    path = config.source.with_name(f"{config.source.stem}.{sha256_hex(note)[:16]}{CONFLICT_ENDING}")
    if not path.exists():
        AtomicWriter(path.parent).write(path, note)
    return path


def kept_conflicts(config: GateConfig) -> list[Path]:
    """Give the proofs that the log told two histories, by name."""
    return sorted(config.source.parent.glob(f"{config.source.stem}.*{CONFLICT_ENDING}"))
