"""Token counts that GenAI spans declare: sums over the calls below them, totals beside their parts, second names.

What belongs here: declared numbers and their parts. What does not: which span is of what (otel_runs). The subject of
all numbers of a span is the span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.otel_spans import Span
    from governance_pipeline.ingest.formats.runs import RunNames

NAME: Final = "otel_genai"
KINDS: Final = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "ai.usage.inputTokens",
                     "ai.usage.promptTokens", "ai.usage.tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "ai.usage.outputTokens",
                      "ai.usage.completionTokens"),
}  # fmt: skip
"""Token counts that are added up, by the names they have, the conventions' own first."""

TOTALS: Final = tuple(Field(f"agent_{kind}", DataType.INTEGER, "tokens") for kind in KINDS)
SPAN_TOTAL: Final = Field("total_tokens", DataType.INTEGER, "tokens")
TWINS: Final = tuple(Field(f"ai_{kind}", DataType.INTEGER, "tokens") for kind in KINDS)
"""The second name of a count on the same span (Vercel AI SDK)."""

_SPAN_TOTALS: Final = ("gen_ai.usage.total_tokens", "ai.usage.totalTokens")


def has_usage(span: Span) -> bool:
    """Tell whether a span says how many tokens were used."""
    return any(_name(span, kind) is not None for kind in KINDS)


class SpanTotals:
    """The declared numbers of the spans of a round."""

    def __init__(self, out: Extraction, names: RunNames) -> None:
        self._out, self._names = out, names
        self._ids: dict[tuple[str, str], str] = {}

    def declare_span(self, span: Span) -> None:
        """Add what one span says twice: a total beside its parts, and counts under a second name."""
        total = next((name for name in _SPAN_TOTALS if span.attributes.get(name) is not None), None)
        if total is not None:
            subject = self._subject(span, ())
            subject.declare(span.place_of(total), SPAN_TOTAL, span.attributes[total])
            for number, kind in enumerate(KINDS, 1):
                name = _name(span, kind) or ""
                subject.component("kinds", number, {"tokens": (span.place_of(name), span.attributes.get(name))})
        for kind, twin in zip(KINDS, TWINS, strict=True):
            own, other = (_name(span, kind, beginning) for beginning in ("gen_ai.", "ai."))
            if own is not None and other is not None:
                subject = self._subject(span, ())
                subject.declare(span.place_of(other), twin, span.attributes[other])
                subject.component(f"own_{kind}", 1, {"tokens": (span.place_of(own), span.attributes[own])})

    def declare_sum(self, span: Span, calls: Sequence[Span]) -> None:
        """Add what a span that stands for others says they used, and the calls below it."""
        if not has_usage(span):
            return
        subject = self._subject(span, calls)
        for kind, total in zip(KINDS, TOTALS, strict=True):
            name = _name(span, kind)
            if name is not None:
                subject.declare(span.place_of(name), total, span.attributes[name])
        for number, call in enumerate(calls, 1):
            found = {kind: _name(call, kind) or "" for kind in KINDS}
            row = {kind: (call.place_of(name), call.attributes.get(name)) for kind, name in found.items()}
            subject.component("calls", number, row)

    def _subject(self, span: Span, calls: Sequence[Span]) -> Subject:
        path = span.place.file.path
        if span.key not in self._ids:
            self._ids[span.key] = self._names.claim(f"{span.trace_id}/{span.span_id}/usage", path)
        return Subject(self._out, NAME, self._ids[span.key], {path, *(call.place.file.path for call in calls)})


def _name(span: Span, kind: str, beginning: str = "") -> str | None:
    """Give the name under which a span has a count."""
    there = (name for name in KINDS[kind] if span.attributes.get(name) is not None)
    return next((name for name in there if name.startswith(beginning)), None)
