"""Agent runs out of GenAI spans: who was invoked, which calls a run made, and what its own span adds up.

What belongs here: the meaning of the GenAI attributes. What does not: how a span is written (otel_spans) and what it
declares (otel_totals).
Names are those of the OpenTelemetry semantic conventions for generative AI (``gen_ai.*``), their earlier forms, and
those of the Vercel AI SDK (``ai.*``), which writes both on the same span.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.extraction import text_sha256, value_kind
from governance_pipeline.ingest.formats import tool_calls
from governance_pipeline.ingest.formats.otel_totals import KINDS, NAME, SpanTotals, has_usage
from governance_pipeline.ingest.formats.runs import ERROR, OK, Run, RunNames, Step
from governance_pipeline.ingest.formats.usage import Tokens, UsageReport
from governance_pipeline.ingest.formats.values import text, whole
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import canonical, exact_number
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.otel_spans import Span

_CACHE_READ: Final = ("gen_ai.usage.cache_read.input_tokens", "ai.usage.cachedInputTokens")
_CACHE_CREATION: Final = ("gen_ai.usage.cache_creation.input_tokens",)
_REASONING: Final = ("gen_ai.usage.reasoning.output_tokens", "ai.usage.reasoningTokens")
NESTED: Final = 64
"""Levels of spans looked through for the agent that a call belongs to, as deep as a document may be."""

_NEVER: Final = datetime.max.replace(tzinfo=UTC)
_COSTS: Final = ("gen_ai.usage.input_cost", "gen_ai.usage.output_cost")
_OPERATION: Final = "gen_ai.operation.name"
_AI_OPERATION: Final = "ai.operationId"
_INVOCATIONS: Final = frozenset({"invoke_agent", "invoke_workflow", "create_agent"})
_TOOL: Final = "execute_tool"
_AI_TOOL: Final = "ai.toolCall"
_AI_CALLS: Final = (".doGenerate", ".doStream", ".doEmbed")
EXPORTED_AGAIN: Final = "a span exported again has the same trace and span id"
_BEGINNINGS: Final = ("gen_ai.", "ai.usage.", "ai.operationId", "ai.toolCall.", "monocle_apptrace.")


def is_genai(span: Span) -> bool:
    """Tell a span of an agent, a model call or a tool from any other."""
    return any(name.startswith(_BEGINNINGS) for name in span.attributes)


def session_of(span: Span) -> str | None:
    """Give the conversation or session a span names."""
    return text(span.first("gen_ai.conversation.id", "session.id"))


@dataclass
class _Group:
    """The spans of one run; `root` is the span that invoked it, None for those of a trace that no agent claims."""

    run: Run
    root: Span | None
    spans: list[Span] = field(default_factory=list)


class Traces:
    """All spans of a round, and the runs they make."""

    def __init__(self) -> None:
        self._spans: dict[tuple[str, str], Span] = {}
        self._repeated: list[Span] = []

    def firsts(self, spans: Sequence[Span]) -> list[Span]:
        """Give, for each span of a record, the first one with its ids: itself, or one before it."""
        here: dict[tuple[str, str], Span] = {}
        return [self._spans.get(span.key) or here.setdefault(span.key, span) for span in spans]

    def take(self, span: Span) -> None:
        """Take in one span; of one that is there twice the first counts."""
        if self._spans.setdefault(span.key, span) is not span:
            self._repeated.append(span)

    def write(self, out: Extraction, names: RunNames) -> list[UsageReport]:
        """Add runs, steps and totals; gives the usage of every call."""
        groups = self._groups(names)
        below, totals = self._below(), SpanTotals(out, names)
        reports: list[UsageReport] = []
        run_of: dict[tuple[str, str], Run] = {}
        for group in groups:
            _describe(group)
            for span in group.spans:
                run_of[span.key] = group.run
                totals.declare_span(span)
                if _is_aggregate(span):
                    totals.declare_sum(span, below[span.key])
                if has_usage(span) and not _is_aggregate(span):
                    reports.append(_report(span, group.run))
            group.run.write(out)
        repeated = [span for span in self._repeated if has_usage(span) and not _is_aggregate(span)]
        return reports + [_report(span, run_of[span.key]) for span in repeated if span.key in run_of]

    def _groups(self, names: RunNames) -> list[_Group]:
        groups: dict[tuple[str, str], _Group] = {}
        for span in self._spans.values():
            if is_genai(span):
                root = self._invocation(span)
                key = root.key if root is not None else (span.trace_id, "")
                if key not in groups:
                    first = root or span
                    wanted = span.trace_id if root is None else f"{root.trace_id}/{root.span_id}"
                    run = Run(names.claim(wanted, first.place.file.path), NAME, first.place)
                    groups[key] = _Group(run, root)
                groups[key].spans.append(span)
        for group in groups.values():
            above = None if group.root is None else self._parent(group.root)
            parent = None if above is None else self._invocation(above)
            if parent is not None and parent.key in groups:
                group.run.parent_run_id = groups[parent.key].run.run_id
        return list(groups.values())

    def _parent(self, span: Span) -> Span | None:
        return None if span.parent_id is None else self._spans.get((span.trace_id, span.parent_id))

    def _above(self, span: Span) -> Iterator[Span]:
        """Give a span and those above it; no more than `NESTED`, whatever circle or chain the ids make."""
        current: Span | None = span
        for _ in range(NESTED):
            if current is None:
                return
            yield current
            current = self._parent(current)

    def _invocation(self, span: Span) -> Span | None:
        return next((above for above in self._above(span) if _operation(above) in _INVOCATIONS), None)

    def _below(self) -> dict[tuple[str, str], list[Span]]:
        """Give, for each span that adds up, the calls with usage below it."""
        found: dict[tuple[str, str], list[Span]] = defaultdict(list)
        for span in self._spans.values():
            if has_usage(span) and not _is_aggregate(span):
                for key in {above.key for above in self._above(span) if _is_aggregate(above)}:
                    found[key].append(span)
        return found


def _is_aggregate(span: Span) -> bool:
    """Tell a span that stands for calls below it: an invoked agent, or an outer operation of the AI SDK."""
    operation = text(span.attributes.get(_AI_OPERATION))
    is_outer = operation is not None and operation != _AI_TOOL and not operation.endswith(_AI_CALLS)
    return _operation(span) in _INVOCATIONS or is_outer


def _operation(span: Span) -> str | None:
    return text(span.attributes.get(_OPERATION))


def _describe(group: _Group) -> None:
    run, root = group.run, group.root
    for span in group.spans:
        run.saw(span.start)
        run.saw(span.end)
        run.used(text(span.first("gen_ai.response.model", "ai.response.model", "gen_ai.request.model", "ai.model.id")))
        run.session_id = run.session_id or session_of(span)
        if _operation(span) == _TOOL or span.attributes.get(_AI_OPERATION) == _AI_TOOL:
            run.steps.append(_step(span))
    run.steps.sort(key=lambda step: step.at or _NEVER)
    first = root or group.spans[0]
    service, version = (text(first.resource.get(f"service.{name}")) for name in ("name", "version"))
    is_named = service is not None and not service.startswith("unknown_service")
    run.platform = " ".join(filter(None, (service, version))) if is_named else None
    if root is not None:
        run.agent_id = text(root.attributes.get("gen_ai.agent.name"))
        run.exit_status = None if root.is_error is None else ERROR if root.is_error else OK


def _step(span: Span) -> Step:
    tool = text(span.first("gen_ai.tool.name", "ai.toolCall.name"))
    arguments = _object(span.first("gen_ai.tool.call.arguments", "gen_ai.tool.args", "ai.toolCall.args"))
    step = Step(
        span.place,
        tool,
        text(span.first("gen_ai.tool.call.id", "ai.toolCall.id")),
        tool_calls.command_of(tool, arguments),
        at=span.start,
    )
    step.status = None if span.is_error is None else ERROR if span.is_error else OK
    if span.start is not None and span.end is not None and span.end >= span.start:
        step.duration_s = (span.end - span.start).total_seconds()
    result = span.first("gen_ai.tool.call.result", "ai.toolCall.result", "gen_ai.output")
    step.output_sha256 = text_sha256(result)
    tool_calls.finish(step, arguments, result)
    return step


def _object(value: Any) -> Any:
    """Give the arguments of a call, which most exporters write as a text of JSON; None when that is none."""
    if text(value) is None:
        return value
    try:
        return parse_json(str(value).encode())
    except RecordRefused:
        return None


def _report(span: Span, run: Run) -> UsageReport:
    tokens = Tokens(
        input=whole(span.first(*KINDS["input_tokens"])),
        output=whole(span.first(*KINDS["output_tokens"])),
        cache_creation=whole(span.first(*_CACHE_CREATION)),
        cache_read=whole(span.first(*_CACHE_READ)),
        reasoning=whole(span.first(*_REASONING)),
    )
    return UsageReport(
        span.place,
        run.run_id,
        tokens.or_unknown(),
        call_id=text(span.first("gen_ai.response.id", "ai.response.id")) or span.span_id,
        key=f"{span.trace_id}/{span.span_id}",
        reason=EXPORTED_AGAIN,
        model=text(span.first("gen_ai.response.model", "ai.response.model", "gen_ai.request.model", "ai.model.id")),
        is_cache_inside_input=True,
        cost=_cost(span),
        at=span.start,
    )


def _cost(span: Span) -> Any:
    """Give the cost of a call: written in two parts, it is their exact sum, and unknown when one is missing."""
    parts = [span.attributes.get(name) for name in _COSTS]
    if any(value_kind(part) is not ValueKind.NUMBER for part in parts):
        return None
    numbers = [number for part in parts if (number := exact_number(str(part))) is not None]
    return Lexeme(canonical(sum(numbers[1:], numbers[0]))) if len(numbers) == len(parts) else None
