"""Schedules: what is done every night whether or not anything happened.

What belongs here: times and run requests. What does not: which rounds are due (arrivals).
"""

from collections.abc import Sequence
from pathlib import Path

import dagster as dg

from assets_defs.arrivals import arrivals, is_due
from assets_defs.governed import NO_FOLDER, Project
from assets_defs.jobs import cohort_job, confidence_job, folder_job, full_audit_job, ledger_job
from assets_defs.partitions import chunks, range_tags, rounds
from assets_defs.resources import Gatekeeper
from assets_defs.scoring import Facts
from governance_pipeline.confidence.lake_tables import POOLS, SCORES, TEAMS
from governance_pipeline.confidence.stale_tables import stale_scores
from governance_pipeline.trajectory.stored_cohorts import stale_reason
from governance_pipeline.workspace import Workspace

NIGHT_TAG = "govern/night"


@dg.schedule(
    cron_schedule="0 2 * * *",
    execution_timezone="UTC",
    job=full_audit_job,
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def nightly_audit(
    context: dg.ScheduleEvaluationContext, workspace: dg.ResourceParam[Workspace]
) -> Sequence[dg.RunRequest] | dg.SkipReason:
    """Audit every round that is new, stale or was left unfinished, in chunks, and ask people; publishes nothing.

    The date of the tick is only a label: a tick for a past date does what is due now, and twice the same tick runs
    nothing twice.
    """
    arrived = arrivals(context.instance, workspace)
    known = set(arrived.registered)
    due = {round_id for round_id in arrived.landing.rounds if is_due(workspace, round_id, known)}
    if not due:
        return dg.SkipReason(arrived.nothing_to_do())
    context.instance.add_dynamic_partitions(str(rounds.name), arrived.newcomers)
    registered = context.instance.get_dynamic_partitions(str(rounds.name))
    night = context.scheduled_execution_time.date().isoformat()
    return [_request(chunk, night) for chunk in chunks(due, registered)]


def _request(chunk: Sequence[str], night: str) -> dg.RunRequest:
    is_single = len(chunk) == 1
    return dg.RunRequest(
        run_key=f"{night}:{chunk[0]}:{chunk[-1]}",
        partition_key=chunk[0] if is_single else None,
        tags={NIGHT_TAG: night, **({} if is_single else range_tags(chunk))},
    )


@dg.schedule(
    cron_schedule="30 3 * * *",
    execution_timezone="UTC",
    job=ledger_job,
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def nightly_ledger(
    context: dg.ScheduleEvaluationContext, gate: dg.ResourceParam[Gatekeeper]
) -> dg.RunRequest | dg.SkipReason:
    """Copy the ledger and look for published files and materializations that did not pass the gate."""
    if not gate.is_configured():
        return dg.SkipReason("no gate is configured, so there is no ledger; make one with `govern trust init`")
    night = context.scheduled_execution_time.date().isoformat()
    return dg.RunRequest(run_key=night, tags={NIGHT_TAG: night})


@dg.schedule(
    cron_schedule="0 4 * * *",
    execution_timezone="UTC",
    job=cohort_job,
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def cohort_refresh(
    context: dg.ScheduleEvaluationContext, workspace: dg.ResourceParam[Workspace]
) -> dg.RunRequest | dg.SkipReason:
    """Make the cohort tables again where rounds came or changed; `stale_verdicts` then asks for what follows from it.

    A tick for a past date does what is due now: the tables depend on the rounds there are, not on when they were made.
    """
    reason = stale_reason(workspace.lake)
    if reason is None:
        return dg.SkipReason("the cohort tables are what they would be made now")
    night = context.scheduled_execution_time.date().isoformat()
    return dg.RunRequest(run_key=night, tags={NIGHT_TAG: night})


@dg.schedule(
    cron_schedule="30 4 * * *",
    execution_timezone="UTC",
    job=confidence_job,
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def confidence_refresh(
    context: dg.ScheduleEvaluationContext,
    workspace: dg.ResourceParam[Workspace],
    gate: dg.ResourceParam[Gatekeeper],
    confidence: dg.ResourceParam[Path],
) -> Sequence[dg.RunRequest] | dg.SkipReason:
    """Look for facts in judged rounds nobody has looked at or that changed, and score again where anything is new.

    A tick for a past date does what is due now. It asks for nothing an audit, a verdict or a gate waits for.
    """
    night = context.scheduled_execution_time.date().isoformat()
    due = set(Facts(gate, workspace.lake).due())
    if due:
        known = context.instance.get_dynamic_partitions(str(rounds.name))
        context.instance.add_dynamic_partitions(str(rounds.name), sorted(due - set(known)))
        registered = context.instance.get_dynamic_partitions(str(rounds.name))
        return [_request(chunk, night) for chunk in chunks(due, registered)]
    reason = stale_scores(workspace.lake, confidence)
    if reason is None:
        return dg.SkipReason("every judged round has its facts, and the scores are what they would be made now")
    tables = [dg.AssetKey(table) for table in (SCORES, POOLS, TEAMS)]
    return [dg.RunRequest(run_key=f"{night}:scores", asset_selection=tables, tags={NIGHT_TAG: night})]


@dg.schedule(
    cron_schedule="0 5 * * *",
    execution_timezone="UTC",
    job=folder_job,
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def registry_verify(
    context: dg.ScheduleEvaluationContext, project: dg.ResourceParam[Project]
) -> dg.RunRequest | dg.SkipReason:
    """Hash every registered asset again and look at locks, incidents and re-baselines of the governed folder.

    A tick for a past date looks at what is there now.
    """
    if project.folder() is None:
        return dg.SkipReason(NO_FOLDER)
    night = context.scheduled_execution_time.date().isoformat()
    return dg.RunRequest(run_key=night, tags={NIGHT_TAG: night})


SCHEDULES = [nightly_audit, nightly_ledger, cohort_refresh, confidence_refresh, registry_verify]
"""Every schedule of the project."""
