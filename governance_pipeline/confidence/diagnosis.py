"""Who answers for a failed delegation: events for the orchestrator and the executor, each in its own pool.

What belongs here: the four outcomes and their shares. What does not: recording; these are ordinary events. Source:
spec/confidence.md §5 and §11.11.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence.terms import Domain, EventType, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence


class Outcome(StrEnum):
    """What went wrong between two agents, or was caught in time."""

    BAD_CONTEXT = "bad_context"
    GOOD_CONTEXT = "good_context"
    UNREVIEWED = "unreviewed"
    CAUGHT = "caught"


class Side(NamedTuple):
    """One side of a delegation."""

    agent_id: str
    runtime: str


QUARTER: dict[Severity, Severity | None] = {
    Severity.MILD: None,
    Severity.MEDIUM: Severity.MILD,
    Severity.SEVERE: Severity.MILD,
    Severity.CRITICAL: Severity.MEDIUM,
}
"""A quarter of 1, 3, 5 and 10 points in whole points, halves to the harsher side: 0, 1, 1, 3."""


def diagnosis(
    outcome: Outcome, orchestrator: Side, executor: Side, domain: Domain, severity: Severity
) -> Sequence[dict[str, Any]]:
    """Return what each side is held to: members of events without id, time and session; none inside one pool.

    Args:
        outcome: what was found.
        orchestrator: who delegated.
        executor: who carried it out.
        domain: where the executor failed; the orchestrator always answers in ORCH.
        severity: of the failure.
    """
    if orchestrator.runtime == executor.runtime:
        return ()
    if outcome is Outcome.BAD_CONTEXT:
        return (_error(orchestrator, "DELEGATION_FAIL", Domain.ORCH, severity),)
    if outcome is Outcome.CAUGHT:
        return (_event(orchestrator, EventType.PRO_PATTERN, "REVIEW_CATCH", Domain.ORCH),)
    failed = _error(executor, "EXECUTION_FAIL", domain, severity)
    share = severity if outcome is Outcome.UNREVIEWED else QUARTER[severity]
    if share is None:
        return (failed,)
    return (failed, _error(orchestrator, "EXECUTION_FAIL", Domain.ORCH, share))


def _error(side: Side, code: str, domain: Domain, severity: Severity) -> dict[str, Any]:
    return {**_event(side, EventType.ERROR, code, domain), "severity": severity.value}


def _event(side: Side, event_type: EventType, code: str, domain: Domain) -> dict[str, Any]:
    return {
        "event_type": event_type.value,
        "role": "agent",
        "subject_id": side.agent_id,
        "runtime": side.runtime,
        "domain": domain.value,
        "pattern_code": code,
    }
