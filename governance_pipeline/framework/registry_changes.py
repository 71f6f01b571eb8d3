"""Changes of the canonical registry: registering an asset, and replacing one a person has approved the replacement of.

What belongs here: the order of a change and what refuses it. What does not: the question whether it was approved, which
the gate asks (`gate.acting`), and writing files (`registry_files`).

A change is: its decision is used (INTENT, CONSUMED), every replaced version is archived, the canonical file is
replaced, the ledger says so, the registry file is written from what the ledger then says, and the act is done. A
process killed anywhere leaves an act that was used and not done; whoever changes the registry next finishes it first,
from bytes that were kept before anybody was asked. Source: spec/framework.md §4.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.framework.folder import REGISTRY as REGISTRY_FILE
from governance_pipeline.framework.locks import Locks
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry import Asset, Registry, load_registry, path_below
from governance_pipeline.framework.registry_files import AssetFiles, archived_path, digest_of
from governance_pipeline.framework.registry_history import RegistryEvent, project_id, read_registry_history
from governance_pipeline.framework.registry_proposal import Kind, RegistryCode, Wanted, proposal_of
from governance_pipeline.gate.acting import Act, acts, finish_act, pass_act
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.freezes import frozen_words
from governance_pipeline.gate.gates import REGISTRY
from governance_pipeline.gate.parties import REQUESTER
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.strict.files import digest_file
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.gate.passage import Verifier

LOCK: Final = "registry"
WAIT_S: Final = 30.0
"""How long a change waits for another one of the same folder, in seconds: one takes as long as copying its file."""


class Done(NamedTuple):
    """A change that is in force: the asset as the registry has it now, where versions went, and who approved it."""

    asset: Asset
    archived: tuple[str, ...]
    approvers: tuple[str, ...]


def add(
    folder: GovernedFolder, verifier: Verifier, name: str, file: Path, *, agent: str, reason: str, now: datetime
) -> Asset:
    """Register a file as the canonical one of a new asset, with its digest; the file itself is not touched.

    Doing it again changes nothing. An entry somebody wrote into the file by hand, as it is, is recorded like a new one.

    Raises:
        FrameworkRefused: the name or the path is registered already, or the file on disk has another digest than the
            entry that is there.
        Refusal: FROZEN, a re-baseline is going on.
        UsageError: no file of the project.
        StorageError, UnreadableError: ledger or file cannot be read or written.
    """
    with held(folder, verifier, f"registry add {name}", now):
        refuse_frozen(verifier, now)
        finish_begun(folder, verifier, now)
        path = path_below(folder.root, file)
        sha256 = digest_file(folder.path(path)).sha256
        registry, history = load_registry(folder.path(REGISTRY_FILE)), read_registry_history(verifier.ledger, folder)
        known = history.assets.get(name)
        _refuse_taken(registry, known, Asset(name, path, sha256, instant_text(now)))
        if known is None:
            body = {"project": project_id(folder), "name": name, "canonical_path": path, "sha256": sha256,
                    "agent": agent, "reason": reason}  # fmt: skip
            with suppress(AlreadyRecorded):
                verifier.ledger.append(
                    RegistryEvent.ADDED, agent, body, ts=now, unique=f"registry-add:{project_id(folder)}:{name}"
                )
        return _written(folder, verifier, name)


def supersede(folder: GovernedFolder, verifier: Verifier, wanted: Wanted, *, now: datetime) -> Done:
    """Carry out an approved change of an asset, for exactly the bytes that are there now.

    Args:
        folder: the governed folder.
        verifier: what is trusted; its lake keeps the bytes and the manifests.
        wanted: the change.
        now: the time.

    Raises:
        Refusal: it was not approved for these bytes, with the reason code; nothing was changed.
        FrameworkRefused: no such asset, or the registry file is not what the ledger says.
        StorageError, UnreadableError: a file or the ledger cannot be read or written; a change that was begun is
            finished by the next one.
    """
    with held(folder, verifier, f"registry supersede {wanted.name}", now):
        for done in finish_begun(folder, verifier, now):
            if done.asset.name == wanted.name and done.asset.last_verified_hash == digest_of(wanted.file):
                return done
        require_recorded(folder, verifier)
        proposal = proposal_of(folder, verifier.lake, wanted)
        used = pass_act(proposal, verifier, f"registry-{proposal.sha256}", now)
        return _carried_out(folder, verifier, used, now)


def restore(folder: GovernedFolder, verifier: Verifier, now: datetime) -> Registry:
    """Write the registry file as the ledger says it should be; what was edited by hand is lost from the file alone.

    Raises:
        FrameworkRefused, StorageError: as `supersede`.
    """
    with held(folder, verifier, "registry verify --restore", now):
        finish_begun(folder, verifier, now)
        registry = Registry(tuple(read_registry_history(verifier.ledger, folder).assets.values()))
        _files(folder, verifier).write_registry(registry)
        return registry


def record_verified(folder: GovernedFolder, verifier: Verifier, names: Iterable[str], now: datetime) -> Registry:
    """Record of assets that were found verified that they were, in ledger and registry file.

    Raises:
        FrameworkRefused, StorageError: as `supersede`.
    """
    with held(folder, verifier, "registry verify --record", now):
        for name in names:
            asset = read_registry_history(verifier.ledger, folder).assets[name]
            body = {"project": project_id(folder), "name": name, "sha256": asset.last_verified_hash}
            verifier.ledger.append(RegistryEvent.VERIFIED, REQUESTER, body, ts=now)
            _written(folder, verifier, name)
        return load_registry(folder.path(REGISTRY_FILE))


def held(folder: GovernedFolder, verifier: Verifier, command: str, now: datetime) -> AbstractContextManager[object]:
    """Hold the lock of the registry of a folder; the ledger records whom it was taken from, if that one died."""
    locks = Locks(folder, ledger=verifier.ledger, clock=lambda: now)
    return locks.held(LOCK, f"govern {command}", wait_s=WAIT_S)


def finish_begun(folder: GovernedFolder, verifier: Verifier, now: datetime) -> list[Done]:
    """Finish the changes of this folder whose decision was used by a process that died; the caller holds the lock.

    They were verified when the decision was used, so neither the time nor a freeze since stops what is half done.
    """
    return [_carried_out(folder, verifier, used, now) for used in begun(folder, verifier)]


def begun(folder: GovernedFolder, verifier: Verifier) -> Iterator[list[Act]]:
    """Give the changes of this folder that were begun and are not done, each with all decisions used for it."""
    project, waiting = project_id(folder), dict[str, list[Act]]()
    for act in acts(REGISTRY, verifier):
        if not act.is_done and act.action.get("project") == project:
            waiting.setdefault(act.run_id, []).append(act)
    yield from waiting.values()


def refuse_frozen(verifier: Verifier, now: datetime) -> None:
    """FROZEN: no canonical write while a freeze covers everything."""
    frozen = read_history(verifier.ledger).freezes.covering(None, verifier.root, now)
    if frozen is not None:
        raise Refusal(ReasonCode.FROZEN, frozen_words(frozen))


def require_recorded(folder: GovernedFolder, verifier: Verifier) -> Registry:
    """Give the registry, which must be what the ledger says.

    Raises:
        FrameworkRefused: STATE_MISMATCH, it is not; names an asset.
    """
    registry = load_registry(folder.path(REGISTRY_FILE))
    of_ledger = read_registry_history(verifier.ledger, folder).assets
    for name in sorted({asset.name for asset in registry.assets} | of_ledger.keys()):
        if registry.asset(name) != of_ledger.get(name):
            raise FrameworkRefused(
                RegistryCode.STATE_MISMATCH,
                f"{REGISTRY_FILE} and the ledger do not say the same of {name!r}; `govern registry verify` shows both, "
                "`govern registry verify --restore` writes the file as the ledger has it",
            )
    return registry


def _carried_out(folder: GovernedFolder, verifier: Verifier, used: list[Act], now: datetime) -> Done:
    act, files = used[0], _files(folder, verifier)
    action, name = act.action, act.subject_id
    archived = []
    for sha256 in action["archive"]:
        path = archived_path(name, action["canonical_path"], sha256, act.used_at)
        files.archive(sha256, path)
        archived.append({"path": path, "sha256": sha256})
    files.put(action["to_sha256"], action["canonical_path"])
    if action["kind"] == Kind.ARCHIVE:
        files.remove_archived(Path(action["source"]), action["source_sha256"], archived[-1]["path"])
    body = {
        "project": action["project"], "name": name, "from_sha256": action["from_sha256"],
        "to_sha256": action["to_sha256"], "archived": archived, "lost": list(action["lost"]),
        "reason": action["reason"], "decision_id": act.decision_id, "subject_sha256": act.subject_sha256,
    }  # fmt: skip
    with suppress(AlreadyRecorded):
        unique = f"registry:{act.decision_id}:{act.subject_sha256}"
        verifier.ledger.append(RegistryEvent.SUPERSEDED, act.approvers[0], body, ts=now, unique=unique)
    asset = _written(folder, verifier, name)
    for one in used:
        finish_act(one, verifier, action["to_sha256"], now)
    return Done(asset, tuple(version["path"] for version in archived), act.approvers)


def _written(folder: GovernedFolder, verifier: Verifier, name: str) -> Asset:
    """Write the entry of an asset into the registry file as the ledger has it now; other entries stay as they are."""
    asset = read_registry_history(verifier.ledger, folder).assets[name]
    registry = load_registry(folder.path(REGISTRY_FILE))
    if registry.asset(name) != asset:
        _files(folder, verifier).write_registry(registry.with_asset(asset))
    return asset


def _files(folder: GovernedFolder, verifier: Verifier) -> AssetFiles:
    return AssetFiles(folder, ContentStore(verifier.lake.root))


def _refuse_taken(registry: Registry, known: Asset | None, wanted: Asset) -> None:
    there = registry.asset(wanted.name) or known
    same = ("canonical_path", "last_verified_hash")
    if there is not None and any(getattr(there, member) != getattr(wanted, member) for member in same):
        raise FrameworkRefused(
            RegistryCode.ALREADY_REGISTERED,
            f"{wanted.name!r} is registered as {there.canonical_path} with {there.last_verified_hash}; its bytes "
            "change with `govern registry supersede`, which needs an approval",
        )
    other = registry.of_path(wanted.canonical_path)
    if other is not None and other.name != wanted.name:
        raise FrameworkRefused(
            RegistryCode.PATH_REGISTERED, f"{wanted.canonical_path} is the canonical file of {other.name!r} already"
        )
