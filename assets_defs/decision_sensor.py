"""The sensor `decisions`: what a person has approved is published at the next tick.

What belongs here: turning new events of the ledger into run requests. What does not: any trust in them. An event
launches a run at most; whether anything passes is asked again in the asset, about the bytes it is about to use.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile

import dagster as dg

from assets_defs.jobs import publish_job
from assets_defs.partitions import rounds
from assets_defs.resources import Gatekeeper
from assets_defs.tables import DECISIONS
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import GATES
from governance_pipeline.gate.passage import Verifier
from governance_pipeline.gate.states import is_used_up
from governance_pipeline.gate.tables import gate_states
from governance_pipeline.ledger.event import Event
from governance_pipeline.storage.heartbeat import beat
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust.reasons import ReasonCode
from governance_pipeline.vocabulary import is_round_id
from governance_pipeline.workspace import Workspace

DECISIONS_PER_TICK = 20
"""Approvals one tick looks into, some tenths of a second each; the rest waits for the next tick."""

FIRST_ATTEMPT = 1
"""A run that failed is executed again from its page, under the same root run, which the ledger lets go on."""

DECISION_TAG = "govern/decision"


@dg.sensor(job=publish_job, minimum_interval_seconds=30, default_status=dg.DefaultSensorStatus.RUNNING)
def decisions(
    context: dg.SensorEvaluationContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> dg.SensorResult | dg.SkipReason:
    """Launch publication of each round that was approved since the last tick, one run per round."""
    beat(workspace.lake, "decisions", gate.now())
    if not gate.is_configured():
        return dg.SkipReason("no gate is configured, so nobody has decided; make one with `govern trust init`")
    verifier = gate.verifier(workspace.lake)
    size = verifier.ledger.size()
    recorded = takewhile(
        lambda event: event.seq <= size,
        verifier.ledger.events(_seen(context.cursor, verifier, size), {EventType.APPROVED}),
    )
    approved = list(islice(recorded, DECISIONS_PER_TICK))
    wanted, reasons = _sorted_out(verifier, gate, approved)
    for reason in reasons:
        context.log.info(reason)
    known = set(context.instance.get_dynamic_partitions(str(rounds.name)))
    newcomers = sorted({str(event.body["round_id"]) for event in wanted} - known)
    last = approved[-1].seq if len(approved) == DECISIONS_PER_TICK else size
    return dg.SensorResult(
        run_requests=[_request(event) for event in wanted],
        dynamic_partitions_requests=[rounds.build_add_request(newcomers)] if newcomers else [],
        cursor=f"{verifier.config.root_fingerprint}:{last}",
        skip_reason=None if wanted else "; ".join(reasons) or "nobody has approved anything since the last tick",
    )


def _seen(cursor: str | None, verifier: Verifier, size: int) -> int:
    """Return the last event looked at; 0 when the cursor is of another ledger or none of ours.

    What is looked at twice runs once: run keys hold the decision.
    """
    ledger, _, seq = (cursor or "").partition(":")
    is_ours = ledger == verifier.config.root_fingerprint and seq.isascii() and seq.isdigit()
    return int(seq) if is_ours and int(seq) <= size else 0


def _sorted_out(verifier: Verifier, keeper: Gatekeeper, approved: Sequence[Event]) -> tuple[list[Event], list[str]]:
    """Return the approvals to launch for, and why others are left: more approvers are needed, or all is published."""
    history = read_history(verifier.ledger)
    newest = {(event.body["gate"], event.body["round_id"]): event for event in approved}
    wanted, reasons = [], []
    for (gate, round_id), event in newest.items():
        if gate not in GATES or not is_round_id(round_id):
            reasons.append(f"event {event.seq} approves something that is not here: {excerpt(repr(round_id))}")
            continue
        request = history.in_force(gate, round_id)
        [state] = gate_states(GATES[gate], [round_id], verifier, keeper.now())
        if request is not None and is_used_up(request, history):
            reasons.append(f"round {round_id} is published already")
        elif state.code is ReasonCode.THRESHOLD:
            reasons.append(f"round {round_id} needs another approver: {state.message}")
        else:
            wanted.append(event)
    return wanted, reasons


def _request(event: Event) -> dg.RunRequest:
    body: Mapping[str, str] = event.body
    gate, round_id, decision_id = body["gate"], body["round_id"], body["decision_id"]
    return dg.RunRequest(
        run_key=f"{gate}:{round_id}:{decision_id}:{FIRST_ATTEMPT}",
        partition_key=round_id,
        asset_selection=[dg.AssetKey(table) for table in _assets_of(gate)],
        tags={DECISION_TAG: decision_id},
    )


def _assets_of(gate: str) -> Iterator[str]:
    yield DECISIONS
    yield from GATES[gate].assets
