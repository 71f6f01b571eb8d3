"""The sensor `decisions`: what a person has approved is published at the next tick, and tried again when they say so.

What belongs here: turning what the ledger asks for into run requests. What does not: which events ask for a run
(gate.launching), and any trust in them: whether anything passes is asked again in the asset.
"""

import dagster as dg

from assets_defs.jobs import publish_job
from assets_defs.partitions import rounds
from assets_defs.resources import Gatekeeper
from assets_defs.tables import DECISIONS
from governance_pipeline.gate.attempts import FIRST_ATTEMPT
from governance_pipeline.gate.launching import EVENTS_AT_ONCE, Launch, due_launches
from governance_pipeline.gate.passage import Verifier
from governance_pipeline.storage.heartbeat import beat
from governance_pipeline.workspace import Workspace

DECISIONS_PER_TICK = EVENTS_AT_ONCE

DECISION_TAG = "govern/decision"
ATTEMPT_TAG = "govern/attempt"
"""Names the attempt a run is; the ledger says under which root run it goes on (`publishing`)."""


@dg.sensor(job=publish_job, minimum_interval_seconds=30, default_status=dg.DefaultSensorStatus.RUNNING)
def decisions(
    context: dg.SensorEvaluationContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> dg.SensorResult | dg.SkipReason:
    """Launch publication of each round that was approved, or is to be tried again, since the last tick."""
    beat(workspace.lake, "decisions", gate.now())
    if not gate.is_configured():
        return dg.SkipReason("no gate is configured, so nobody has decided; make one with `govern trust init`")
    verifier = gate.verifier(workspace.lake)
    seen = seen_events(context.cursor, verifier)
    due = due_launches(verifier, seen, gate.now(), at_once=DECISIONS_PER_TICK)
    for reason in due.reasons:
        context.log.info(reason)
    known = set(context.instance.get_dynamic_partitions(str(rounds.name)))
    newcomers = sorted({launch.round_id for launch in due.launches} - known)
    nothing = "; ".join(due.reasons) or "nobody has approved anything since the last tick"
    return dg.SensorResult(
        run_requests=[_request(launch) for launch in due.launches],
        dynamic_partitions_requests=[rounds.build_add_request(newcomers)] if newcomers else [],
        cursor=f"{verifier.config.root_fingerprint}:{due.seen}",
        skip_reason=None if due.launches else nothing,
    )


def seen_events(cursor: str | None, verifier: Verifier) -> int:
    """Return the last event looked at; 0 when the cursor is of another ledger or none of ours.

    What is looked at twice runs once: run keys hold decision and attempt.
    """
    ledger, _, seq = (cursor or "").partition(":")
    is_ours = ledger == verifier.config.root_fingerprint and seq.isascii() and seq.isdigit()
    return int(seq) if is_ours and int(seq) <= verifier.ledger.size() else 0


def _request(launch: Launch) -> dg.RunRequest:
    is_first = launch.key.endswith(f":{FIRST_ATTEMPT}")
    return dg.RunRequest(
        run_key=launch.key,
        partition_key=launch.round_id,
        asset_selection=[dg.AssetKey(table) for table in (DECISIONS, *launch.assets)],
        tags={DECISION_TAG: launch.decision_id, **({} if is_first else {ATTEMPT_TAG: launch.key})},
    )
