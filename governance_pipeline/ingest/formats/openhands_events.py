"""The event stream of OpenHands before SDK v1: actions and the observations that answer them.

What belongs here: events of one run, from an evaluation record or a stream. What does not: metrics and verdicts.

Structure: `action` or `observation`, `source`, `timestamp`, `args` or `extras`, `id`, and `cause` (the action an
observation answers). Three generations: pairs [action, observation] without `cause` (2024), flat objects with all
members at the top and no ids (resolver, 2024), flat events with ids (2025). An observation without `cause` answers
the action right before it, but only where events have no ids: with ids it answers nobody (a malformed tool call).
Times have no offset and are local to a container, so they name no instant and are not kept.

In confirmation mode (`controller/agent_controller.py`) an action is written twice: first as awaiting confirmation, when
it has not run, and again, as confirmed or rejected, once the user has answered. `confirmed` alone is the default of
every action and nobody's approval.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time, text_sha256, value_raw
from governance_pipeline.ingest.formats.openhands_approvals import APPROVED, DENIED, HUMAN, MODE, Approval
from governance_pipeline.ingest.formats.openhands_metrics import response_report
from governance_pipeline.ingest.formats.openhands_tools import (
    EDITORS,
    SHELLS,
    edit_of,
    event_status,
    exit_code_of,
    is_opaque,
)
from governance_pipeline.ingest.formats.runs import OK, REJECTED, Step
from governance_pipeline.ingest.formats.values import members, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.ingest.formats.runs import Run
    from governance_pipeline.ingest.formats.usage import UsageReport

    Members = Mapping[str, Any]

NO_STEPS: Final = frozenset(
    """message system recall null start pause resume stop change_agent_state condensation condensation_request
    loop_recovery""".split()  # noqa: SIM905 - a list of words
)
"""Actions that call no tool."""

_AWAITING: Final = "awaiting_confirmation"
_REJECTED: Final = "rejected"


def is_event(value: Any) -> bool:
    """Tell an event of the stream."""
    event = members(value)
    kind = event.get("action", event.get("observation"))
    return isinstance(kind, str) and ("action" in event) != ("observation" in event)


@dataclass
class _Call:
    step: Step
    kind: str
    arguments: Members
    approval: Approval | None = None


@dataclass
class EventStream:
    """The events of one run, in order."""

    run: Run
    reports: list[UsageReport] = field(default_factory=list)
    snapshot: tuple[Place, Members] | None = None
    approvals: list[Approval] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)
    _by_event: dict[int, _Call] = field(default_factory=dict)
    _last: _Call | None = None
    _is_awaiting: bool = False

    def take(self, place: Place, value: Any) -> None:
        """Take in one event, or a pair of an action and its observation."""
        if isinstance(value, list):
            for index, event in enumerate(value):
                self._take_event(place.below(f"/{index}"), members(event))
        else:
            self._take_event(place, members(value))

    def close(self) -> None:
        """Decide what the steps did to files, now that all answers are in."""
        for call in self._calls:
            call.step.is_opaque = is_opaque(call.step, call.kind, call.arguments)

    def _take_event(self, place: Place, event: Members) -> None:
        self.run.saw(parse_time(event.get("timestamp")))
        response = members(members(event.get("tool_call_metadata")).get("model_response"))
        report = response_report(self.run, place.below("/tool_call_metadata/model_response"), response)
        if report is not None:
            self.run.saw(report.at)
            self.run.used(report.model)
            self.reports.append(report)
        if isinstance(event.get("llm_metrics"), dict):
            self.snapshot = (place.below("/llm_metrics"), event["llm_metrics"])
        if isinstance(event.get("action"), str):
            self._take_action(place, event, event["action"])
        elif isinstance(event.get("observation"), str):
            self._take_observation(place, event, event["observation"])

    def _take_action(self, place: Place, event: Members, kind: str) -> None:
        self._last = None
        if kind in NO_STEPS:
            return
        arguments = members(event.get("args")) or event
        state = text(arguments.get("confirmation_state")) or text(arguments.get("is_confirmed"))
        if state == _AWAITING:
            self._ask(place)
            return
        called = members(event.get("tool_call_metadata"))
        step = Step(
            place,
            tool=text(called.get("function_name")) or kind,
            call_id=text(called.get("tool_call_id")),
            command=text(arguments.get("command")) if kind in SHELLS else None,
            at=parse_time(event.get("timestamp")),
        )
        if state == _REJECTED:
            step.status = REJECTED
        completed = value_raw(arguments.get("task_completed"))
        if kind == "finish" and completed is not None:
            step.self_reported_status = self.run.self_reported_status = f"task_completed: {completed}"
        call = self._last = _Call(step, kind, arguments, self._answered(step, state))
        self._calls.append(call)
        self.run.steps.append(step)
        if isinstance(event.get("id"), int):
            self._by_event[event["id"]] = call

    def _ask(self, place: Place) -> None:
        if not any(approval.kind == MODE for approval in self.approvals):
            self.approvals.append(Approval(place, MODE, result=_AWAITING))
        self._is_awaiting = True

    def _answered(self, step: Step, state: str | None) -> Approval | None:
        """Give what the user decided on a call; None where nobody was asked, which `confirmed` does not tell."""
        if not self._is_awaiting and state != _REJECTED:
            return None
        self._is_awaiting = False
        kind = DENIED if state == _REJECTED else APPROVED
        approval = Approval(step.place, kind, HUMAN, step.call_id, result=state, at=step.at)
        self.approvals.append(approval)
        return approval

    def _refused(self, place: Place, call: _Call, reason: str | None) -> None:
        if call.approval is None:
            call.approval = Approval(place, DENIED, HUMAN, call.step.call_id, result="user_rejected")
            self.approvals.append(call.approval)
        call.approval.kind, call.approval.reason = DENIED, reason

    def _take_observation(self, place: Place, event: Members, kind: str) -> None:
        cause = event.get("cause")
        call = self._by_event.get(cause) if isinstance(cause, int) else self._last if "id" not in event else None
        self._last = None
        if call is None or kind == "null":
            return
        step, report = call.step, members(event.get("extras")) or event
        content = event.get("content")
        output = content if isinstance(content, str) else None
        step.exit_code = exit_code_of(report)
        if kind == "user_rejected":
            self._refused(place, call, text(output))
        if step.status != REJECTED:
            step.status = event_status(kind, event, output, step.exit_code)
        step.output_sha256 = text_sha256(output)
        if step.status == OK and call.kind in EDITORS and kind in EDITORS:
            change = edit_of(step.tool, report, text(call.arguments.get("path")))
            step.changes = [] if change is None else [change]
