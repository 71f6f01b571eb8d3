"""Sessions of Codex while their lines are read: one session is one run, over one file or several.

What belongs here: what each kind of line adds to a session, and what a session becomes. What does not: which file a
line is in (codex_rollout), tools (codex_tools) and token counts (codex_counts).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time
from governance_pipeline.ingest.formats import codex_tools
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.codex_approvals import (
    HUMAN,
    REJECTED,
    Approval,
    mode_of,
    refusal_of,
    verdict_of,
)
from governance_pipeline.ingest.formats.runs import REJECTED as STEP_REJECTED
from governance_pipeline.ingest.formats.runs import Run, Step
from governance_pipeline.ingest.formats.values import members, text
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.codex_counts import Counts
    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

CALLS: Final = {
    "function_call": None,
    "custom_tool_call": None,
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}
"""Response items that are calls of a tool, and the tool where the item does not name it."""

OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
ENDS: Final = {
    "exec_command_end": "exec_command",
    "patch_apply_end": codex_tools.PATCH,
    "mcp_tool_call_end": "mcp_tool_call",
    "dynamic_tool_call_response": "dynamic_tool_call",
    "CommandExecution": "exec_command",
    "FileChange": codex_tools.PATCH,
    "McpToolCall": "mcp_tool_call",
}
"""Events and completed items that say how a call ended, and the tool where none is named."""

UNCHECKED: Final = {
    "duration_ms": Field("task_duration_ms", DataType.INTEGER, "ms"),
    "time_to_first_token_ms": Field("time_to_first_token_ms", DataType.INTEGER, "ms"),
    "tokensUsed": Field("goal_tokens_used", DataType.INTEGER, "tokens"),
    "timeUsedSeconds": Field("goal_time_used_s", DataType.INTEGER, "s"),
}
_TURN_ENDS: Final = frozenset({"task_complete", "turn_aborted"})


@dataclass
class Call:
    """A step, and what is needed to tell what it did to files."""

    step: Step
    arguments: Any = None
    output: str | None = None
    is_read_only: bool = False


@dataclass
class Session:
    """One session; `forked_from` is the session its first lines are copied from, `parent` the one that started it."""

    run: Run
    counts: Counts
    parent: str | None = None
    forked_from: str | None = None
    model: str | None = None
    files: set[str] = field(default_factory=set)
    calls: dict[str, Call] = field(default_factory=dict)
    spawned: list[str] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)
    _nameless: int = 0
    _mode: tuple[str | None, str | None] = (None, None)
    _declared: list[tuple[Place, str, Field, Any]] = field(default_factory=list)

    def begin(self, meta: Members) -> None:
        """Take in the meta line a file begins with."""
        run, spawn = self.run, members(members(members(meta.get("source")).get("subagent")).get("thread_spawn"))
        self.forked_from = text(meta.get("forked_from_id")) or self.forked_from
        started_by = text(meta.get("parent_thread_id")) or text(spawn.get("parent_thread_id"))
        self.parent = started_by or self.forked_from or self.parent
        names = (text(source.get(name)) for source in (meta, spawn) for name in ("agent_nickname", "agent_role"))
        run.agent_id = next((name for name in names if name is not None), run.agent_id)
        parts = [part for name in ("originator", "cli_version") if (part := text(meta.get(name))) is not None]
        run.platform = " ".join(parts) or run.platform
        run.works_in(text(meta.get("cwd")))

    def take(self, place: Place, line: Members) -> None:
        """Take in one line; `place` is its payload."""
        payload, at = members(line.get("payload")), parse_time(line.get("timestamp"))
        self.run.saw(at)
        kind, name = line.get("type"), text(payload.get("type"))
        if kind == "turn_context":
            self._take_context(place, payload, at)
        elif kind == "response_item" and name in CALLS:
            self._take_call(place, payload, at)
        elif kind == "response_item" and name in OUTPUTS:
            self._take_output(place, payload, at)
        elif kind == "event_msg" and name is not None:
            self._take_event(place, name, payload, at)

    def settle(self, copied: AbstractSet[str]) -> None:
        """Tell what each step did, and leave the calls in `copied` to the session that made them."""
        for call_id, call in self.calls.items():
            patch = codex_tools.patch_of(call.step.tool, call.arguments, call.step.command)
            codex_tools.close(call.step, patch, is_read_only=call.is_read_only, output=call.output)
            if call_id not in copied:
                self.run.steps.append(call.step)
        self.approvals = [found for found in self.approvals if found.call_id is None or found.call_id not in copied]

    def write(self, out: Extraction, format_name: str) -> None:
        """Add all rows but those of usage."""
        self.run.write(out)
        for approval in self.approvals:
            approval.write(out, self.run.run_id)
        self.counts.declare(Subject(out, format_name, self.run.run_id, self.files))
        for place, part, declared, value in self._declared:
            Subject(out, format_name, f"{self.run.run_id}/{part}", self.files).declare(place, declared, value)

    def _take_context(self, place: Place, context: Members, at: datetime | None) -> None:
        settings = members(members(context.get("collaboration_mode")).get("settings"))
        self.model = text(context.get("model")) or text(settings.get("model")) or self.model
        self.run.used(self.model)
        effort = text(context.get("effort")) or text(context.get("reasoning_effort"))
        self.run.thinking = effort or text(settings.get("reasoning_effort")) or self.run.thinking
        mode = mode_of(place, context, at)
        if mode is not None and (mode.result, mode.by_id) != self._mode:
            self._mode = (mode.result, mode.by_id)
            self.approvals.append(mode)

    def _take_call(self, place: Place, payload: Members, at: datetime | None) -> None:
        tool = text(payload.get("name")) or CALLS[payload["type"]]
        arguments = codex_tools.arguments_of(payload)
        call = self._call(text(payload.get("call_id")) or text(payload.get("id")), place, tool, at)
        call.arguments = arguments
        call.step.command = codex_tools.command_of(tool, arguments)

    def _take_output(self, place: Place, payload: Members, at: datetime | None) -> None:
        call = self.calls.get(text(payload.get("call_id")) or "")
        if call is None:
            return
        call.output = codex_tools.answer(call.step, payload.get("output"))
        if call.step.status == STEP_REJECTED:
            self._refused(Approval(place, REJECTED, at, HUMAN, None, call.step.call_id, call.output))

    def _take_event(self, place: Place, name: str, event: Members, at: datetime | None) -> None:
        item = members(event.get("item")) if name == "item_completed" else event
        ended = text(item.get("type")) if name == "item_completed" else name
        if name == "token_count":
            self.counts.take(place.below("/info"), members(event.get("info")), self.model, at)
        elif ended in ENDS:
            self._take_end(place if item is event else place.below("/item"), ended, item, at)
        elif name in _TURN_ENDS:
            reason = text(event.get("reason"))
            self.run.exit_status = name if reason is None else f"{name}: {reason}"
            self._declare(place, text(event.get("turn_id")) or "turn", event)
        elif name == "task_started":
            self.run.exit_status = None  # a turn that was begun and not ended has no status
        elif name == "thread_goal_updated":
            self._declare(place.below("/goal"), "goal", members(event.get("goal")))
        elif name == "thread_settings_applied":
            self._take_context(place.below("/thread_settings"), members(event.get("thread_settings")), at)
        elif name == "collab_agent_spawn_end" and text(event.get("new_thread_id")) is not None:
            self.spawned.append(event["new_thread_id"])
        elif name == "undo_completed" and event.get("success") is True:
            self._call(None, place, "undo", at).step.status = "ok"  # which files went back is not said: opaque
        elif (verdict := verdict_of(place, event, at)) is not None:
            self.approvals.append(verdict)

    def _take_end(self, place: Place, ended: str, event: Members, at: datetime | None) -> None:
        """Complete the call an event is of; one without a call (a person's own command) is a step of its own."""
        invocation = members(event.get("invocation"))
        source = "user_shell" if event.get("source") in ("user_shell", "userShell") else None
        tool = source or text(invocation.get("tool")) or text(event.get("tool")) or ENDS[ended]
        call = self._call(text(event.get("call_id")) or text(event.get("id")), place, tool, at)
        if call.step.command is None and call.step.tool in codex_tools.SHELLS:
            call.step.command = codex_tools.command_text(event.get("command"))
        call.is_read_only |= event.get("read_only_hint", event.get("readOnlyHint")) is True
        codex_tools.ended(call.step, event)
        refusal = refusal_of(place, event, at)
        if refusal is not None:
            by = HUMAN if call.step.status == STEP_REJECTED else None
            self._refused(refusal._replace(by=by, call_id=call.step.call_id))

    def _call(self, call_id: str | None, place: Place, tool: str | None, at: datetime | None) -> Call:
        if call_id is None:
            self._nameless += 1
        key = call_id or f"#{self._nameless}"
        if key not in self.calls:
            self.calls[key] = Call(Step(place, tool, call_id, at=at))
        return self.calls[key]

    def _refused(self, refusal: Approval) -> None:
        """Note a refusal once: the event and the output of one call both tell of it."""
        if all((found.kind, found.call_id) != (REJECTED, refusal.call_id) for found in self.approvals):
            self.approvals.append(refusal)

    def _declare(self, place: Place, part: str, values: Members) -> None:
        for member, declared in UNCHECKED.items():
            if values.get(member) is not None:
                self._declared.append((place.below(f"/{member}"), part, declared, values[member]))
