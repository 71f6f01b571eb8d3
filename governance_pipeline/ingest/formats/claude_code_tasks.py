"""Totals a parent's Task result declares of the sub-agent it ran, and the parts they can be recomputed from.

What belongs here: joining a result with its sub-agent. What does not: reading lines. Since 2.x a result names its
`agentId`; before, a sidechain is known by its first message being the prompt of the Task call, and, where several
were given the same prompt, by its last text being the text of the result. A result that fits none, or more than one,
has no parts: its numbers are then unverifiable, never matched by order or time.

Semantics (inferred; held on every public result seen): totalTokens is the context of
the sub-agent's last API call, not the sum of its calls; totalToolUseCount counts its tool_use blocks; no part of the
log gives totalDurationMs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.claude_code_threads import NAME, Thread
from governance_pipeline.ingest.formats.values import text
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

TOTALS: Final = {
    "totalTokens": Field("subagent_total_tokens", DataType.INTEGER, "tokens"),
    "totalToolUseCount": Field("subagent_tool_use_count", DataType.INTEGER, "calls"),
    "totalDurationMs": Field("subagent_duration_ms", DataType.INTEGER, "ms"),
}
_PARTS: Final = {
    "input_tokens": "input_tokens",
    "cache_creation_tokens": "cache_creation_input_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "output_tokens": "output_tokens",
}


@dataclass
class TaskResult:
    """One result with totals: `place` is the result, `parent` the thread that got it, `call` the input of the call."""

    place: Place
    parent: Thread
    call_id: str | None
    call: Members
    result: Members
    output: str | None

    @property
    def agent(self) -> str | None:
        """The agent the result names."""
        return text(self.result.get("agentId"))


def has_totals(result: Members) -> bool:
    """Tell whether a result declares anything of a sub-agent."""
    return any(result.get(name) is not None for name in TOTALS)


def declare_totals(out: Extraction, threads: Iterable[Thread], results: Iterable[TaskResult]) -> None:
    """Add what the results declare, and the parts of each sub-agent found."""
    known = _SubAgents(threads)
    described: set[str] = set()
    for result in results:
        thread = known.of(result)
        subject = _subject(out, result, thread)
        if thread is not None:
            thread.run.parent_run_id = result.parent.run.run_id
            thread.run.exit_status = text(result.result.get("status")) or thread.run.exit_status
            thread.run.agent_id = thread.run.agent_id or text(result.call.get("subagent_type"))
            if thread.run.run_id not in described:
                described.add(thread.run.run_id)
                _add_parts(subject, thread)
        for member, field in TOTALS.items():
            if result.result.get(member) is not None:
                subject.declare(result.place.below(f"/{member}"), field, result.result[member])


class _SubAgents:
    """Sub-agents by what a result can say of them."""

    def __init__(self, threads: Iterable[Thread]) -> None:
        self._by_agent: dict[str, list[Thread]] = defaultdict(list)
        self._by_prompt: dict[tuple[str | None, str], list[Thread]] = defaultdict(list)
        for thread in threads:
            if thread.is_sub_agent and thread.agent is not None:
                self._by_agent[thread.agent].append(thread)
            elif thread.is_sub_agent and thread.prompt is not None:
                self._by_prompt[thread.session, thread.prompt].append(thread)

    def of(self, result: TaskResult) -> Thread | None:
        """Give the one sub-agent a result is of; None when none fits or several do."""
        session = result.parent.session
        if result.agent is not None:
            named = self._by_agent.get(result.agent, [])
            # a sub-agent's file may carry another session id than its parent's; its agent id still names it
            fitting = [thread for thread in named if thread.session == session] or named
        else:
            fitting = self._by_prompt.get((session, text(result.call.get("prompt")) or ""), [])
            if len(fitting) > 1:
                fitting = [t for t in fitting if t.last_text is not None and t.last_text == result.output]
        return fitting[0] if len(fitting) == 1 and fitting[0] is not result.parent else None


def _subject(out: Extraction, result: TaskResult, thread: Thread | None) -> Subject:
    if thread is not None:
        return Subject(out, NAME, thread.run.run_id, thread.files)
    name = result.agent or result.call_id or result.place.address
    return Subject(out, NAME, f"{result.parent.run.run_id}/{name}", [result.place.file.path])


def _add_parts(subject: Subject, thread: Thread) -> None:
    for index, (place, call_id) in enumerate(thread.calls, 1):
        subject.component("tool_calls", index, {"call_id": (place, call_id)})
    last = thread.last_call
    if last is not None:
        is_known = last.tokens.is_measured  # zeros of a dialect that counts nothing are no parts
        columns = {
            column: (last.place.below(f"/{member}"), last.usage.get(member) if is_known else None)
            for column, member in _PARTS.items()
        }
        subject.component("last_call", 1, columns)
