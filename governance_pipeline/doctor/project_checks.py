"""Is the governed project in order: locks nobody holds any more.

What belongs here: asking the framework about one folder. What does not: the questions, which are the framework's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.doctor.finding import Finding, Health
from governance_pipeline.framework.folder import LOCKS, GovernedFolder
from governance_pipeline.framework.safety_checks import LockFault, check_lock_orphaned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.doctor.finding import Patient


def locks_are_held(patient: Patient) -> Iterator[Finding]:
    """Name the locks of the governed project that were left behind."""
    if patient.project is None:
        return
    folder = GovernedFolder(patient.project).path(LOCKS)
    names = sorted({path for path in folder.iterdir() if path.suffix == ".lock"}) if folder.is_dir() else []
    judged = [(path, check_lock_orphaned(path)) for path in names]
    for path, result in judged:
        if result.reason_code is LockFault.ORPHANED:
            remedy = f"govern lock release {path.stem}"
            yield Finding("locks", Health.FAIL, path.name, result.message, remedy)
        elif not result.ok:
            yield Finding("locks", Health.UNKNOWN, path.name, result.message, "ask whoever works on that machine")
    if all(result.ok for _, result in judged):
        yield Finding("locks", Health.OK, str(patient.project), f"{len(judged)} locks, none left behind")
