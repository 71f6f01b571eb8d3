"""Samples of Inspect AI logs: one sample in one epoch is one run with its events.

What belongs here: runs, steps, usage and decisions of one sample. What does not: totals of the log (inspect_ai_totals).

A tool call is a `tool` event; a log without events has them in its messages. Long texts are replaced by
``attachment://<digest>`` and stand in `attachments`. Up to 2025 the events of a tool or sub-task are nested in its own
event, later all are in one list with spans.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time, text_sha256, value_raw
from governance_pipeline.ingest.formats import tool_calls
from governance_pipeline.ingest.formats.places import Place, escaped
from governance_pipeline.ingest.formats.runs import ERROR, OK, REJECTED, Run, Step
from governance_pipeline.ingest.formats.usage import Tokens, UsageReport
from governance_pipeline.ingest.formats.values import entries, members, text, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.ingest.extraction import Extraction

    Members = Mapping[str, Any]

ATTACHMENT: Final = "attachment://"
_APPROVAL: Final = "approval"
_CUT_OFF: Final = ("timeout", "limit", "output_limit", "unicode_decode")
"""Errors of a call (inspect_ai `tool/_tool_call.py`) that say nothing of what the tool had done to files by then;
`unknown` is what a tool raises that refuses."""
_DECISIONS: Final = {"approve": "approved", "modify": "approved", "reject": "rejected", "terminate": "rejected"}
"""Decision of an approver -> kind; escalate leaves it to the next one and is a review."""

_APPROVERS: Final = {"human": "human", "auto": "rule"}
_JUDGED_BY_MODEL: Final = ("model_graded", "inspect_ai/model_graded")


@dataclass
class SampleRun:
    """One sample while it is being read."""

    run: Run
    place: Place
    sample: Members

    def events(self) -> Iterator[tuple[str, Members]]:
        """Give each event with its pointer in the sample, nested ones after the one they are in."""
        yield from _events(self.sample.get("events"), "/events")

    def reports(self) -> Iterator[tuple[str, str, Members, Members]]:
        """Give each model call with usage: model, pointer of the report, event, report.

        An answer from Inspect's own cache (`cache` is read) repeats the usage of the call it remembers; nobody was
        called, and Inspect does not count it.
        """
        for pointer, event in self.events():
            usage = members(event.get("output")).get("usage")
            if event.get("event") == "model" and isinstance(usage, dict) and event.get("cache") != "read":
                yield text(event.get("model")) or "", f"{pointer}/output/usage", event, usage

    def write(self, out: Extraction) -> None:
        """Add the run with its steps and decisions."""
        self._describe()
        self._take_steps()
        self.run.write(out)
        for pointer, event in self.events():
            if event.get("event") == _APPROVAL:
                _write_decision(out, self.place.below(pointer), self.run, event)
        for name, score in members(self.sample.get("scores")).items():
            _write_review(out, self.place, self.run, name, members(score))

    def usage(self) -> Iterator[UsageReport]:
        """Give the usage of each call; of a sample that has no event with usage, its totals by model."""
        found = list(self.reports())
        for model, pointer, event, report in found:
            yield _usage(self.place.below(pointer), self.run, model, report, event)
        if not found:
            for model, report in members(self.sample.get("model_usage")).items():
                place = self.place.below("/model_usage" + escaped(model))
                yield _usage(place, self.run, model, members(report), {})

    def _describe(self) -> None:
        run, sample = self.run, self.sample
        for name in ("started_at", "completed_at"):
            run.saw(parse_time(sample.get(name)))
        for _, event in self.events():
            run.saw(parse_time(event.get("timestamp")))
            run.saw(parse_time(event.get("completed")))
            if event.get("event") == "model":
                run.used(text(event.get("model")))
                run.thinking = run.thinking or text(members(event.get("config")).get("reasoning_effort"))
        limit = text(members(sample.get("limit")).get("type"))
        run.exit_status = ERROR if sample.get("error") is not None else limit and f"{limit} limit"

    def _take_steps(self) -> None:
        agents: dict[str, str] = {}
        for pointer, event in self.events():
            kind, span = event.get("event"), text(event.get("span_id")) or ""
            if kind == "span_begin":
                name = text(event.get("name")) if event.get("type") == "agent" else None
                agents[text(event.get("id")) or ""] = name or agents.get(text(event.get("parent_id")) or "", "")
            elif kind == "tool":
                step = self._step(pointer, event, event.get("result"), event.get("arguments"))
                step.agent_id = agents.get(span) or None
                step.at = parse_time(event.get("timestamp"))
                ended = parse_time(event.get("completed"))
                if step.at is not None and ended is not None and ended >= step.at:
                    step.duration_s = (ended - step.at).total_seconds()
                self.run.steps.append(step)
        if not self.run.steps:
            self.run.steps += self._steps_of_messages()

    def _steps_of_messages(self) -> Iterator[Step]:
        calls: dict[str, Any] = {}
        for index, message in enumerate(members(m) for m in entries(self.sample.get("messages"))):
            for call in entries(message.get("tool_calls")):
                calls[text(members(call).get("id")) or ""] = members(call).get("arguments")
            if message.get("role") == "tool":
                call_id = text(message.get("tool_call_id"))
                answer = {**message, "id": call_id}
                yield self._step(f"/messages/{index}", answer, message.get("content"), calls.get(call_id or ""))

    def _step(self, pointer: str, event: Members, result: Any, arguments: Any) -> Step:
        arguments = {name: self._resolved(value) for name, value in members(arguments).items()}
        tool = text(event.get("function"))
        step = Step(self.place.below(pointer), tool, text(event.get("id")), tool_calls.command_of(tool, arguments))
        failure = event.get("error")
        is_failed = failure is not None or event.get("failed") is True
        is_rejected = members(failure).get("type") == _APPROVAL
        is_ended = event.get("pending") is not True  # a log that broke off holds calls nobody saw the end of
        step.status = REJECTED if is_rejected else ERROR if is_failed else OK if is_ended else None
        answer = self._resolved(result)
        step.output_sha256 = text_sha256(answer)
        tool_calls.finish(step, arguments, answer)
        if members(failure).get("type") in _CUT_OFF and _may_edit(tool, arguments):
            step.is_opaque = True
        return step

    def _resolved(self, value: Any) -> Any:
        """Give the text an attachment stands for, None where it is lost; anything else as it is."""
        name = text(value)
        if name is None or not name.startswith(ATTACHMENT):
            return value
        return members(self.sample.get("attachments")).get(name.removeprefix(ATTACHMENT))


def _may_edit(tool: str | None, arguments: Members) -> bool:
    is_editor = (tool or "").lower() in tool_calls.EDITORS | tool_calls.PATCHERS
    return is_editor and arguments.get("command") != "view"


def _events(values: Any, pointer: str) -> Iterator[tuple[str, Members]]:
    for index, value in enumerate(entries(values)):
        event = members(value)
        yield f"{pointer}/{index}", event
        yield from _events(event.get("events"), f"{pointer}/{index}/events")


def _usage(place: Place, run: Run, model: str, report: Members, event: Members) -> UsageReport:
    tokens = Tokens(
        input=whole(report.get("input_tokens")),
        output=whole(report.get("output_tokens")),
        cache_creation=whole(report.get("input_tokens_cache_write")),
        cache_read=whole(report.get("input_tokens_cache_read")),
        reasoning=whole(report.get("reasoning_tokens")),
    )
    return UsageReport(
        place,
        run.run_id,
        tokens.or_unknown(),
        call_id=text(event.get("uuid")),
        model=model or None,
        is_cache_inside_input=False,
        cost=report.get("total_cost"),
        at=parse_time(event.get("timestamp")),
    )


def _write_decision(out: Extraction, place: Place, run: Run, event: Members) -> None:
    decision, approver = text(event.get("decision")), text(event.get("approver"))
    place.add(
        out,
        "core_approvals",
        run_id=run.run_id,
        kind=_DECISIONS.get(decision or "", "review"),
        by=_APPROVERS.get(approver or ""),
        by_id=approver,
        call_id=text(members(event.get("call")).get("id")),
        result=decision,
        reason=text(event.get("explanation")),
        at=parse_time(event.get("timestamp")),
    )


def _write_review(out: Extraction, place: Place, run: Run, scorer: str, score: Members) -> None:
    """Write the verdict of a scorer: a model where its name says so, else nobody knows (rules have any name)."""
    place.below("/scores" + escaped(scorer)).add(
        out,
        "core_approvals",
        run_id=run.run_id,
        kind="review",
        by="model" if scorer.startswith(_JUDGED_BY_MODEL) else None,
        by_id=scorer or None,
        result=value_raw(score.get("value")),
        reason=text(score.get("explanation")),
    )
