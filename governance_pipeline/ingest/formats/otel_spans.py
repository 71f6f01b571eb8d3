"""Spans of OpenTelemetry as files hold them: one shape out of the four that exporters write.

What belongs here: ids, times, status and attributes of a span. What does not: what a span is of (otel_runs).

- OTLP JSON (opentelemetry-proto): ``resourceSpans[].scopeSpans[].spans[]``, ids in hex, times as texts of nanoseconds,
  attributes a list of ``{"key", "value": {"intValue": "12"}}``: an integer is a text there, and still a number.
- The Python SDK (``to_json``): ``context.{trace_id, span_id}``, ``parent_id``, ISO times, attributes an object.
- any-agent: the same with numbers for ids and times, and the parent as a context.
- The JavaScript SDK: ``spanContext.{traceId, spanId}``, times as ``[seconds, nanoseconds]``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time
from governance_pipeline.ingest.formats.values import entries, members, text
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.lexeme import Lexeme

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

RESOURCES: Final = "resourceSpans"
_SCOPES: Final = ("scopeSpans", "instrumentationLibrarySpans")
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_INT64: Final = range(-(2**63), 2**63)
_NANOSECONDS: Final = 10**9
_LAST_SECOND: Final = 253_402_300_799
"""9999-12-31T23:59:59Z; a later time is none."""

_ERROR_CODES: Final = frozenset({2, "2", "ERROR", "error", "STATUS_CODE_ERROR"})
_OK_CODES: Final = frozenset({1, "1", "OK", "ok", "STATUS_CODE_OK"})
_NO_PARENTS: Final = frozenset({"", "None"})


@dataclass(frozen=True)
class Span:
    """One span; `attributes` by name, with the place of each value below `place`; times in UTC, None when unknown.

    `is_error` is None where the instrumentation left the status unset, which is not a success. `digest` is that of all
    the exporter wrote of the span and of its resource: equal only for a repetition.
    """

    place: Place
    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start: datetime | None
    end: datetime | None
    is_error: bool | None
    attributes: Members
    pointers: Mapping[str, str]
    resource: Members
    digest: str

    @property
    def key(self) -> tuple[str, str]:
        """What a span is known by."""
        return self.trace_id, self.span_id

    def first(self, *names: str) -> Any:
        """Give the first of some attributes that is there."""
        return next((self.attributes[name] for name in names if self.attributes.get(name) is not None), None)

    def place_of(self, name: str) -> Place:
        """Give the place of an attribute."""
        return self.place.below(self.pointers.get(name, "/attributes"))


def lists_of(document: Any) -> Iterator[tuple[str, Sequence[Any], Members]]:
    """Give the lists of spans of a document: pointer, spans, attributes of their resource."""
    if isinstance(document, list):
        yield "", document, {}
        return
    value = members(document)
    if isinstance(value.get("spans"), list):
        yield "/spans", value["spans"], {}
    for index, resource in enumerate(entries(value.get(RESOURCES))):
        about = _attributes(members(members(resource).get("resource")).get("attributes"), "")[0]
        for name in _SCOPES:
            for number, scope in enumerate(entries(members(resource).get(name))):
                spans = members(scope).get("spans")
                if isinstance(spans, list):
                    yield f"/{RESOURCES}/{index}/{name}/{number}/spans", spans, about


def span_of(place: Place, value: Any, resource: Members) -> Span | None:
    """Read one span; None when it is no object or names no trace and span."""
    raw = members(value)
    context = members(raw.get("context")) or members(raw.get("spanContext")) or raw
    trace_id, span_id = (_id(context.get(f"{n}_id", context.get(f"{n}Id"))) for n in ("trace", "span"))
    if trace_id is None or span_id is None:
        return None
    attributes, pointers = _attributes(raw.get("attributes"), "/attributes")
    status = members(raw.get("status"))
    code = status.get("code", status.get("status_code"))
    is_known = isinstance(code, int | str) and code in _ERROR_CODES | _OK_CODES
    about = resource or _attributes(members(raw.get("resource")).get("attributes"), "")[0]
    return Span(
        place,
        trace_id,
        span_id,
        _parent(raw),
        text(raw.get("name")) or "",
        _time(raw.get("startTimeUnixNano", raw.get("start_time", raw.get("startTime")))),
        _time(raw.get("endTimeUnixNano", raw.get("end_time", raw.get("endTime")))),
        True if "error.type" in attributes else code in _ERROR_CODES if is_known else None,
        attributes,
        pointers,
        about,
        sha256_hex(json.dumps([raw, resource], sort_keys=True).encode()),
    )


def _id(value: Any) -> str | None:
    is_number = isinstance(value, int | Lexeme) and not isinstance(value, bool)
    return str(value) if is_number else text(value)


def _parent(raw: Members) -> str | None:
    parent = raw.get("parentSpanId", raw.get("parent_id", raw.get("parentId")))
    if parent is None:
        context = members(raw.get("parent")) or members(raw.get("parentSpanContext"))
        parent = context.get("span_id", context.get("spanId"))
    name = _id(parent)
    return None if name in _NO_PARENTS else name


def _attributes(value: Any, pointer: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Give attributes by name and the pointer of each value; of a name that is there twice the first."""
    if isinstance(value, dict):
        names = {name: f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}" for name in value}
        return dict(value), names
    found: dict[str, Any] = {}
    pointers: dict[str, str] = {}
    for index, pair in enumerate(entries(value)):
        name = text(members(pair).get("key"))
        if name is not None and name not in found:
            kind, found[name] = _value(members(pair).get("value"))
            pointers[name] = f"{pointer}/{index}/value/{kind}"
    return found, pointers


def _value(value: Any) -> tuple[str, Any]:
    """Read an AnyValue of OTLP: the member that holds it, and what it holds."""
    for kind, held in members(value).items():
        if kind == "intValue" and isinstance(held, str) and not isinstance(held, Lexeme):
            return kind, _integer(held)
        return kind, held
    return "", None


def _integer(held: str) -> Any:
    """Read an integer that was written as a text, as protobuf's JSON does; anything else stays a text."""
    if not _INTEGER.fullmatch(held):
        return held
    return int(held) if int(held) in _INT64 else Lexeme(held)


def _time(value: Any) -> datetime | None:
    if isinstance(value, list):
        parts = [part for part in value if isinstance(part, int) and not isinstance(part, bool)]
        return _at(parts[0] * _NANOSECONDS + parts[1]) if len(parts) == len(value) == 2 else None  # noqa: PLR2004
    nanoseconds = _integer(value) if isinstance(value, str) and not isinstance(value, Lexeme) else value
    if isinstance(nanoseconds, int) and not isinstance(nanoseconds, bool):
        return _at(nanoseconds)
    return parse_time(value)


def _at(nanoseconds: int) -> datetime | None:
    seconds, rest = divmod(nanoseconds, _NANOSECONDS)
    if not 0 < seconds <= _LAST_SECOND:
        return None
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=rest // 1000)
