"""What a person is asked to approve before a registered asset changes: both digests, every byte that goes, and why.

What belongs here: making the proposal from the files as they are now. What does not: asking and using (`gate.acting`),
and the change itself (`registry_changes`). Bytes are copied into the content store of the lake and hashed there, so
that what is put in force later is what was hashed, and what is replaced can never be lost.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.framework.documents import CURRENT_STATE, read_document
from governance_pipeline.framework.folder import REGISTRY as REGISTRY_FILE
from governance_pipeline.framework.folder import STATE
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry import load_registry
from governance_pipeline.framework.registry_files import digest_in
from governance_pipeline.framework.registry_history import project_id
from governance_pipeline.gate.gates import REGISTRY
from governance_pipeline.gate.proposals import Proposal
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.strict.excerpt import is_said

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.registry import Asset
    from governance_pipeline.storage.lake import Lake


class RegistryCode(StrEnum):
    """Why a change of the registry is refused before the gate is asked; codes never change their meaning."""

    NOT_REGISTERED = "NOT_REGISTERED"
    ALREADY_REGISTERED = "ALREADY_REGISTERED"
    PATH_REGISTERED = "PATH_REGISTERED"
    STATE_MISMATCH = "STATE_MISMATCH"
    NOTHING_TO_CHANGE = "NOTHING_TO_CHANGE"
    CHANGED_OUTSIDE = "CHANGED_OUTSIDE"


class Kind(StrEnum):
    """What becomes of two divergent versions."""

    SUPERSEDE = "supersede"
    """The file that is given becomes canonical, what was canonical is archived."""
    ARCHIVE = "archive_divergent"
    """What is canonical stays, the file that is given is archived."""


class Wanted(NamedTuple):
    """A change somebody wants: the asset, the other file, which of the two stays, who wants it and why."""

    name: str
    file: Path
    agent: str
    reason: str
    kind: Kind = Kind.SUPERSEDE


def proposal_of(folder: GovernedFolder, lake: Lake, wanted: Wanted) -> Proposal:
    """Make the proposal of a change from the files as they are now, keeping their bytes.

    Raises:
        FrameworkRefused: no such asset, nothing would change, or the canonical file that is to stay is not the one that
            was verified last.
        UsageError: the agent or the reason is empty.
        StorageError, UnreadableError: a file cannot be read or kept.
    """
    if not is_said(wanted.agent) or not is_said(wanted.reason):
        raise UsageError("a change of the registry names an agent and a reason; neither may be empty")
    asset = load_registry(folder.path(REGISTRY_FILE)).asset(wanted.name)
    if asset is None:
        message = f"{wanted.name!r} is no asset of {REGISTRY_FILE}; `govern registry list` shows them"
        raise FrameworkRefused(RegistryCode.NOT_REGISTERED, message)
    store, live = ContentStore(lake.root), folder.path(asset.canonical_path)
    live_sha256 = None if digest_in(folder, asset.canonical_path) is None else store.keep(live).sha256
    kept = store.keep(wanted.file)
    is_archive = wanted.kind is Kind.ARCHIVE
    if is_archive:
        _refuse_unsound(asset, live, live_sha256, wanted.file)
    to_sha256 = asset.last_verified_hash if is_archive else kept.sha256
    replaced = [kept.sha256] if is_archive else _replaced(asset, live_sha256, to_sha256)
    if not replaced:
        message = f"{wanted.file} is what {asset.canonical_path} holds and the registry says; nothing would change"
        raise FrameworkRefused(RegistryCode.NOTHING_TO_CHANGE, message)
    action: dict[str, Any] = {
        "project": project_id(folder),
        "kind": str(wanted.kind),
        "canonical_path": asset.canonical_path,
        "from_sha256": asset.last_verified_hash,
        "to_sha256": to_sha256,
        "archive": [sha256 for sha256 in replaced if store.has(sha256)],
        "lost": [sha256 for sha256 in replaced if not store.has(sha256)],
        "source": str(wanted.file.resolve()),
        "source_sha256": kept.sha256,
        "source_bytes": kept.size,
        "reason": wanted.reason,
    }
    return Proposal(REGISTRY.name, wanted.name, (wanted.agent,), baseline_of(folder), action)


def baseline_of(folder: GovernedFolder) -> str:
    """Give the version of the baseline the folder works under, by its state file.

    Raises:
        FileRefused, FaultyFileError: the state file cannot be used.
    """
    return str(read_document(folder, STATE, CURRENT_STATE)["baseline_version"])


def _replaced(asset: Asset, live_sha256: str | None, to_sha256: str) -> list[str]:
    """Give the digests that are replaced: what was verified last, and what lies there if it is something else."""
    there = [asset.last_verified_hash, *([] if live_sha256 is None else [live_sha256])]
    return [sha256 for sha256 in dict.fromkeys(there) if sha256 != to_sha256]


def _refuse_unsound(asset: Asset, live: Path, live_sha256: str | None, file: Path) -> None:
    if live_sha256 != asset.last_verified_hash:
        found = "is not there" if live_sha256 is None else f"has digest {live_sha256}"
        raise FrameworkRefused(
            RegistryCode.CHANGED_OUTSIDE,
            f"{asset.canonical_path} {found}, verified was {asset.last_verified_hash}; supersede it first with the one "
            "that counts",
        )
    if file.resolve() == live.resolve():
        raise UsageError(f"{file} is the canonical file itself; name the other version")
