"""One step of a re-baseline after another: none skipped, each recorded before the files of the folder follow.

What belongs here: whether a step may be taken now, and recording it. What does not: what a step has to do. A process
that dies between a step and its files leaves nothing undecided: the next command brings the files in step
(`files.keep_in_step`), because all of them follow from the ledger.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.framework.rebaseline.files import is_of, keep_in_step
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.ledger.event import NewEvent
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.ledger.rebaselines import EVENT_OF, Progress, Step, open_rebaseline, read_rebaselines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.root import TrustRoot

TRIES: Final = 100
"""How often a step is prepared anew because something else was appended meanwhile."""
_BEFORE: Final = {later: earlier for earlier, later in pairwise(Step)}
_ONCE: Final = frozenset({Step.FREEZE})


class RebaselineCode(StrEnum):
    """Why a step is refused; the codes never change their meaning."""

    NOT_DECLARED = "REBASELINE_NOT_DECLARED"
    OPEN = "REBASELINE_OPEN"
    STEP_SKIPPED = "REBASELINE_STEP_SKIPPED"
    STEP_TAKEN = "REBASELINE_STEP_TAKEN"
    OTHER_PROJECT = "REBASELINE_OTHER_PROJECT"
    NO_SAMPLE = "REBASELINE_NO_SAMPLE"
    OLD_SAMPLE = "REBASELINE_OLD_SAMPLE"
    SAMPLE_CHANGED = "REBASELINE_SAMPLE_CHANGED"
    ENTRY_AMBIGUOUS = "REBASELINE_ENTRY_AMBIGUOUS"
    ENTRY_CHANGED = "REBASELINE_ENTRY_CHANGED"
    NO_CHANGELOG = "REBASELINE_NO_CHANGELOG"
    DOCUMENT_CHANGED = "REBASELINE_DOCUMENT_CHANGED"
    NOT_RECORDED = "REBASELINE_NOT_RECORDED"
    VERSION_NOT_NEW = "REBASELINE_VERSION_NOT_NEW"


class Project(NamedTuple):
    """A governed folder, the ledger it records in, and who may sign; `clock` gives the time."""

    folder: GovernedFolder
    ledger: Ledger
    root: TrustRoot
    clock: Callable[[], datetime]


def progress_now(project: Project) -> Progress | None:
    """Give the re-baseline that is open; None when none is."""
    return open_rebaseline(read_rebaselines(project.ledger), project.root, project.clock())


def require_step(project: Project, step: Step) -> Progress:
    """Give the open re-baseline when a step may be taken now; its files are brought in step first.

    Raises:
        FrameworkRefused: none is declared, a step before it is missing, or it was taken once for all.
    """
    keep_in_step(project.folder, project.ledger, project.root, project.clock())
    return _allowed(project, progress_now(project), step)


def take(project: Project, step: Step, make: Callable[[Progress], Sequence[NewEvent]]) -> Progress:
    """Record a step and whatever belongs to it in one append, then bring the files of the folder in step.

    Args:
        project: where.
        step: any but the declaration.
        make: gives the events from the re-baseline as it is; asked again when the ledger moved.

    Raises:
        FrameworkRefused: the step may not be taken now, or `make` refuses.
        StorageError: ledger or folder could not be written; what was recorded stands, and the next command goes on.
    """
    for _ in range(TRIES):
        history = read_rebaselines(project.ledger)
        progress = _allowed(project, open_rebaseline(history, project.root, project.clock()), step)
        try:
            project.ledger.append_all(make(progress), after=history.size)
        except LedgerMoved:
            continue
        keep_in_step(project.folder, project.ledger, project.root, project.clock())
        return progress
    raise StorageError(f"ledger {project.ledger.path} is too busy: {TRIES} tries found it changed; try again")


def step_event(
    progress: Progress, step: Step, body: Mapping[str, Any], actor: str, now: datetime, unique: str | None = None
) -> NewEvent:
    """Give the event of a step of a re-baseline."""
    return NewEvent(EVENT_OF[step], actor, {"rebaseline_id": progress.rebaseline_id, **body}, now, unique)


def _allowed(project: Project, progress: Progress | None, step: Step) -> Progress:
    if progress is None:
        message = f"{step} is a step of a re-baseline, and none is open; `govern rebaseline declare` comes first"
        raise FrameworkRefused(RebaselineCode.NOT_DECLARED, message)
    if not is_of(project.folder, progress):
        where = progress.declared.document.get("project")
        message = f"{progress.rebaseline_id} was declared for {where}; take its steps there"
        raise FrameworkRefused(RebaselineCode.OTHER_PROJECT, message)
    if step in _ONCE and step in progress.taken:
        message = f"{step} was taken with event {progress.taken[step].seq} and stands until the re-baseline ends"
        raise FrameworkRefused(RebaselineCode.STEP_TAKEN, message)
    if _BEFORE[step] not in progress.taken:
        message = f"no step is skipped: next in {progress.rebaseline_id} is {progress.missing[0]}, then {step}"
        raise FrameworkRefused(RebaselineCode.STEP_SKIPPED, message)
    return progress
