"""Sensors: rounds that arrive or change, chunks that failed because of one round, stale verdicts, and approvals.

What belongs here: turning what the library says of the landing area into run requests. What does not: which folder is
a round (rounds.landing) and whether its tables are current (ingest.freshness).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import dagster as dg

from assets_defs.arrivals import arrivals, is_due
from assets_defs.decision_sensor import decisions
from assets_defs.dismissal_sensor import dismissals
from assets_defs.failed_publications import failed_publications
from assets_defs.folder_sensor import folder_changes
from assets_defs.jobs import JOBS, full_audit_job
from assets_defs.notification_sensor import notifications
from assets_defs.partitions import halves, range_tags, rounds, rounds_of_run
from assets_defs.resources import Gatekeeper
from assets_defs.stale_verdicts import stale_verdicts
from governance_pipeline.rounds.landing import fingerprint
from governance_pipeline.storage.heartbeat import beat
from governance_pipeline.workspace import Workspace

ROUNDS_PER_TICK = 200
"""Rounds one tick looks into; the rest waits for the next tick, 30 s later."""

_DIGEST_CHARACTERS = 16


@dg.sensor(job=full_audit_job, minimum_interval_seconds=30, default_status=dg.DefaultSensorStatus.RUNNING)
def new_rounds(
    context: dg.SensorEvaluationContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> dg.SensorResult:
    """Register rounds that arrived as partitions and audit each one that is new or changed, one run per round."""
    beat(workspace.lake, "new_rounds", gate.now())
    arrived = arrivals(context.instance, workspace)
    seen = _seen(context.cursor, arrived.landing.rounds)
    touched = _touched(workspace, arrived.landing.rounds, seen)
    known = set(arrived.registered)
    due = [round_id for round_id in touched if is_due(workspace, round_id, known)]
    newcomers = [round_id for round_id in arrived.newcomers if round_id in touched]
    if due and arrived.landing.refused:  # without a request the skip reason says it
        context.log.info(arrived.refusals())
    return dg.SensorResult(
        run_requests=[dg.RunRequest(run_key=f"{key}:{touched[key]}", partition_key=key) for key in due],
        dynamic_partitions_requests=[rounds.build_add_request(newcomers)] if newcomers else [],
        cursor=json.dumps({**seen, **touched}, sort_keys=True, separators=(",", ":")),
        skip_reason=None if due else arrived.nothing_to_do(),
    )


@dg.run_failure_sensor(request_jobs=JOBS, default_status=dg.DefaultSensorStatus.RUNNING, minimum_interval_seconds=15)
def failed_chunks(context: dg.RunFailureSensorContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """Run both halves of a failed chunk, until the bad round stands alone and all others went through."""
    run = context.dagster_run
    chunk = rounds_of_run(run.tags, context.instance.get_dynamic_partitions(str(rounds.name)))
    if len(chunk) < 2:  # noqa: PLR2004 - one round cannot be halved
        yield dg.SkipReason("the failed run covers one round; its log says what is wrong with it")
    for half in halves(chunk):
        yield dg.RunRequest(
            run_key=f"{run.run_id}:{half[0]}",
            job_name=run.job_name if run.job_name in _JOB_NAMES else full_audit_job.name,
            partition_key=half[0] if len(half) == 1 else None,
            tags={} if len(half) == 1 else range_tags(half),
            asset_selection=sorted(run.asset_selection) if run.asset_selection else None,
            asset_check_keys=None if run.asset_check_selection is None else sorted(run.asset_check_selection),
        )


SENSORS = [
    new_rounds,
    failed_chunks,
    stale_verdicts,
    folder_changes,
    decisions,
    failed_publications,
    notifications,
    dismissals,
]
"""Every sensor of the project."""

_JOB_NAMES = frozenset(job.name for job in JOBS)


def _seen(cursor: str | None, present: Sequence[str]) -> dict[str, str]:
    """Return round -> digest of the last tick, without the rounds that are gone.

    A cursor that is none of ours counts as empty: run keys hold the same digest, so nothing runs twice for it.
    """
    still_there = set(present)
    with suppress(ValueError, AttributeError):
        return {key: value for key, value in json.loads(cursor or "{}").items() if key in still_there}
    return {}


def _touched(workspace: Workspace, present: Sequence[str], seen: Mapping[str, str]) -> dict[str, str]:
    touched: dict[str, str] = {}
    for round_id in present:
        with suppress(OSError):  # it is being moved away; the next tick looks again
            digest = fingerprint(workspace.landing / round_id)[:_DIGEST_CHARACTERS]
            if seen.get(round_id) != digest:
                touched[round_id] = digest
        if len(touched) == ROUNDS_PER_TICK:
            break
    return touched
