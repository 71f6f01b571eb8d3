"""The sensor `notifications`: people are told what waits for them, each thing once.

What belongs here: calling the library at each tick. What does not: who is told, of what, and what was sent already
(governance_pipeline.notify). What is sent opens and closes nothing, and what is lost does neither.
"""

import time

import dagster as dg

from assets_defs.resources import Gatekeeper
from governance_pipeline.notify.delivery import deliver
from governance_pipeline.notify.sending import Means, send_due
from governance_pipeline.notify.targets import load_notifications
from governance_pipeline.storage.heartbeat import beat
from governance_pipeline.workspace import Workspace


@dg.sensor(minimum_interval_seconds=60, default_status=dg.DefaultSensorStatus.RUNNING)
def notifications(
    context: dg.SensorEvaluationContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> dg.SensorResult | dg.SkipReason:
    """Tell people of new requests, of those that wait long, and of what became of them."""
    beat(workspace.lake, "notifications", gate.now())
    if not gate.is_configured():
        return dg.SkipReason("no gate is configured, so nobody is asked anything")
    verifier = gate.verifier(workspace.lake)
    wanted = load_notifications(verifier.config.notifications)
    if not wanted.targets:
        return dg.SkipReason("nobody is told: gate.toml names no file of notifications (docs/operating.md)")
    sent = send_due(verifier, wanted, Means(deliver, gate.now, time.sleep))
    for one in sent:
        became = "sent" if one.is_sent else "failed, it is tried again"
        context.log.info(
            "message %s to %s: %s after %d attempts", one.message_id, one.target, became, len(one.attempts)
        )
    handed = sum(one.is_sent for one in sent)
    return dg.SensorResult(
        run_requests=[],
        cursor=f"{verifier.config.root_fingerprint}:{verifier.ledger.size()}",
        skip_reason=f"{handed} of {len(sent)} messages were handed over" if sent else "there is nothing new to tell",
    )
