"""Making a trust root with its ledger and configuration, and making its next version.

What belongs here: the order in which files and events are written, so that a crash in between leaves something that
can be used or begun again. What does not: prompts and printing (cli).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.trusted_root import remember_root, trusted_root
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.storage.lock import exclusive
from governance_pipeline.trust.config import GateConfig, write_config
from governance_pipeline.trust.keys import fingerprint, new_key, signer_of
from governance_pipeline.trust.new_files import taken_back_on_failure, write_new
from governance_pipeline.trust.owned_files import folder_fault
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.root import TrustRoot, first_root
from governance_pipeline.trust.root_document import read_root, sign_root

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.trust.keys import KeyFileSigner
    from governance_pipeline.trust.principals import Principal

ROOT_FILE: Final = "trust-root.json"
KEY_FILE: Final = "root-key.pem"
LEDGER_FILE: Final = "ledger.sqlite"

_PRIVATE_FOLDER: Final = 0o700


class Kept(NamedTuple):
    """A trust root in force and the configuration that names it."""

    config: GateConfig
    root: TrustRoot


def make_root(
    folder: Path, config_path: Path, owner: str, now: datetime, *, days: int, passphrase: bytes | None
) -> Kept:
    """Make a root key, version 1 of the trust root, an empty ledger that records it, and the configuration, last.

    Args:
        folder: receives key, root and ledger; made when missing.
        config_path: file that pins them; must not exist.
        owner: id of the human who owns the root key.
        now: instant of all of it.
        days: until the root expires.
        passphrase: protects the key file; None makes a throw-away root, which every decision made with it will say.

    Raises:
        UsageError: one of the files exists (nothing is written then), or the owner's name cannot be one.
        StorageError: something could not be written; the configuration is then not there.
    """
    config = GateConfig(folder / ROOT_FILE, "0" * 64, folder / LEDGER_FILE, None, config_path)
    for path in (config_path, folder / KEY_FILE, config.root, config.ledger):
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path} exists and is never overwritten; name another place or move it away")
    key = new_key(passphrase)
    pinned = config._replace(root_fingerprint=fingerprint(key.public_key))
    root = first_root(owner, key.public_key, now + timedelta(days=days), is_throwaway=passphrase is None)
    data = _readable(root, signer_of(key, passphrase), pinned, now)
    _make_folders(folder, config_path.parent)
    with taken_back_on_failure() as made:
        write_new(folder / KEY_FILE, key.file_bytes)
        made.append(folder / KEY_FILE)
        write_new(config.root, data)
        made.append(config.root)
        ledger = Ledger.create(config.ledger)
        made += [config.ledger.with_name(config.ledger.name + end) for end in ("", "-wal", "-shm")]
        remember_root(ledger, root, actor=owner, ts=now)
        write_config(pinned)
    return Kept(pinned, root)


def _make_folders(folder: Path, *others: Path) -> None:
    """Make the folder of a trust root, and refuse it or another one that somebody else can write."""
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"folder {folder} cannot be made: {error.strerror}") from error
    for place in (folder, *others):
        if (fault := folder_fault(place)) is not None:
            raise UsageError(f"nothing a verifier trusts is kept there: {fault}")


def add_principal(
    config: GateConfig,
    added: Principal,
    signer: KeyFileSigner,
    now: datetime,
    *,
    key_file: tuple[Path, bytes] | None = None,
) -> Kept:
    """Make the next version of the trust root with a principal, signed by the pinned root key.

    The file is replaced before the version is recorded: a crash in between leaves the new root, which readers accept
    and the next change records. Nothing is written or recorded before a reader was seen to take the new bytes.

    Args:
        config: where the root is, and its pinned key.
        added: the principal, or what is new about it.
        signer: the root key.
        now: the time.
        key_file: place and content of a new key of the principal, written just before the root that names it.

    Raises:
        UsageError: another key, the file of the new key exists, or no reader would take the new version.
        Refusal: the root in force cannot be used.
        StorageError: something could not be written, or another change is being made.
    """
    if fingerprint(signer.public_key) != config.root_fingerprint:
        raise UsageError(f"this is not the root key that is pinned in {config.source}; give its file with --root-key")
    ledger = Ledger(config.ledger)
    with exclusive(config.root.with_name(f"{config.root.name}.lock")):
        current = trusted_root(config, ledger, now)
        grown = current.with_principal(added)
        data = _readable(grown, signer, config, now)
        with taken_back_on_failure() as made:
            if key_file is not None:
                write_new(*key_file)
                made.append(key_file[0])
            remember_root(ledger, current, actor=_owner(current, config), ts=now)
            AtomicWriter(config.root.parent).write(config.root, data)
        remember_root(ledger, grown, actor=_owner(current, config), ts=now)
    return Kept(config, grown)


def _readable(root: TrustRoot, signer: KeyFileSigner, config: GateConfig, now: datetime) -> bytes:
    """Sign a root and read it back as every reader will: a root that nobody can read would close every gate."""
    data = sign_root(root, signer)
    try:
        read_root(data, config.root_fingerprint, now)
    except Refusal as refusal:
        raise UsageError(f"no reader would take this trust root, nothing was changed: {refusal}") from None
    return data


def _owner(root: TrustRoot, config: GateConfig) -> str:
    owners = (p.id for p in root.principals for key in p.keys if key.fingerprint == config.root_fingerprint)
    return next(owners)
