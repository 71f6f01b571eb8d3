"""Long processes without supervision ("red"): what one needs before it starts, and what a relaunch needs.

What belongs here: starting one and recording how it ended. What does not: the lock (`locks`), the checkpoint
(`checkpoints`), the limit (`timeouts`), and who approves a relaunch; the caller asks that of the gate and passes the
question in. Source: policies rule 8; spec/framework.md §3 and §5.

A record says running as long as nobody has said how it ended. Whoever holds the lock and finds it so knows that the
process before was killed: an interruption nobody planned, after which a relaunch needs an approval.
"""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.checkpoints import BatchCheckpoints
from governance_pipeline.framework.json_file import file_text, read_json_file
from governance_pipeline.framework.lock_owner import checked_name
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.safety_checks import enforce
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import excerpt, is_said
from governance_pipeline.strict.files import FileRefused
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from governance_pipeline.framework.checkpoints import Progress
    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.locks import HeldLock, Locks
    from governance_pipeline.framework.timeouts import DerivedTimeout

SCHEMA: Final = "govern/red-process/v1"
_REASON_CHARACTERS: Final = 400


class RedCode(StrEnum):
    """Why a red process does not start; the codes never change their meaning."""

    RELAUNCH = "RELAUNCH_NEEDS_APPROVAL"


class RedState(StrEnum):
    """How a red process stands."""

    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


class RedPlan(NamedTuple):
    """What is to be started: name (of lock and checkpoint), run, agent, command, inputs, and the limit of a unit."""

    process: str
    run_id: str
    agent: str
    command: str
    inputs_sha256: str
    timeout: DerivedTimeout


class Interruption(NamedTuple):
    """How the process before ended without a plan: its record, and the digest of it, to which an approval is bound."""

    process: str
    run_id: str
    state: RedState
    reason: str | None
    started_at: str
    record_sha256: str


class RedProcess:
    """A red process that runs: it holds its lock, records its units, and ends in a way that is recorded."""

    def __init__(self, plan: RedPlan, held: HeldLock, batches: BatchCheckpoints, progress: Progress) -> None:
        self.plan = plan
        self.held = held
        self.progress = progress
        self.stopped: str | None = None
        self._batches = batches

    def unit_done(self, unit: str, data: Mapping[str, Any] | None = None) -> None:
        """Record that a unit is done, and give a sign of life."""
        self.progress = self._batches.advance(self.progress, unit, data)
        self.held.beat()

    def stop(self, reason: str) -> None:
        """Say that the process ends by plan before its work is done: going on later needs no approval.

        Raises:
            UsageError: no reason is given.
        """
        if not is_said(reason):
            raise UsageError("a planned stop needs a reason")
        self.stopped = reason


@contextmanager
def red_process(
    folder: GovernedFolder,
    plan: RedPlan,
    locks: Locks,
    *,
    may_start: Callable[[], object] | None = None,
    may_relaunch: Callable[[Interruption], object] | None = None,
    wait_s: float = 0.0,
) -> Iterator[RedProcess]:
    """Run a red process in the block: lock held, checkpoint written, limit derived, before anything starts.

    Args:
        folder: the governed folder.
        plan: what is started.
        locks: the locks of the folder; their clock gives the times.
        may_start: raises when nothing critical may run now, such as during a re-baseline.
        may_relaunch: raises when nobody approved a relaunch after this interruption; None: nobody did.
        wait_s: how long a live holder of the lock is waited for, in seconds.

    Raises:
        UsageError: no name, run or agent.
        FrameworkRefused: no sample is behind the limit, the lock is held, the inputs of an unfinished batch changed, or
            RELAUNCH_NEEDS_APPROVAL; and whatever `may_start` and `may_relaunch` raise. Nothing has started then.
        StorageError: a record could not be written.
    """
    _refuse_unready(plan)
    with locks.held(plan.process, plan.command, purpose=f"red process, run {plan.run_id}", wait_s=wait_s) as held:
        if may_start is not None:
            may_start()
        interruption = interruption_of(folder, plan.process)
        if interruption is not None:
            (may_relaunch or _nobody_approved)(interruption)
        batches = BatchCheckpoints(folder, clock=locks.clock)
        progress = batches.begin(plan.process, plan.run_id, plan.inputs_sha256)
        with _Records(folder, locks).running(plan) as ending:
            running = RedProcess(plan, held, batches, progress)
            yield running
            if running.stopped is None:
                batches.finish(batches.read(plan.process) or running.progress)
            ending.stopped = running.stopped


def _refuse_unready(plan: RedPlan) -> None:
    enforce(plan.timeout)
    if not is_said(plan.run_id) or not is_said(plan.agent):
        raise UsageError(f"red process {plan.process} needs a run and an agent")


def red_record(folder: GovernedFolder, process: str) -> tuple[dict[str, Any], str] | None:
    """Give the record of a red process and the digest of its bytes; None when it never ran.

    Raises:
        FaultyFileError: the record is none; names the place.
    """
    try:
        document, data = read_json_file(record_path(folder, process), "red-process-v1")
    except FileRefused as error:
        if error.code == "not_found":
            return None
        raise
    return document, sha256_hex(data)


def record_path(folder: GovernedFolder, process: str) -> Path:
    """Give the file of the record of a red process.

    Raises:
        UsageError: it is no name.
    """
    return folder.path(places.CHECKPOINTS) / f"red-{checked_name(process)}.json"


def interruption_of(folder: GovernedFolder, process: str) -> Interruption | None:
    """Give how the process ended that ran before, when nobody planned that; whoever asks holds its lock.

    A checkpoint that is not finished and has no record counts as one: removing the record wipes out nothing.
    """
    found = red_record(folder, process)
    if found is None:
        left = BatchCheckpoints(folder).read(process)
        if left is None or left.is_finished:
            return None
        started, said = instant_text(left.started_at), "a stop nobody recorded: its record is not there"
        return Interruption(process, left.run_id, RedState.FAILED, said, started, left.sha256)
    record, sha256 = found
    if record["state"] not in (RedState.RUNNING, RedState.FAILED):
        return None
    return Interruption(
        process, record["run_id"], RedState(record["state"]), record["reason"], record["started_at"], sha256
    )


class _Ending:
    """How a process ends that did not fail: `stopped` is the reason of a planned stop, None when its work is done."""

    stopped: str | None = None


class _Records:
    """The record of each red process of a folder."""

    def __init__(self, folder: GovernedFolder, locks: Locks) -> None:
        self._folder = folder
        self._clock = locks.clock
        self._writer = AtomicWriter(folder.path(places.CHECKPOINTS))

    @contextmanager
    def running(self, plan: RedPlan) -> Iterator[_Ending]:
        """Record that a process runs, and in the end how it ended; a killed one stays recorded as running."""
        started, ending = self._started(plan), _Ending()
        try:
            yield ending
        except BaseException as error:
            self._ended(started, RedState.FAILED, repr(error))
            raise
        is_planned = ending.stopped is not None
        self._ended(started, RedState.STOPPED if is_planned else RedState.FINISHED, ending.stopped)

    def _started(self, plan: RedPlan) -> dict[str, Any]:
        timeout = plan.timeout
        numbers = ("threshold_s", "percentile", "percentile_s", "safety_multiplier")
        document = {
            "schema": SCHEMA,
            "process": plan.process,
            "run_id": plan.run_id,
            "agent": plan.agent,
            "command": plan.command,
            "state": str(RedState.RUNNING),
            "inputs_sha256": plan.inputs_sha256,
            # As text: the shortest spelling that reads back as the same number.
            "timeout": {"n": timeout.n, **{name: repr(float(getattr(timeout, name))) for name in numbers}},
            "started_at": instant_text(self._clock()),
            "ended_at": None,
            "reason": None,
        }
        self._write(document)
        return document

    def _ended(self, started: Mapping[str, Any], state: RedState, reason: str | None) -> None:
        said = None if reason is None else excerpt(reason, _REASON_CHARACTERS)
        self._write({**started, "state": str(state), "ended_at": instant_text(self._clock()), "reason": said})

    def _write(self, document: Mapping[str, Any]) -> None:
        self._writer.write(record_path(self._folder, str(document["process"])), file_text(document))


def _nobody_approved(interruption: Interruption) -> None:
    raise FrameworkRefused(
        RedCode.RELAUNCH,
        f"red process {interruption.process} (run {interruption.run_id}) was {_ending(interruption)}: find out why, "
        f"then have its relaunch approved; the approval is bound to record {interruption.record_sha256}",
    )


def _ending(interruption: Interruption) -> str:
    if interruption.state is RedState.RUNNING:
        return f"killed after it started at {interruption.started_at}"
    return f"ended by {interruption.reason}"
