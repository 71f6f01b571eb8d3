"""Conversations of the OpenHands SDK v1: `base_state.json` with `events/*.json`, or one file of events.

What belongs here: state documents and events of one conversation. What does not: which files belong together
(openhands). An event has `kind`, `id`, `source` and `timestamp` (local, without an offset: not kept); an ActionEvent
is a tool call, answered by the event that names it in `action_id` (older ones: its `tool_call_id`).

`stats.usage_to_metrics` holds one metrics object per role (agent, condenser …). The state has it with the lists of
all calls; events with the key `stats` repeat it without them, cumulative: the last one before the end counts, none
when the state is there, and they are never added up.

`confirmation_policy` says what needs approval. While the execution status is `waiting_for_confirmation`, the calls
without an answer wait for the user: answered by an observation they were approved, by a rejection whose source is not a
hook they were refused. A hook that blocks a call is a rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time, text_sha256, value_kind
from governance_pipeline.ingest.formats.aggregates import Subject
from governance_pipeline.ingest.formats.openhands_approvals import (
    APPROVED,
    DENIED,
    HUMAN,
    MODE,
    MODEL,
    REVIEW,
    RULE,
    Approval,
    write_approvals,
)
from governance_pipeline.ingest.formats.openhands_metrics import add_parts, declare_totals, metric_reports
from governance_pipeline.ingest.formats.openhands_tools import (
    EDITORS,
    SHELLS,
    edit_of,
    exit_code_of,
    is_opaque,
)
from governance_pipeline.ingest.formats.places import Place, escaped
from governance_pipeline.ingest.formats.runs import ERROR, OK, REJECTED, Step
from governance_pipeline.ingest.formats.values import entries, members, text
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.runs import Run, RunNames
    from governance_pipeline.ingest.formats.usage import UsageReport

    Members = Mapping[str, Any]

SOURCES: Final = frozenset({"agent", "user", "environment", "hook"})
_METRICS: Final = "usage_to_metrics"
_POLICY: Final = "confirmation_policy"
_WAITING: Final = "waiting_for_confirmation"
_REASON: Final = "rejection_reason"


def is_state(value: Any) -> bool:
    """Tell the state document of a conversation."""
    state = members(value)
    has_status = "execution_status" in state or "agent_status" in state
    return isinstance(state.get("agent"), dict) and (has_status or _METRICS in members(state.get("stats")))


def is_event(value: Any) -> bool:
    """Tell an event of a conversation."""
    event = members(value)
    has_kind = text(event.get("kind")) is not None and text(event.get("source")) in SOURCES
    return has_kind and text(event.get("id")) is not None and text(event.get("timestamp")) is not None


@dataclass
class Conversation:
    """One conversation while it is being read."""

    run: Run
    reports: list[UsageReport] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)
    _waiting_before: int = 0
    _stats: tuple[Place, Members] | None = None
    _has_state: bool = False
    _calls: list[tuple[Step, str, Members]] = field(default_factory=list)
    _by_id: dict[str, tuple[Step, str, Members]] = field(default_factory=dict)
    _positions: dict[int, int] = field(default_factory=dict)

    def take_state(self, place: Place, state: Members) -> None:
        """Take in a state document, or the state an event holds."""
        llm = members(members(state.get("agent")).get("llm"))
        self.run.session_id = text(state.get("id")) or self.run.session_id
        self.run.used(text(llm.get("model")))
        self.run.thinking = text(llm.get("reasoning_effort")) or self.run.thinking
        status = text(state.get("execution_status")) or text(state.get("agent_status"))
        self.run.exit_status = status or self.run.exit_status
        self._take_policy(place.below(f"/{_POLICY}"), state.get(_POLICY))
        if isinstance(state.get("stats"), dict):
            self._stats, self._has_state = (place.below("/stats"), state["stats"]), True

    def take_event(self, place: Place, event: Members) -> None:
        """Take in one event."""
        self.run.saw(parse_time(event.get("timestamp")))
        key, value = event.get("key"), event.get("value")
        if isinstance(event.get("tool_call"), dict) or "action" in event:
            self._take_action(place, event)
        elif key == _POLICY:
            self._take_policy(place.below("/value"), value)
        elif key == "execution_status" and value == _WAITING:
            self._waiting_before = len(self._calls)
        elif key == "stats" and isinstance(value, dict) and not self._has_state:
            self._stats = (place.below("/value"), value)
        elif key == "execution_status" and not self._has_state:
            self.run.exit_status = text(value) or self.run.exit_status
        elif key == "full_state" and not self._has_state:
            self.take_state(place.below("/value"), members(value))
        else:
            self._take_answer(place, event)

    def write(self, out: Extraction, names: RunNames) -> None:
        """Add the rows of the conversation; its usage reports are left in `reports`.

        The subject of a metrics object is ``run/usage id``; `names` keeps it apart from any other.
        """
        for step, tool, arguments in self._calls:
            step.is_opaque = is_opaque(step, tool, arguments)
        for usage_id, place, metrics in self._metrics():
            self.run.used(text(metrics.get("model_name")) if entries(metrics.get("token_usages")) else None)
            path = place.file.path
            subject = Subject(out, self.run.format, names.claim(f"{self.run.run_id}/{usage_id}", path), [path])
            declare_totals(subject, place, metrics)
            add_parts(subject, place, metrics)
            self.reports += metric_reports(self.run, place, metrics)
        for report in self.reports:
            self.run.saw(report.at)
        self.run.write(out)
        write_approvals(out, self.run, self.approvals)

    def _metrics(self) -> Iterator[tuple[str, Place, Members]]:
        if self._stats is not None:
            place, stats = self._stats
            for usage_id, metrics in members(stats.get(_METRICS)).items():
                yield usage_id, place.below(f"/{_METRICS}{escaped(usage_id)}"), members(metrics)

    def _take_action(self, place: Place, event: Members) -> None:
        tool, arguments = text(event.get("tool_name")) or "", members(event.get("action"))
        call_id = text(event.get("tool_call_id"))
        step = Step(
            place,
            tool=tool or None,
            call_id=call_id,
            command=text(arguments.get("command")) if tool in SHELLS else None,
            at=parse_time(event.get("timestamp")),
        )
        self.run.steps.append(step)
        critic = members(event.get("critic_result"))
        if value_kind(critic.get("score")) is ValueKind.NUMBER:
            result, where = f"score: {critic['score']}", place.below("/critic_result")
            self.approvals.append(Approval(where, REVIEW, MODEL, call_id, result, text(critic.get("message"))))
        call = (step, tool, arguments)
        self._positions[id(step)] = len(self._calls)
        self._calls.append(call)
        for name in (text(event.get("id")), call_id):
            if name is not None:
                self._by_id[name] = call

    def _take_policy(self, place: Place, policy: Any) -> None:
        kind = text(members(policy).get("kind"))
        if kind is not None:
            self.approvals.append(Approval(place, MODE, result=kind))

    def _decide(self, place: Place, step: Step, event: Members) -> None:
        """Note that a call was refused, or approved where it waited for the user."""
        at = parse_time(event.get("timestamp"))
        if _REASON in event:
            by = HUMAN if event.get("rejection_source", "user") == "user" else RULE
            self.approvals.append(Approval(place, DENIED, by, step.call_id, reason=text(event[_REASON]), at=at))
        elif step.status is None and self._positions[id(step)] < self._waiting_before:
            self.approvals.append(Approval(place, APPROVED, HUMAN, step.call_id, result=_WAITING, at=at))

    def _take_answer(self, place: Place, event: Members) -> None:
        name = text(event.get("action_id")) or text(event.get("tool_call_id"))
        call = self._by_id.get(name) if name is not None else None
        if call is None:
            return
        step, tool, arguments = call
        report = members(event.get("observation"))
        output = _text_of(report.get("content"))
        self._decide(place, step, event)
        step.status = _status(event, report)
        step.exit_code = exit_code_of(report)
        if step.status == OK and step.exit_code not in (0, None):
            step.status = ERROR
        step.output_sha256 = text_sha256(output)
        if step.status == OK and tool in EDITORS and arguments.get("command") != "view":
            change = edit_of(tool, report, text(arguments.get("path")) or text(arguments.get("file_path")))
            step.changes = [] if change is None else [change]


def _status(event: Members, report: Members) -> str:
    if _REASON in event:  # a hook that blocks a call is no person
        return REJECTED if event.get("rejection_source", "user") == "user" else ERROR
    is_error = "error" in event or report.get("is_error") is True or report.get("timeout") is True
    return ERROR if is_error else OK


def _text_of(content: Any) -> str | None:
    texts = [members(block)["text"] for block in entries(content) if isinstance(members(block).get("text"), str)]
    return content if isinstance(content, str) else "\n".join(texts) if texts else None
