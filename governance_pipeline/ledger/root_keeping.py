"""Making a trust root with its ledger and configuration, and making its next version.

What belongs here: the order in which files and events are written, so that a crash in between leaves something that
can be used or begun again. What does not: prompts and printing (cli).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.log_principal import LOG_KEY_FILE, log_principal
from governance_pipeline.ledger.trusted_root import remember_root, trusted_root
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.storage.lock import exclusive
from governance_pipeline.trust import dsse
from governance_pipeline.trust.config import GateConfig, replace_config, write_config
from governance_pipeline.trust.keys import fingerprint, new_key, signer_of
from governance_pipeline.trust.new_files import taken_back_on_failure, write_new
from governance_pipeline.trust.owned_files import folder_fault
from governance_pipeline.trust.possession import check_possession
from governance_pipeline.trust.principals import Key
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.root import Revocation, TrustRoot, first_root
from governance_pipeline.trust.root_document import read_root, sign_root

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.principals import Principal

ROOT_FILE: Final = "trust-root.json"
KEY_FILE: Final = "root-key.pem"
LEDGER_FILE: Final = "ledger.sqlite"
KEY_PROVEN: Final = "KEY_PROVEN"
"""Type of the event that keeps what the owner of an added key signed with it."""

_PRIVATE_FOLDER: Final = 0o700


class Kept(NamedTuple):
    """A trust root in force and the configuration that names it."""

    config: GateConfig
    root: TrustRoot


class NewRootKey(NamedTuple):
    """A root key to be: its signer, and place and content of its file (None for one OpenSSH holds)."""

    signer: Signer
    file: tuple[Path, bytes] | None


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
    log_file = folder / LOG_KEY_FILE
    config = GateConfig(folder / ROOT_FILE, "0" * 64, folder / LEDGER_FILE, None, config_path, log_file)
    for path in (config_path, folder / KEY_FILE, log_file, config.root, config.ledger):
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path} exists and is never overwritten; name another place or move it away")
    key = new_key(passphrase)
    pinned = config._replace(root_fingerprint=fingerprint(key.public_key))
    log_key = new_key(None)
    first = first_root(owner, key.public_key, now + timedelta(days=days), is_throwaway=passphrase is None)
    root = replace(first, principals=(*first.principals, log_principal(log_key.public_key, now)))
    data = _readable(root, signer_of(key, passphrase), pinned, now)
    _make_folders(folder, config_path.parent)
    with taken_back_on_failure() as made:
        for path, content in (
            (folder / KEY_FILE, key.file_bytes), (log_file, log_key.file_bytes), (config.root, data)
        ):  # fmt: skip
            write_new(path, content)
            made.append(path)
        ledger = Ledger.create(config.ledger)
        made += [config.ledger.with_name(config.ledger.name + end) for end in ("", "-wal", "-shm")]
        remember_root(ledger, root, actor=owner, ts=now, data=data, pinned=pinned.root_fingerprint)
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
    signer: Signer,
    now: datetime,
    *,
    key_file: tuple[Path, bytes] | None = None,
    proof: bytes | None = None,
) -> Kept:
    """Make the next version of the trust root with a principal, or with what is new about one; see `change_root`.

    Args:
        config: where the root is, and its pinned key.
        added: the principal.
        signer: the root key.
        now: the time.
        key_file: place and content of a key made for it here.
        proof: what the owner of a key that was brought along signed with it; kept in the ledger.

    Raises:
        Refusal: the proof is none of this key, for this principal and this root.
    """
    if proof is not None:
        check_possession(proof, added.id, config.root_fingerprint, added.keys)
    kept = change_root(config, lambda root: root.with_principal(added), signer, now, key_file=key_file)
    if proof is not None:
        body = {"principal": added.id, "key_fingerprint": added.keys[0].fingerprint, "envelope": proof.decode()}
        Ledger(config.ledger).append(KEY_PROVEN, _owner(kept.root, config), body, ts=now)
    return kept


def revoke_key(
    config: GateConfig, revocation: Revocation, signer: Signer, now: datetime, *, is_record_forged: bool = False
) -> Kept:
    """Make the next version of the trust root with one more revoked key; see `change_root`.

    Raises:
        UsageError: it is the pinned root key, which `rotate_root_key` replaces, or no key of the root.
    """
    if revocation.key_fingerprint == config.root_fingerprint:
        raise UsageError("this is the pinned root key; `govern trust rotate` replaces it and revokes it after that")
    return change_root(
        config, lambda root: root.with_revocation(revocation), signer, now, is_record_forged=is_record_forged
    )


def renew_root(config: GateConfig, signer: Signer, now: datetime, *, days: int) -> Kept:
    """Make the next version of the trust root with another end; see `change_root`."""
    until = now + timedelta(days=days)
    return change_root(config, lambda root: replace(root, version=root.version + 1, expires=until), signer, now)


def change_root(
    config: GateConfig,
    change: Callable[[TrustRoot], TrustRoot],
    signer: Signer,
    now: datetime,
    *,
    key_file: tuple[Path, bytes] | None = None,
    is_record_forged: bool = False,
) -> Kept:
    """Make the next version of the trust root, signed by the pinned root key.

    The file is replaced before the version is recorded: a crash in between leaves the new root, which the next change
    records. Nothing is written before a reader took it.

    Args:
        config: where the root is, and its pinned key.
        change: gives the next version from the one in force.
        signer: the root key.
        now: the time.
        key_file: place and content of a principal's new key, written just before the root that names it.
        is_record_forged: as `trusted_root`.

    Raises:
        UsageError: another key, the file of the new key exists, or no reader would take the new version.
        Refusal: the root in force cannot be used.
        StorageError: something could not be written, or another change is being made.
    """
    _refuse_other_key(config, signer)
    ledger = Ledger(config.ledger)
    with exclusive(config.root.with_name(f"{config.root.name}.lock")):
        current = trusted_root(config, ledger, now, is_record_forged=is_record_forged)
        data = _readable(grown := change(current), signer, config, now)
        with taken_back_on_failure() as made:
            if key_file is not None:
                write_new(*key_file)
                made.append(key_file[0])
            _remember(ledger, current, config.root.read_bytes(), config, now)
            AtomicWriter(config.root.parent).write(config.root, data)
        _remember(ledger, grown, data, config, now)
    return Kept(config, grown)


def _refuse_other_key(config: GateConfig, signer: Signer) -> None:
    if fingerprint(signer.public_key) != config.root_fingerprint:
        raise UsageError(f"this is not the root key that is pinned in {config.source}; give its file with --root-key")


def rotate_root_key(config: GateConfig, old: Signer, new: NewRootKey, now: datetime) -> Kept:
    """Replace the root key: a version both keys sign, then the pin, then a version that revokes the old key.

    A reader that still pins the old key takes the first version and refuses the second, naming the revoked key. A crash
    leaves one of these states, each of which can be read; running it again from there is refused with what is missing.

    Args:
        config: where the root is, and the pinned old key.
        old: the old root key.
        new: the new one, with place and content of its file.
        now: the time.

    Raises:
        As `change_root`; UsageError also when the configuration changed meanwhile.
    """
    pinned = config._replace(root_fingerprint=fingerprint(new.signer.public_key))
    ledger = Ledger(config.ledger)
    with exclusive(config.root.with_name(f"{config.root.name}.lock")):
        current = trusted_root(config, ledger, now)
        owner = _owner(current, config)
        grown = _with_key(current, owner, new.signer.public_key)
        data = _readable(grown, old, config, now, also=new.signer)
        _check_readable(data, pinned, now)
        with taken_back_on_failure() as made:
            if new.file is not None:
                write_new(*new.file)
                made.append(new.file[0])
            _remember(ledger, current, config.root.read_bytes(), config, now)
            AtomicWriter(config.root.parent).write(config.root, data)
        _remember(ledger, grown, data, config, now)
        replace_config(config, pinned)
    revoked = Revocation(config.root_fingerprint, now, "the root key was rotated")
    return change_root(pinned, lambda root: root.with_revocation(revoked), new.signer, now)


def _with_key(root: TrustRoot, owner: str, public_key: bytes) -> TrustRoot:
    principal = next(p for p in root.principals if p.id == owner)
    return root.with_principal(replace(principal, keys=(Key(public_key),)))


def _readable(
    root: TrustRoot, signer: Signer, config: GateConfig, now: datetime, *, also: Signer | None = None
) -> bytes:
    """Sign a root and read it back as every reader will: a root that nobody can read would close every gate."""
    data = sign_root(root, signer)
    if also is not None:
        data = dsse.envelope_bytes(dsse.add_signature(dsse.parse_envelope(data), also))
    _check_readable(data, config, now)
    return data


def _check_readable(data: bytes, config: GateConfig, now: datetime) -> None:
    try:
        read_root(data, config.root_fingerprint, now)
    except Refusal as refusal:
        raise UsageError(f"no reader would take this trust root, nothing was changed: {refusal}") from None


def _remember(ledger: Ledger, root: TrustRoot, data: bytes, config: GateConfig, now: datetime) -> None:
    pinned = config.root_fingerprint
    remember_root(ledger, root, actor=_owner(root, config), ts=now, data=data, pinned=pinned)


def _owner(root: TrustRoot, config: GateConfig) -> str:
    owners = (p.id for p in root.principals for key in p.keys if key.fingerprint == config.root_fingerprint)
    return next(owners)
