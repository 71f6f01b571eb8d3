"""The sensor `dismissals`: a verdict is made again when a finding of it was dismissed, or is no longer.

What belongs here: asking for the runs. What does not: any trust in a dismissal. An event launches a run at most;
whether it counts is judged where the tables are made, and once more at the gate.
"""

import dagster as dg

from assets_defs.jobs import full_audit_job
from assets_defs.partitions import rounds
from assets_defs.resources import Gatekeeper
from assets_defs.tables import REQUESTS, tables_of
from governance_pipeline.gate.dismissals import TABLE, rounds_to_judge_again
from governance_pipeline.storage.heartbeat import beat
from governance_pipeline.workspace import Workspace

JUDGED = (*tables_of("verdict"), REQUESTS)
"""What is made again: the verdict, and the question to a person, because it is about another document."""


@dg.sensor(job=full_audit_job, minimum_interval_seconds=60, default_status=dg.DefaultSensorStatus.RUNNING)
def dismissals(
    context: dg.SensorEvaluationContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> dg.SensorResult | dg.SkipReason:
    """Judge each round again whose tables do not say of a finding what the ledger says now.

    A run that failed is not repeated: its key holds the table it was to replace and the size of the ledger.
    """
    beat(workspace.lake, "dismissals", gate.now())
    if not gate.is_configured():
        return dg.SkipReason("no gate is configured, so nobody can dismiss; make one with `govern trust init`")
    verifier = gate.verifier(workspace.lake)
    size = verifier.ledger.size()
    stale = rounds_to_judge_again(verifier, gate.now())
    if not stale:
        return dg.SkipReason("every verdict says of each finding what the ledger says")
    known = set(context.instance.get_dynamic_partitions(str(rounds.name)))
    newcomers = [round_id for round_id in stale if round_id not in known]
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                run_key=f"dismissal:{round_id}:{workspace.lake.digest(TABLE, round_id)}:{size}",
                partition_key=round_id,
                asset_selection=[dg.AssetKey(table) for table in JUDGED],
            )
            for round_id in stale
        ],
        dynamic_partitions_requests=[rounds.build_add_request(newcomers)] if newcomers else [],
    )
