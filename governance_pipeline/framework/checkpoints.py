"""Batch checkpoints: how far a process that works in units has come, replaced in one step after every unit.

What belongs here: beginning, going on and finishing. What does not: signed approvals, which lie in the same folder
(`approval_files`), and marks between stages (`gate_markers`). Whoever writes one holds the lock of its process. A
process that was killed goes on after the last unit it recorded, on the same inputs or not at all.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import Fault, FaultyFileError, UsageError
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.json_file import file_text, read_json_file
from governance_pipeline.framework.lock_owner import checked_name
from governance_pipeline.framework.locks import utc_now
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.files import FileRefused, digest_file
from governance_pipeline.trust.instants import instant_of, instant_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.framework.folder import GovernedFolder

SCHEMA: Final = "govern/batch-checkpoint/v1"
INPUTS_CHANGED: Final = "INPUTS_CHANGED"
"""Code of the refusal to go on with a batch whose inputs are other ones now."""
CHECKPOINT_MOVED: Final = "CHECKPOINT_MOVED"
"""Code of the refusal to record a unit on a checkpoint somebody else has written since."""


class Progress(NamedTuple):
    """How far a process has come; `data` is its own, `sha256` the digest of the file it was read from."""

    process: str
    run_id: str
    inputs_sha256: str
    units_done: int
    last_unit: str | None
    data: Mapping[str, Any]
    started_at: datetime
    updated_at: datetime
    is_finished: bool
    sha256: str


class BatchCheckpoints:
    """The batch checkpoints of one folder; `clock` gives the time of a unit."""

    def __init__(self, folder: GovernedFolder, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._folder = folder.path(places.CHECKPOINTS)
        self._clock = clock
        self._writer = AtomicWriter(self._folder)

    def path(self, process: str) -> Path:
        """Give the file of a process.

        Raises:
            UsageError: it is no name.
        """
        return self._folder / f"batch-{checked_name(process)}.json"

    def read(self, process: str) -> Progress | None:
        """Give how far a process has come; None when it never began.

        Raises:
            FaultyFileError: the file is no checkpoint; names the place.
        """
        try:
            document, data = read_json_file(self.path(process), "batch-checkpoint-v1")
        except FileRefused as error:
            if error.code == "not_found":
                return None
            raise
        del document["schema"]
        try:
            times = {name: instant_of(document[name]) for name in ("started_at", "updated_at")}
        except ValueError as error:
            raise FaultyFileError(str(self.path(process)), [Fault("schema", None, str(error))]) from None
        return Progress(**{**document, **times}, sha256=sha256_hex(data))

    def begin(self, process: str, run_id: str, inputs_sha256: str) -> Progress:
        """Begin a batch, or go on with the one that was not finished.

        Raises:
            FrameworkRefused: INPUTS_CHANGED, the unfinished one works on other inputs.
            FaultyFileError, StorageError: the checkpoint cannot be read or written.
        """
        known = self.read(process)
        if known is None or known.is_finished:
            now = self._clock()
            return self._write(Progress(process, run_id, inputs_sha256, 0, None, {}, now, now, False, ""))
        if known.inputs_sha256 != inputs_sha256:
            said = (
                f"batch {process} stopped after {known.units_done} units of other inputs ({known.inputs_sha256}, now "
                f"{inputs_sha256}): bring them back, or finish or remove {self.path(process)} and begin anew"
            )
            raise FrameworkRefused(INPUTS_CHANGED, said)
        return self._write(known._replace(run_id=run_id, updated_at=self._clock()))

    def advance(self, progress: Progress, unit: str, data: Mapping[str, Any] | None = None) -> Progress:
        """Record that one more unit is done; raises CHECKPOINT_MOVED, and as `begin`."""
        self._refuse_moved(progress)
        done = progress._replace(units_done=progress.units_done + 1, last_unit=unit, updated_at=self._clock())
        return self._write(done if data is None else done._replace(data=dict(data)))

    def finish(self, progress: Progress) -> Progress:
        """Record that nothing is left to do; raises as `advance`."""
        self._refuse_moved(progress)
        return self._write(progress._replace(is_finished=True, updated_at=self._clock()))

    def is_overdue(self, process: str, threshold_s: float, now: datetime) -> bool:
        """Tell whether the unit at work takes longer than the limit; a batch nobody began, or that ended, has none."""
        progress = self.read(process)
        if progress is None or progress.is_finished:
            return False
        return now - progress.updated_at > timedelta(seconds=threshold_s)

    def _refuse_moved(self, progress: Progress) -> None:
        known = self.read(progress.process)
        if known is None or known.sha256 != progress.sha256:
            said = f"somebody else has written {self.path(progress.process)} since; hold the lock of the process"
            raise FrameworkRefused(CHECKPOINT_MOVED, said)

    def _write(self, progress: Progress) -> Progress:
        document = {"schema": SCHEMA, **progress._asdict()}
        del document["sha256"]
        document |= {name: instant_text(document[name]) for name in ("started_at", "updated_at")}
        data = file_text(document)
        self._writer.write(self.path(progress.process), data)
        return progress._replace(sha256=sha256_hex(data))


def inputs_digest(root: Path, paths: Iterable[Path]) -> str:
    """Give the digest of a set of inputs: of their paths below a folder and their bytes; their order is free.

    Raises:
        UsageError: none, or one that is not below the folder.
        FileRefused: one cannot be read.
    """
    listed = sorted((_below(root, path), digest_file(path).sha256) for path in paths)
    if not listed:
        raise UsageError("a batch without inputs has nothing to do; name its inputs")
    return sha256_hex(canonical_json([list(pair) for pair in listed]))


def _below(root: Path, path: Path) -> str:
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise UsageError(f"{path} is not below {root}; inputs of a batch are files of its project") from None
