"""Which rounds a backfill of gated assets would publish now, and why each other one would not be.

What belongs here: the plan. What does not: launching; nothing is used or recorded by planning. A plan is not a promise:
every gated asset asks again when it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.states import is_used_up
from governance_pipeline.gate.tables import gate_states
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from governance_pipeline.gate.gates import Gate
    from governance_pipeline.gate.passage import Verifier

SCHEMA = "govern/gate-plan/v1"
PUBLISHED = "published already"


def plan_document(gate: Gate, round_ids: Iterable[str], verifier: Verifier, now: datetime) -> dict[str, Any]:
    """Return the plan for rounds, each in exactly one of three lists, by round id.

    Args:
        gate: the gate they would pass.
        round_ids: rounds of the lake.
        verifier: what is trusted.
        now: the time.
    """
    history = read_history(verifier.ledger)
    is_open, published, closed = [], [], []
    for state in gate_states(gate, sorted(set(round_ids)), verifier, now):
        request = history.in_force(gate.name, state.round_id)
        if request is not None and is_used_up(request, history):
            published.append(state.round_id)
        elif state.is_open:
            is_open.append(state.round_id)
        else:
            why = {"code": state.code and str(state.code), "message": excerpt(state.message or "", 500)}
            closed.append({"round_id": state.round_id, **why})
    return {"schema": SCHEMA, "gate": gate.name, "open": is_open, "published": published, "closed": closed}


def plan_lines(document: dict[str, Any]) -> list[str]:
    """Return one line per round: what would be published first, then the rest with the reason."""
    lines = [f"{round_id}: open, would be published" for round_id in document["open"]]
    lines += [f"{round_id}: {PUBLISHED}" for round_id in document["published"]]
    lines += [f"{one['round_id']}: {one['code']}: {one['message']}" for one in document["closed"]]
    counts = ", ".join(f"{len(document[name])} {name}" for name in ("open", "published", "closed"))
    return [*lines, f"gate {document['gate']}: {counts}"]
