"""One session of a stream while its events are read: its runs, steps, usage and approvals.

What belongs here: what an event adds. What does not: the totals of the result (claude_code_stream_totals).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ingest.extraction import parse_time, text_sha256
from governance_pipeline.ingest.formats.claude_code_approvals import MODE_MEMBER, ToolResult, answer_of
from governance_pipeline.ingest.formats.claude_code_lines import SYNTHETIC, blocks, text_of, tokens_of
from governance_pipeline.ingest.formats.claude_code_told import REPEATED_CALL
from governance_pipeline.ingest.formats.claude_code_tools import finish, is_opaque
from governance_pipeline.ingest.formats.runs import Run, Step
from governance_pipeline.ingest.formats.usage import UsageReport
from governance_pipeline.ingest.formats.values import entries, members, text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.claude_code_told import Told
    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.ingest.formats.runs import RunNames
    from governance_pipeline.ingest.formats.usage import Tokens

    Members = Mapping[str, Any]

FORMAT: Final = "claude_code_stream"
_ONE_CALL: Final = "one API call is written once per content block"


class Report(NamedTuple):
    """One usage report: where it stands, what is written there, whether its output count is final."""

    place: Place
    call_id: str | None
    usage: Members
    tokens: Tokens
    is_final: bool
    model: str | None
    at: datetime | None


@dataclass
class Thread:
    """The main chain of a session, or a sub-agent; `turns` are what opened each turn."""

    run: Run
    call: str | None = None
    reports: list[Report] = field(default_factory=list)
    turns: list[tuple[Place, str]] = field(default_factory=list)
    tool_calls: list[tuple[Place, Any]] = field(default_factory=list)
    streamed: str | None = None
    _first: dict[str | None, Report] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        """Keep a usage report."""
        self.reports.append(report)
        self._first.setdefault(report.call_id, report)

    def report_of(self, call_id: str | None) -> Report | None:
        """Give the first report of a message; None where it has no id or no report."""
        return None if call_id is None else self._first.get(call_id)


class Result(NamedTuple):
    """One result event."""

    place: Place
    value: Members


class TaskTotals(NamedTuple):
    """What the result of a call declares of the sub-agent the call started."""

    place: Place
    call_id: str
    value: Members


class Answer(NamedTuple):
    """One decision on a call, kept until the run has its name."""

    place: Place
    run: Run
    columns: Mapping[str, Any]


class Session:
    """One session of one file."""

    def __init__(self, place: Place, told: Told) -> None:
        self.place = place
        self._told = told
        self.session_id: str | None = None
        self.threads: dict[str | None, Thread] = {}
        self.results: list[Result] = []
        self.tasks: list[TaskTotals] = []
        self._steps: dict[str, tuple[Step, Thread, Members]] = {}
        self._answers: list[Answer] = []
        self._answered: set[str | None] = set()
        self._asked: dict[str, Members] = {}
        self._mode: str | None = None
        self._model: str | None = None
        self._platform: str | None = None

    @property
    def main(self) -> Thread:
        """The main chain."""
        return self._thread(self.place, None)

    def take(self, place: Place, event: Members) -> None:
        """Take in one event."""
        kind = event["type"]
        thread = self._thread(place, text(event.get("parent_tool_use_id")))
        thread.run.saw(parse_time(event.get("timestamp")))
        if kind == "assistant":
            self._take_answer(place, thread, event)
        elif kind == "user":
            self._take_input(place, thread, event)
        elif kind == "stream_event":
            self._take_partial(place, thread, members(event.get("event")))
        elif kind == "result":
            self._take_result(place, event)
        elif kind == "system" and event.get("subtype") == "init":
            self._take_init(place, thread, event)
        elif kind in ("control_request", "control_response"):
            self._take_control(place, thread, event)

    def write(self, out: Extraction, names: RunNames) -> list[UsageReport]:
        """Add runs, steps and approvals; give the usage reports."""
        main = self.main
        for thread in self.threads.values():
            self._name(thread, main, names)
        for thread in self.threads.values():
            for step in thread.run.steps:
                step.is_opaque = is_opaque(step)
            thread.run.write(out)
        for answer in self._answers:
            named = (answer.columns.get("call_id"), answer.columns["kind"])
            repeats = self._told.find("core_approvals", self.session_id, *named)
            if repeats is None:
                answer.place.add(out, "core_approvals", run_id=answer.run.run_id, **answer.columns)
            else:
                answer.place.file.repeated_part(answer.place.record_of(dict(answer.columns)), REPEATED_CALL, repeats)
        return [self._usage(thread.run, report) for thread in self.threads.values() for report in thread.reports]

    def _name(self, thread: Thread, main: Thread, names: RunNames) -> None:
        name = self.session_id or self.place.file.path
        run = thread.run
        run.session_id = self.session_id
        run.platform = self._platform
        run.working_dir = main.run.working_dir
        run.run_id = names.claim(name if thread.call is None else f"{name}/{thread.call}", self.place.file.path)
        if thread.call is None:
            run.used(self._model if not run.models else None)
            return
        known = self._steps.get(thread.call)
        run.parent_run_id = (known[1] if known else main).run.run_id
        run.agent_id = text(known[2].get("subagent_type")) if known else None

    def _thread(self, place: Place, call: str | None) -> Thread:
        return self.threads.setdefault(call, Thread(Run("", FORMAT, place), call))

    def _take_init(self, place: Place, thread: Thread, event: Members) -> None:
        version = text(event.get("claude_code_version"))
        self._platform = f"claude-code {version}" if version else self._platform
        self._model = text(event.get("model")) or self._model
        self.main.run.works_in(text(event.get("cwd")))
        mode = text(event.get(MODE_MEMBER))
        if mode is not None and mode != self._mode:
            self._mode = mode
            self._answer(Answer(place.below(f"/{MODE_MEMBER}"), thread.run, {"kind": "mode", "result": mode}))

    def _take_answer(self, place: Place, thread: Thread, event: Members) -> None:
        message = members(event["message"])
        if not thread.turns and thread.call is None:
            thread.turns.append((place.below("/type"), "assistant"))  # the prompt, which no event need show
        model = text(message.get("model"))
        thread.run.used(model if model != SYNTHETIC else None)
        for index, block in blocks(event, "tool_use"):
            self._take_call(place.below(f"/message/content/{index}"), thread, block, event)
        if isinstance(message.get("usage"), dict):
            usage, call_id = members(message["usage"]), text(message.get("id"))
            is_final = message.get("stop_reason") is not None
            at = parse_time(event.get("timestamp"))
            where = place.below("/message/usage")
            thread.add(Report(where, call_id, usage, tokens_of(usage, model), is_final, model, at))

    def _take_call(self, place: Place, thread: Thread, block: Members, event: Members) -> None:
        call_id = text(block.get("id"))
        if call_id is not None and call_id in self._steps:
            return
        call = members(block.get("input"))
        step = Step(
            place,
            tool=text(block.get("name")),
            call_id=call_id,
            command=text(call.get("command")),
            at=parse_time(event.get("timestamp")),
        )
        repeats = self._told.find("core_steps", self.session_id, call_id)
        if repeats is None:
            thread.run.steps.append(step)
        else:
            place.file.repeated_part(place.record_of(block), REPEATED_CALL, repeats)
        thread.tool_calls.append((place.below("/id"), call_id))
        if call_id is not None:
            self._steps[call_id] = (step, thread, call)

    def _take_input(self, place: Place, thread: Thread, event: Members) -> None:
        results = list(blocks(event, "tool_result"))
        structured = event.get("tool_use_result") if len(results) == 1 else None
        line = {"toolUseResult": structured}
        if results and thread.call is None:
            thread.turns.append((place.below("/type"), "user"))
        for index, block in results:
            call_id = text(block.get("tool_use_id")) or ""
            step, owner, call = self._steps.get(call_id, (None, thread, {}))
            output = text_of(block.get("content"))
            at = parse_time(event.get("timestamp"))
            answer = answer_of(ToolResult(block, output, line, step.tool if step else None, at))
            if answer is not None:
                self._answer(Answer(place.below(f"/message/content/{index}"), owner.run, answer))
            if step is not None:
                finish(step, call, block, output, line)
                step.output_sha256 = text_sha256(output)
                self.tasks.append(TaskTotals(place.below("/tool_use_result"), call_id, members(structured)))

    def _take_partial(self, place: Place, thread: Thread, event: Members) -> None:
        """Take in a raw event of the API: the last `message_delta` of a message has its final counts."""
        if event.get("type") == "message_start":
            thread.streamed = text(members(event.get("message")).get("id"))
        usage = members(event.get("usage"))
        output = whole(usage.get("output_tokens"))
        if event.get("type") != "message_delta" or output is None:
            return
        first = thread.report_of(thread.streamed)
        if first is None:
            return
        where = place.below("/event/usage")
        merged = {**first.usage, "output_tokens": output}
        tokens = first.tokens._replace(output=output)
        thread.add(Report(where, first.call_id, merged, tokens, True, first.model, None))

    def _take_result(self, place: Place, event: Members) -> None:
        self.results.append(Result(place, event))
        run = self.main.run
        run.exit_status = text(event.get("subtype")) or run.exit_status
        for index, denial in enumerate(entries(event.get("permission_denials"))):
            columns = {"kind": "rejected", "call_id": text(members(denial).get("tool_use_id"))}
            if columns["call_id"] is None or columns["call_id"] not in self._answered:
                self._answer(Answer(place.below(f"/permission_denials/{index}"), run, columns))

    def _answer(self, answer: Answer) -> None:
        self._answers.append(answer)
        self._answered.add(answer.columns.get("call_id"))

    def _take_control(self, place: Place, thread: Thread, event: Members) -> None:
        """Take in the SDK's question whether a tool may be used, and its host's answer: a person or a program."""
        request = members(event.get("request"))
        response = members(event.get("response"))
        if event["type"] == "control_request" and request.get("subtype") == "can_use_tool":
            self._asked[text(event.get("request_id")) or ""] = request
        asked = self._asked.get(text(response.get("request_id")) or "")
        answer = members(response.get("response"))
        kind = {"allow": "approved", "deny": "rejected"}.get(text(answer.get("behavior")) or "")
        if asked is not None and kind is not None:
            call_id = text(asked.get("tool_use_id"))
            columns = {"kind": kind, "call_id": call_id, "reason": text(answer.get("message"))}
            self._answer(Answer(place.below("/response/response"), thread.run, columns))

    def _usage(self, run: Run, report: Report) -> UsageReport:
        repeats = self._told.find("core_usage", self.session_id, report.call_id)
        return UsageReport(
            report.place,
            run.run_id,
            report.tokens,
            call_id=report.call_id,
            key=report.call_id,
            reason=_ONE_CALL if repeats is None else repeats.reason,
            model=report.model,
            is_cache_inside_input=False,
            at=report.at,
            told_at=None if repeats is None else repeats.of,
        )
