"""A command as a red process: under its lock, its checkpoint and its measured limit, and recorded as it ended.

What belongs here: running one. What does not: what it needs before it starts (`red_processes`). The command records its
units itself (`checkpoints`, or `govern red unit`); one that records none is taken for a single unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.framework.checkpoints import BatchCheckpoints
from governance_pipeline.framework.locked_run import Ended, run_under
from governance_pipeline.framework.red_processes import Interruption, RedPlan, red_process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.locks import Locks


class _CommandFailed(Exception):  # noqa: N818 - a signal from the block to `run_red`, seen only in the record
    """The command ended with a code that is not 0."""

    def __init__(self, ended: Ended) -> None:
        self.ended = ended
        super().__init__()

    def __repr__(self) -> str:
        said = "a unit of work took longer than the limit" if self.ended.is_overdue else f"exit code {self.ended.code}"
        return f"the command itself: {said}"


def run_red(
    folder: GovernedFolder,
    plan: RedPlan,
    locks: Locks,
    command: Sequence[str],
    *,
    may_start: Callable[[], object] | None = None,
    may_relaunch: Callable[[Interruption], object] | None = None,
) -> Ended:
    """Run a command as a red process; it is ended when a unit takes longer than the limit.

    Returns:
        How it ended; a code other than 0 is recorded as a failure, after which a relaunch needs an approval.

    Raises:
        As `red_processes.red_process`; UsageError: there is no such program. Nothing has run then.
    """
    batches, limit = BatchCheckpoints(folder, clock=locks.clock), plan.timeout.threshold_s or 0.0

    def is_overdue() -> bool:
        return batches.is_overdue(plan.process, limit, locks.clock())

    try:
        with red_process(folder, plan, locks, may_start=may_start, may_relaunch=may_relaunch) as running:
            ended = run_under(running.held, locks, command, is_overdue=is_overdue)
            _refuse_failed(ended)
    except _CommandFailed as failed:
        return failed.ended
    return ended


def _refuse_failed(ended: Ended) -> None:
    if ended.code:
        raise _CommandFailed(ended)
