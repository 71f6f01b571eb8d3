"""The sensor `folder_changes`: the governed folder is verified when it changes, and verdicts follow what it then says.

What belongs here: asking for the runs. What does not: what follows from a change; the detectors judge.
"""

import json
from collections.abc import Sequence
from contextlib import suppress

import dagster as dg

from assets_defs.governed import NO_FOLDER, Project
from assets_defs.jobs import folder_job, judge_job
from assets_defs.partitions import chunks, range_tags, rounds
from assets_defs.resources import Gatekeeper
from assets_defs.tables import FINDINGS
from governance_pipeline.framework.lake_tables import seen_of_folder, state_of_folder
from governance_pipeline.storage.heartbeat import beat
from governance_pipeline.workspace import Workspace


@dg.sensor(jobs=[folder_job, judge_job], minimum_interval_seconds=60, default_status=dg.DefaultSensorStatus.RUNNING)
def folder_changes(
    context: dg.SensorEvaluationContext,
    workspace: dg.ResourceParam[Workspace],
    gate: dg.ResourceParam[Gatekeeper],
    project: dg.ResourceParam[Project],
) -> dg.SensorResult | dg.SkipReason:
    """Verify the folder once a file of it or the ledger changed; judge every round again once its tables differ.

    A registered file is looked at by size and time only; one rewritten behind both is found by the nightly
    `registry_verify`, which hashes it.
    """
    beat(workspace.lake, "folder_changes", gate.now())
    folder = project.folder()
    if folder is None:
        return dg.SkipReason(NO_FOLDER)
    ledger = gate.verifier(workspace.lake).ledger if gate.is_configured() else None
    seen, state = seen_of_folder(folder, ledger), state_of_folder(workspace.lake)
    before = _cursor(context.cursor)
    requests = []
    if before.get("seen") != seen:
        requests.append(dg.RunRequest(f"folder:{seen}", job_name=folder_job.name))
    if state is not None and before.get("state") != state:
        registered = context.instance.get_dynamic_partitions(str(rounds.name))
        judged = set(workspace.lake.rounds(FINDINGS)).intersection(registered)
        requests += [_judge_again(chunk, state) for chunk in chunks(judged, registered)]
    return dg.SensorResult(
        run_requests=requests,
        cursor=json.dumps({"seen": seen, "state": state}),
        skip_reason=None if requests else "the governed folder is as it was",
    )


def _cursor(cursor: str | None) -> dict[str, str | None]:
    with suppress(ValueError):
        found = json.loads(cursor or "{}")
        return found if isinstance(found, dict) else {}
    return {}


def _judge_again(chunk: Sequence[str], state: str) -> dg.RunRequest:
    is_single = len(chunk) == 1
    return dg.RunRequest(
        run_key=f"{state}:{chunk[0]}:{chunk[-1]}",
        job_name=judge_job.name,
        partition_key=chunk[0] if is_single else None,
        tags={} if is_single else dict(range_tags(chunk)),
    )
