"""Ending a re-baseline: the last step, signed over every step before it.

What belongs here: asking once more whether each step still holds, the signature, and the new version. What does not:
what becomes stale by it, which follows from the event wherever old numbers are held (`ledger.rebaselines`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.framework.rebaseline.files import keep_in_step
from governance_pipeline.framework.rebaseline.protocol import TRIES, Project, RebaselineCode, require_step, step_event
from governance_pipeline.framework.rebaseline.recording import require_recorded
from governance_pipeline.framework.rebaseline.rederiving import require_repeated
from governance_pipeline.framework.rebaseline.reissuing import require_issued
from governance_pipeline.framework.rebaseline.revalidating import reconfirmed_events, require_unchanged
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.ledger.rebaselines import (
    Progress,
    Step,
    every_progress,
    open_rebaseline,
    progress_of,
    read_rebaselines,
)
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.rebaseline_statement import sign_resumption, stated_resumption

if TYPE_CHECKING:
    from collections.abc import Callable

    from governance_pipeline.ledger.event import NewEvent
    from governance_pipeline.trust.keys import Signer

_PART: Final = "(?:0|[1-9][0-9]{0,17})"  # no whole number that takes Python long to read
_VERSION: Final = re.compile(rf"{_PART}\.{_PART}\.{_PART}", re.ASCII)


class Version(NamedTuple):
    """A baseline version: `major.minor.patch`, ordered as numbers."""

    major: int
    minor: int
    patch: int


def version_of(text: str) -> Version:
    """Read a version.

    Raises:
        UsageError: another spelling.
    """
    if not _VERSION.fullmatch(text):
        raise UsageError(f"{text[:40]!r} is no baseline version; write it like 2.0.0")
    return Version(*map(int, text.split(".")))


def resume(
    project: Project,
    version: str,
    signer: Signer,
    *,
    chain_sha256: str | None = None,
    noted: Callable[[], list[NewEvent]] = list,
) -> Progress:
    """Sign that work may go on under a new baseline version, and record it.

    Args:
        project: where.
        version: later than every one before.
        signer: key of the person.
        chain_sha256: digest of the steps the person has looked at; None where the caller shows nothing.
        noted: what is recorded with it (`due.noted_events`): the assumptions of the new baseline.

    Raises:
        FrameworkRefused: a step is missing or does not hold any more, or the version is not new.
        Refusal: the signature would not count, or steps were added since the person looked.
        StorageError: ledger or folder could not be read or written.
    """
    _check_all(project, require_step(project, Step.RESUME), version)
    for _ in range(TRIES):
        history, now = read_rebaselines(project.ledger), project.clock()
        progress = open_rebaseline(history, project.root, now)
        if progress is None or progress.missing != [Step.RESUME]:
            require_step(project, Step.RESUME)  # says which step is missing
            raise StorageError("somebody else took a step of this re-baseline meanwhile; look again")
        if chain_sha256 not in (None, progress.chain_sha256):
            raise Refusal(ReasonCode.DIGEST_MISMATCH, "a step was taken after you looked; look at them again")
        event = _signed(project, progress, version, signer)
        entries = [event, *reconfirmed_events(project, progress, version), *noted()]
        try:
            project.ledger.append_all(entries, after=history.size)
        except LedgerMoved:
            continue
        return _ended(project, progress.rebaseline_id)
    raise StorageError(f"ledger {project.ledger.path} is too busy: {TRIES} tries found it changed; try again")


def _ended(project: Project, name: str) -> Progress:
    keep_in_step(project.folder, project.ledger, project.root, project.clock())
    ended = progress_of(read_rebaselines(project.ledger), name, project.root, project.clock())
    assert ended is not None  # it was open a moment ago
    return ended


def _check_all(project: Project, progress: Progress, version: str) -> None:
    _refuse_old_version(project, progress, version)
    require_unchanged(project, progress)
    require_issued(project, progress)
    require_recorded(project, progress)
    require_repeated(progress)


def _refuse_old_version(project: Project, progress: Progress, version: str) -> None:
    history = read_rebaselines(project.ledger)
    ended = [p.resumed.baseline_version for p in every_progress(history, project.root, project.clock()) if p.resumed]
    for old in (str(progress.declared.document["from_baseline"]), *ended):
        if version_of(version) <= version_of(old):
            message = f"version {version} is not later than {old}; what was approved under it must not fit by chance"
            raise FrameworkRefused(RebaselineCode.VERSION_NOT_NEW, message)


def _signed(project: Project, progress: Progress, version: str, signer: Signer) -> NewEvent:
    """Sign, and hold the statement to what every gate will ask of it."""
    now, name, chain = project.clock(), progress.rebaseline_id, progress.chain_sha256
    envelope = sign_resumption(name, chain, version, signer, now)
    said = stated_resumption(envelope, name, chain, project.root, now, now)
    body = {"baseline_version": version, "chain_sha256": chain, "envelope": envelope.decode()}
    return step_event(progress, Step.RESUME, body, said.people[0], now)
