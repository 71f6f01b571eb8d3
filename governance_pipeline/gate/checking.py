"""Asking every question of one request without using anything: what `govern gate verify` does.

What belongs here: which decisions are held to the steps, those recorded or one in a file. What does not: the steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.gate.decision import DECISION_BYTES
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import gate_of
from governance_pipeline.gate.passage import Offer
from governance_pipeline.gate.shown import request_of
from governance_pipeline.gate.states import is_used_up
from governance_pipeline.gate.verify import STEPS, passage_of, verify
from governance_pipeline.strict.files import open_regular
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.gate.events import Requested
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.verify import Step


class Checked(NamedTuple):
    """A request, why passage is refused (None: it would be granted), and why decisions were left out on the way."""

    request: Requested
    refusal: Refusal | None
    dropped: list[Refusal]


def check_request(
    verifier: Verifier,
    request_id: str,
    now: datetime,
    *,
    asset: str | None = None,
    root_run_id: str | None = None,
    envelope: Path | None = None,
    steps: Sequence[Step] = STEPS,
) -> Checked:
    """Hold the decisions on a request to every step.

    Args:
        verifier: what is trusted.
        request_id: the request, or the beginning of its id.
        now: the time.
        asset: gated asset that would use it; None asks only whether there is anything left to use it for.
        root_run_id: run that would; None stands for one that never was.
        envelope: file with one decision to judge instead of those recorded.
        steps: the questions, in order.

    Raises:
        UsageError: no such request, or the gate does not release the asset.
        UnreadableError: the file of the envelope cannot be read.
    """
    history = read_history(verifier.ledger, is_strict=False)  # the step `log` refuses what is wrong with it
    request = request_of(history, request_id)
    gate = gate_of(request.gate)
    if asset is not None and asset not in gate.assets:
        raise UsageError(f"gate {gate.name} releases {', '.join(gate.assets)}, not {asset!r}")
    try:
        passage = passage_of(
            verifier, gate, request.round_id, now, asset=asset, root_run_id=root_run_id, history=history
        )
    except Refusal as refusal:
        return Checked(request, refusal, [])
    if envelope is not None:
        data = _bytes_of(envelope)
        recorded = next((offer.event for offer in passage.offers if offer.data == data), None)
        passage.offers = [Offer(data, recorded)]
    elif request.seq != passage.request.seq:
        passage.offers = [o for o in passage.offers if o.event and o.event.request_id == request.request_id]
        if not passage.offers:
            message = f"request {request.request_id} was superseded by {passage.request.request_id}"
            return Checked(request, Refusal(ReasonCode.SUPERSEDED, message), [])
    try:
        verify(passage, steps)
    except Refusal as refusal:
        return Checked(request, refusal, [other for _, other in passage.dropped if other is not refusal])
    if asset is None and is_used_up(request, history, EventType.DONE):
        message = "everything it releases was published on it; another publication needs another decision"
        return Checked(request, Refusal(ReasonCode.REPLAYED, message), [other for _, other in passage.dropped])
    return Checked(request, None, [other for _, other in passage.dropped])


def _bytes_of(path: Path) -> bytes:
    with open_regular(path) as stream:
        return stream.read(DECISION_BYTES + 1)
