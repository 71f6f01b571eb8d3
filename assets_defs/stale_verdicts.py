"""The sensor that follows up on cohorts: a round that comes late changes the reference of all later rounds.

What belongs here: asking for the runs. What does not: what is stale (governance_pipeline.trajectory.stored_cohorts).
"""

import dagster as dg

from assets_defs.jobs import cohort_job, full_audit_job, judge_job, measure_job
from assets_defs.partitions import chunks, range_tags, rounds
from assets_defs.resources import Gatekeeper
from governance_pipeline.storage.heartbeat import beat
from governance_pipeline.trajectory.cohort_tables import BASELINE_TABLE
from governance_pipeline.trajectory.stored_cohorts import cohort_state, stale_reason
from governance_pipeline.trajectory.stored_cohorts import stale_verdicts as stale_rounds
from governance_pipeline.workspace import Workspace

_UNDER_WAY = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]
_MAKERS = (measure_job.name, cohort_job.name, judge_job.name, full_audit_job.name)


@dg.sensor(jobs=[cohort_job, judge_job], minimum_interval_seconds=60, default_status=dg.DefaultSensorStatus.RUNNING)
def stale_verdicts(
    context: dg.SensorEvaluationContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> dg.SensorResult:
    """Make the cohort tables again when rounds came or changed, then judge again each round whose comparison changed.

    While rounds are measured or judged it waits: what they make would be stale at once.
    """
    beat(workspace.lake, "stale_verdicts", gate.now())
    under_way = [run.job_name for run in context.instance.get_runs(dg.RunsFilter(statuses=_UNDER_WAY))]
    if busy := sorted(set(under_way).intersection(_MAKERS)):
        return dg.SensorResult(skip_reason=f"{', '.join(busy)} is under way; cohorts are looked at when it is done")
    reason = stale_reason(workspace.lake)
    if reason is not None:
        request = dg.RunRequest(cohort_state(workspace.lake), job_name=cohort_job.name, tags={"govern/reason": reason})
        return dg.SensorResult(run_requests=[request])
    baselines = workspace.lake.digest(BASELINE_TABLE, None) or ""
    if context.cursor == baselines:
        return dg.SensorResult(skip_reason="no cohort has changed")
    registered = context.instance.get_dynamic_partitions(str(rounds.name))
    stale = set(stale_rounds(workspace.lake)).intersection(registered)
    return dg.SensorResult(
        run_requests=[_request(chunk, baselines) for chunk in chunks(stale, registered)],
        cursor=baselines,
        skip_reason=None if stale else "cohorts changed, and no verdict rests on what changed",
    )


def _request(chunk: tuple[str, ...], baselines: str) -> dg.RunRequest:
    is_single = len(chunk) == 1
    return dg.RunRequest(
        run_key=f"{baselines}:{chunk[0]}:{chunk[-1]}",
        job_name=judge_job.name,
        partition_key=chunk[0] if is_single else None,
        tags={} if is_single else dict(range_tags(chunk)),
    )
