"""Who may act on a request now.

What belongs here: the people whose approval would be recorded as things stand. What does not: recording it, which asks
all of this again (`deciding`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.gate.closings import signed_decision, unlifted_closings
from governance_pipeline.gate.delegations import counting
from governance_pipeline.gate.signers import is_named
from governance_pipeline.gate.states import State
from governance_pipeline.trust.pair import approver_conflict
from governance_pipeline.trust.principals import Kind, Role
from governance_pipeline.trust.reasons import ReasonCode

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.gate.events import History
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.states import Standing
    from governance_pipeline.trust.principals import Principal

_SHUT: Final = frozenset(
    {
        ReasonCode.FROZEN,
        ReasonCode.LOG_INCONSISTENT,
        ReasonCode.ROOT_ROLLBACK,
        ReasonCode.CLOCK_SUSPECT,
        ReasonCode.INTERNAL,
    }
)
"""Codes of a pending request that no approval changes."""


def may_act(standing: Standing, verifier: Verifier, history: History, now: datetime) -> list[str]:
    """Give the people whose approval would be recorded now, sorted; none where no approval would be.

    Of a request that one person has closed it is that person, who may take it back.
    """
    request, root = standing.request, verifier.root
    actors = {*request.actors, request.requester}
    lent = {root.identity(said.delegate) for said, _ in counting(request, verifier, history, now, actors)}
    able = {p.id for p in root.principals if _can_sign(p, verifier, now)}
    able = {name for name in able if is_named(name, root, verifier.policy) or root.identity(name) in lent}
    able = {name for name in able if approver_conflict(name, actors, root) is None}
    if history.unusable or history.freezes.covering(request.round_id, root, now) is not None:
        return []
    if standing.state in (State.REJECTED, State.REVOKED):
        closings = unlifted_closings(history, request, root)
        return sorted(able & set(closings[0].who)) if len(closings) == 1 else []
    if standing.state is not State.PENDING or standing.code in _SHUT:
        return []
    if standing.code is ReasonCode.THRESHOLD:
        signed = (signed_decision(recorded, root) for recorded in history.approvals(request))
        able -= {name for decision in signed if decision is not None for name in decision.who}
    return sorted(able)


def _can_sign(principal: Principal, verifier: Verifier, now: datetime) -> bool:
    root = verifier.root
    has_key = any(
        not root.is_revoked(key.fingerprint, now) and not key.validity.is_before(now) and not key.validity.is_over(now)
        for key in principal.keys
    )
    is_valid = not principal.validity.is_before(now) and not principal.validity.is_over(now)
    return principal.kind is Kind.HUMAN and Role.APPROVER in principal.roles and has_key and is_valid
