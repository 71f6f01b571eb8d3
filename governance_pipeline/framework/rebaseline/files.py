"""The files of a folder that follow from the steps of its re-baselines: envelopes, marks, incident rows, the version.

What belongs here: bringing each of them in step with the ledger, as often as anybody asks. What does not: taking a step
(`protocol`). The ledger decides: an envelope in `03_state/checkpoints/` that is not in the ledger grants nothing, and
one that was edited is named and left as it is, because it is evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.framework import folder as places
from governance_pipeline.framework.incidents import SERVICE, keep_log_in_step
from governance_pipeline.framework.locks import Locks
from governance_pipeline.framework.registry import load_registry, registry_text
from governance_pipeline.framework.registry_history import project_id, read_registry_history
from governance_pipeline.framework.state import StateKeeper
from governance_pipeline.ledger.rebaselines import Step, baseline_in_force, every_progress, read_rebaselines
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.strict.files import FileRefused, open_regular
from governance_pipeline.trust.dsse import ENVELOPE_BYTES
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.rebaselines import Progress, RebaselineHistory
    from governance_pipeline.trust.root import TrustRoot

WAIT_S: Final = 30.0
REGISTRY_LOCK: Final = "registry"
"""The lock under which every writer of the registry works (`registry_changes`)."""
_MODE: Final = 0o644


class Checkpoint(NamedTuple):
    """A signed envelope that must lie in the folder: its path below it, and its bytes as the ledger has them."""

    path: str
    envelope: bytes


def keep_in_step(folder: GovernedFolder, ledger: Ledger, root: TrustRoot, now: datetime) -> None:
    """Write whatever of the folder lags behind the ledger. Doing it again changes nothing.

    Raises:
        StorageError: ledger or folder cannot be read or written.
        FaultyFileError: registry, state or incident log is broken; names the place.
    """
    history = read_rebaselines(ledger)
    writer = AtomicWriter(folder.root)
    for checkpoint in checkpoints(folder, history, root, now):
        if _bytes_of(folder, checkpoint) is None:
            writer.write(folder.path(checkpoint.path), checkpoint.envelope, mode=_MODE)
    _mark_registry(folder, ledger, now)
    keep_log_in_step(folder, ledger)
    baseline = baseline_in_force(history, root, now)
    if baseline is not None:
        changes = {"baseline_version": baseline.version, "last_re_baseline_at": instant_text(baseline.at)}
        keeper = StateKeeper(folder, ledger=ledger, clock=lambda: now)
        keeper.change(changes, by=SERVICE, reason=f"ended {baseline.rebaseline_id}")


def checkpoints(
    folder: GovernedFolder, history: RebaselineHistory, root: TrustRoot, now: datetime
) -> Iterator[Checkpoint]:
    """Give the signed declarations and resumptions of a folder that count."""
    for progress in every_progress(history, root, now):
        if is_of(folder, progress):
            for step in (Step.DECLARE, Step.RESUME):
                if step in progress.taken:
                    path = f"{places.CHECKPOINTS}/{progress.rebaseline_id}-{step}.json"
                    yield Checkpoint(path, progress.taken[step].envelope)


def is_of(folder: GovernedFolder, progress: Progress) -> bool:
    """Tell whether a re-baseline was declared for a folder."""
    return progress.declared.document.get("project") == project_id(folder)


def edited_checkpoints(folder: GovernedFolder, history: RebaselineHistory, root: TrustRoot, now: datetime) -> list[str]:
    """Give the envelopes whose file does not hold the bytes the ledger has; each is to be looked at, none counts."""
    found = checkpoints(folder, history, root, now)
    return [c.path for c in found if _bytes_of(folder, c) not in (None, c.envelope)]


def _bytes_of(folder: GovernedFolder, checkpoint: Checkpoint) -> bytes | None:
    """Read the file of an envelope; None when nothing is there."""
    try:
        with open_regular(folder.path(checkpoint.path)) as stream:
            return stream.read(ENVELOPE_BYTES + 1)
    except FileRefused as refused:
        if refused.code == "not_found":
            return None
        return b""


def _mark_registry(folder: GovernedFolder, ledger: Ledger, now: datetime) -> None:
    """Write what re-baselines made of registered assets; an entry that lags behind in anything else is left alone."""
    recorded = read_registry_history(ledger, folder).assets
    if not any(asset.baseline_version is not None or asset.status != "canonical" for asset in recorded.values()):
        return
    locks = Locks(folder, ledger=ledger, clock=lambda: now)
    with locks.held(REGISTRY_LOCK, "govern rebaseline", wait_s=WAIT_S):
        registry = changed = load_registry(folder.path(places.REGISTRY))
        for asset in registry.assets:
            known = recorded.get(asset.name)
            if known is not None:
                marked = asset._replace(status=known.status, baseline_version=known.baseline_version)
                changed = changed.with_asset(marked)
        if changed != registry:
            AtomicWriter(folder.root).write(folder.path(places.REGISTRY), registry_text(changed), mode=_MODE)
