"""OpenTelemetry traces with GenAI spans: OTLP JSON of collectors and exporters, and the JSON of the SDKs.

Versions seen: OTLP JSON of Visual Studio Copilot (2026) and of a collector (2025), JavaScript spans of the Vercel AI
SDK 6, Python spans of any-agent 1.9 and Monocle 0.7. Semantics from the semantic conventions for generative AI
(``gen_ai.*``), opentelemetry-proto's JSON mapping and the AI SDK's telemetry page.

Structure: see otel_spans. A record is a span of a document, or a line, which holds any number of spans. A run is an
``invoke_agent`` span with what is below it; one agent below another is its sub-agent. GenAI spans below no agent are
one run per trace. Spans that are not of GenAI make no row: an export holds those of the whole service.

Traps:
- Integers are texts in OTLP and lists of key and value hold the attributes; a token count written as a text value is
  still no number.
- A span without usage attributes says nothing of tokens: unknown, not 0.
- The AI SDK writes the same tokens as ``ai.usage.*`` and ``gen_ai.usage.*`` on one span, and once more on the outer
  span: one call. Counts under both names are compared with each other.
- A span that stands for others (an invoked agent, an outer operation) declares a total; it is no call and is not in
  `core_usage`, even where the calls below it are not in the file.
- Cached tokens are inside input_tokens.
- any-agent splits the cost of a call in two; a call costs their exact sum.
- A status left unset is no success.
- A span exported twice counts once: a record of such spans only is a duplicate; in one with new spans each repeated
  span is a repeated part, and a repeated call a duplicate row of `core_usage` too. Another span with the ids of one is
  refused, and the line it is in with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging, only_id
from governance_pipeline.ingest.formats import otel_totals
from governance_pipeline.ingest.formats.otel_runs import EXPORTED_AGAIN, Traces, is_genai, session_of
from governance_pipeline.ingest.formats.otel_spans import RESOURCES, Span, lists_of, span_of
from governance_pipeline.ingest.formats.otel_totals import SPAN_TOTAL, TOTALS, TWINS
from governance_pipeline.ingest.formats.places import Place, value_at
from governance_pipeline.ingest.formats.runs import RunNames
from governance_pipeline.ingest.formats.usage import write_usage
from governance_pipeline.ingest.formats.values import members
from governance_pipeline.ingest.rejections import Repetition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

NAME: Final = otel_totals.NAME
DECLARES: Final[tuple[str, ...]] = tuple(field.name for field in (*TOTALS, SPAN_TOTAL, *TWINS))
RECOMPUTABLE: Final[tuple[str, ...]] = DECLARES
VERSIONS: Final = "OTLP JSON, and spans of the Python and JavaScript SDKs; gen_ai conventions to 2026, AI SDK 6"

BAD_SPAN: Final = "bad_span"
REPEATED_ID: Final = "repeated_id"
REPEATED_SPAN: Final = "repeated_span"
_LOOKED_AT: Final = 20
"""Spans of a document looked at to tell it, as many as lines of a file."""


def detect(sample: Sample) -> bool:
    """Tell an OTLP export by its resources, spans of an SDK by their ids and GenAI attributes."""
    return any(_is_export(value) for value in sample.values)


def belonging(sample: Sample, _: Path) -> Belonging:
    """Give the one conversation or session all GenAI traces are of; a trace that names none is one itself."""
    conversations: dict[str, str | None] = {}
    for value in sample.values:
        for span in _spans_of(value):
            if is_genai(span):
                conversations[span.trace_id] = conversations.get(span.trace_id) or session_of(span)
    return Belonging(only_id(session or trace_id for trace_id, session in conversations.items()))


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read all files of a round together: spans of one trace may be in several."""
    traces = Traces()
    for file in files:
        for record, spans in _records(file):
            sound = [span for span in spans if span is not None]
            if len(sound) < len(spans):
                file.quarantine(record, BAD_SPAN)
            else:
                _take(traces, file, record, sound)
    write_usage(out, traces.write(out, RunNames(out)))


def _take(traces: Traces, file: LogFile, record: Record, spans: Sequence[Span]) -> None:
    firsts = traces.firsts(spans)
    pairs = list(zip(spans, firsts, strict=True))
    if any(first.digest != span.digest for span, first in pairs):
        file.quarantine(record, REPEATED_ID)
    elif spans and all(first is not span for span, first in pairs):
        file.duplicate(record, REPEATED_SPAN, _repetition(firsts[0]))
    else:
        for span, first in pairs:
            if first is not span:
                part = span.place.record_of(value_at(record.value, span.place.pointer))
                file.repeated_part(part, REPEATED_SPAN, _repetition(first))
            traces.take(span)


def _repetition(first: Span) -> Repetition:
    return Repetition(first.place.address, "/".join(first.key), EXPORTED_AGAIN)


def _is_export(value: Any) -> bool:
    if isinstance(members(value).get(RESOURCES), list):
        return True
    return any(is_genai(span) for span in _spans_of(value, _LOOKED_AT))


def _spans_of(value: Any, at_most: int | None = None) -> Iterator[Span]:
    """Give a span that stands for itself and the first of each list of spans, before they have a place."""
    looked_at = [value] if "attributes" in members(value) else []
    for _, spans, _ in lists_of(value):
        looked_at += spans[:at_most]
    nowhere: Any = None
    return (span for each in looked_at if (span := span_of(nowhere, each, {})) is not None)


def _records(file: LogFile) -> Iterator[tuple[Record, list[Span | None]]]:
    """Give each record with its spans; None stands for one that is none."""
    if file.record_unit == "line":
        for record in file.lines():
            yield record, list(_spans_of_line(file, record))
    elif (document := file.document()) is not None:
        for pointer, spans, resource in lists_of(document.value):
            for item in file.items(spans, pointer):
                yield item, [span_of(Place.of(file, item), item.value, resource)]


def _spans_of_line(file: LogFile, record: Record) -> Iterator[Span | None]:
    if not isinstance(members(record.value).get(RESOURCES), list):
        yield span_of(Place.of(file, record), record.value, {})
        return
    for pointer, spans, resource in lists_of(record.value):
        for index, span in enumerate(spans):
            yield span_of(Place.of(file, record, f"{pointer}/{index}"), span, resource)
