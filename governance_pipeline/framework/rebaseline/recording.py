"""Recording a re-baseline in the incident log: the sixth step, also when nothing failed.

What belongs here: the row, and asking later whether it stands. What does not: the log (`incidents`). A change of scope
is itself an event people must be able to look up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.framework.folder import INCIDENT_LOG
from governance_pipeline.framework.incident_log import IncidentRow, read_rows
from governance_pipeline.framework.incidents import SERVICE, State, incident_event, read_incidents, standings
from governance_pipeline.framework.kept_text import read_text
from governance_pipeline.framework.rebaseline.protocol import Project, RebaselineCode, require_step, step_event, take
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.ledger.rebaselines import Step
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from governance_pipeline.ledger.event import NewEvent
    from governance_pipeline.ledger.rebaselines import Progress

_SCOPE_CHARACTERS: Final = 600


def record(project: Project, root_cause: str, lesson: str) -> Progress:
    """Write the re-baseline into ledger and incident log.

    Args:
        project: where.
        root_cause: which assumption did not hold, and why.
        lesson: what was done, or learned.

    Raises:
        FrameworkRefused: the step may not be taken now.
        UsageError: a text is blank or too long.
        FaultyFileError: the incident log has no table that can take a row.
    """
    require_step(project, Step.RECORD)
    read_rows(read_text(project.folder, INCIDENT_LOG), INCIDENT_LOG)

    def events(progress: Progress) -> list[NewEvent]:
        now = project.clock()
        scope = excerpt(progress.declared.document["scope_change"], _SCOPE_CHARACTERS)
        said = f"re-baseline of {progress.declared.document['from_baseline']}: {scope} [{progress.rebaseline_id}]"
        row = IncidentRow(str(progress.declared.document["declared_on"]), said, root_cause, lesson)
        incident = incident_event(project.folder, row, SERVICE, now, progress.rebaseline_id)
        body = {"incident_id": incident.body["incident_id"], "root_cause": root_cause, "lesson": lesson}
        step = step_event(progress, Step.RECORD, body, SERVICE, now)
        known = {recorded.incident_id for recorded in read_incidents(project.folder, project.ledger)[0]}
        return [step] if incident.body["incident_id"] in known else [incident, step]

    return take(project, Step.RECORD, events)


def require_recorded(project: Project, progress: Progress) -> None:
    """Hold the incident log to the row that was recorded.

    Raises:
        FrameworkRefused: REBASELINE_NOT_RECORDED, the log lacks it or has it otherwise.
    """
    name = progress.taken[Step.RECORD].body["incident_id"]
    for standing in standings(project.folder, project.ledger):
        if standing.incident is not None and standing.incident.incident_id == name and standing.state is State.IN_STEP:
            return
    message = (
        f"{INCIDENT_LOG} does not hold the row of this re-baseline as it was recorded; `govern incident list` says how"
    )
    raise FrameworkRefused(RebaselineCode.NOT_RECORDED, message)
