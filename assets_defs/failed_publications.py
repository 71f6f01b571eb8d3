"""The sensor `failed_publications`: a run that failed although its gate was open is noted, so that a person can retry.

What belongs here: telling the ledger which rounds a failed run covered. What does not: whether that is a failure
(gate.retrying) and launching again, which a person asks for (`govern gate retry`).
"""

from collections.abc import Iterator

import dagster as dg

from assets_defs.jobs import publish_job
from assets_defs.partitions import rounds, rounds_of_run
from assets_defs.resources import Gatekeeper
from assets_defs.tables import GATED
from governance_pipeline.gate.retrying import note_failure
from governance_pipeline.workspace import Workspace

REFUSED_ROUNDS = "refused_rounds"
"""Metadata of a step the gate refused (`deciding.refused`)."""


@dg.run_failure_sensor(default_status=dg.DefaultSensorStatus.RUNNING, minimum_interval_seconds=15)
def failed_publications(
    context: dg.RunFailureSensorContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> dg.SkipReason:
    """Note a failed publication of each round whose gate is open; the inbox lists it as APPROVED_FAILED."""
    run = context.dagster_run
    covered = _rounds(context)
    if not _publishes(run) or not covered:
        return dg.SkipReason("the failed run published nothing a gate releases")
    if not gate.is_configured():
        return dg.SkipReason("no gate is configured")
    verifier = gate.verifier(workspace.lake)
    refused = set(_refused(context))
    noted = [
        event
        for round_id in covered
        if round_id not in refused
        for event in note_failure(verifier, round_id, run.run_id, run.root_run_id or run.run_id, gate.now())
    ]
    named = ", ".join(str(event.body["round_id"]) for event in noted)
    return dg.SkipReason(f"noted as approved and failed: {named or 'nothing; its gates are closed or all is done'}")


def _publishes(run: dg.DagsterRun) -> bool:
    selected = {key.to_user_string() for key in run.asset_selection or ()}
    return bool(selected & set(GATED)) if selected else run.job_name == publish_job.name


def _rounds(context: dg.RunFailureSensorContext) -> tuple[str, ...]:
    tags = context.dagster_run.tags
    if (key := tags.get("dagster/partition")) is not None:
        return (key,)
    return rounds_of_run(tags, context.instance.get_dynamic_partitions(str(rounds.name)))


def _refused(context: dg.RunFailureSensorContext) -> Iterator[str]:
    """Give the rounds the gate refused: a step that says so failed for no other reason."""
    for event in context.get_step_failure_events():
        failure = event.step_failure_data.user_failure_data
        entries = {} if failure is None else failure.metadata
        if (shown := entries.get(REFUSED_ROUNDS)) is not None:
            yield from getattr(shown, "data", None) or ()
