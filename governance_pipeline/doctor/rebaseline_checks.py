"""Does the baseline of the governed project still fit: what is due, and a re-baseline that was left open.

What belongs here: asking the framework about one folder. What does not: the triggers, which are the framework's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.doctor.finding import Finding, Health
from governance_pipeline.framework.folder import STATE, GovernedFolder
from governance_pipeline.framework.rebaseline.assumptions import tables_of
from governance_pipeline.framework.rebaseline.due import due
from governance_pipeline.framework.rebaseline.protocol import Project, progress_now

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.doctor.finding import Patient

CHECK = "rebaseline"
_STATUS = "govern rebaseline status"


def baseline_fits(patient: Patient) -> Iterator[Finding]:
    """Name each assumption that does not hold and nobody has declared, or the step an open re-baseline waits for."""
    if patient.project is None or patient.verifier is None:
        return
    if not (patient.project / STATE).is_file():
        return  # no governed project; the check of the locks says so
    verifier = patient.verifier
    project = Project(GovernedFolder(patient.project), verifier.ledger, verifier.root, lambda: patient.now)
    opened = progress_now(project)
    if opened is not None:
        said = f"open since {opened.declared.document['declared_on']}, next is {opened.missing[0]}"
        yield Finding(CHECK, Health.WARN, opened.rebaseline_id, said, _STATUS)
        return
    found = due(project, tables_of(patient.lake))
    for each in found:
        yield Finding(CHECK, Health.WARN, each.pointer, f"{each.trigger}: {each.subject}", "govern rebaseline declare")
    if not found:
        yield Finding(CHECK, Health.OK, str(patient.project), "every assumption of the baseline holds")
