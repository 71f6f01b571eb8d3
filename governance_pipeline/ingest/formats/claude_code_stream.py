"""Stream output of Claude Code and of the Agent SDK: events of one run and the result that closes it.

Versions seen: a recording of the SDK's stdio (2026, projection), a hand-made list of turns of the GitHub action; the
single result object of ``--output-format json`` is known from its documentation. Semantics: docs of the Agent SDK
(message types, cost tracking), anthropics/claude-code-action issue 1795 (num_turns).

Structure: one event per line, one list of events, or one result object. `type` is system (`subtype` init: model,
permission mode, version), user, assistant, result, stream_event, control_request, control_response and others.
Events name a `session_id`; those of a sub-agent carry `parent_tool_use_id`, the call that started it. A session in a
file is a run, each sub-agent another. Members differ from a session file's: `session_id` for sessionId,
`tool_use_result` for toolUseResult, no `parentUuid`.

Declared: `claude_code_stream_totals`. Traps:
- An assistant event is written before its message is complete: `stop_reason` is null and output_tokens is what stood in
  message_start (1 where the result says 5). Such a count is no measurement: unknown in the parts. Input and cached
  tokens are final from the start. With partial messages the last count stands in a `message_delta` event.
- One message is written once per content block, with one id: it is one call.
- The totals of a result cover a session, so what a second result in the same session covers is not documented: no
  parts then. Nor is it where sub-agents ran; `modelUsage` also holds calls of helper models that no event shows.
- num_turns is one for the prompt and one per tool result, not the number of calls to the model.
- The SDK sends its first message before it knows the session, as "default": it belongs to the session that follows.
- A total without a price list is 0: no price, not free.
- Beside its session's own file a stream repeats what that one tells: calls, usage and decisions count there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging, only_id, texts
from governance_pipeline.ingest.formats import claude_code_stream_totals
from governance_pipeline.ingest.formats.claude_code_lines import fault_of
from governance_pipeline.ingest.formats.claude_code_stream_session import Session
from governance_pipeline.ingest.formats.claude_code_stream_totals import declare
from governance_pipeline.ingest.formats.claude_code_told import Told
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import RunNames
from governance_pipeline.ingest.formats.usage import UsageReport, write_usage
from governance_pipeline.ingest.formats.values import members, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

NAME: Final = claude_code_stream_totals.NAME
DECLARES: Final[tuple[str, ...]] = claude_code_stream_totals.DECLARES
RECOMPUTABLE: Final[tuple[str, ...]] = claude_code_stream_totals.RECOMPUTABLE
VERSIONS: Final = "stream-json and json output of 2.1.x, Agent SDK stdio 2026"

NO_SESSION: Final = "default"
"""Session id the SDK writes before it knows one."""

_TOTALS: Final = ("total_cost_usd", "num_turns", "duration_api_ms", "modelUsage")
_LOOKED_AT: Final = 20
_BARE: Final = frozenset({"user", "control_request", "control_response"})  # may come without a message


def detect(sample: Sample) -> bool:
    """Tell by a result with its totals, an init event, or a message that names its session the way streams do."""
    values: Sequence[Any] = sample.values
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0][:_LOOKED_AT]
    return any(is_event(value) for value in values)


def belonging(sample: Sample, _: Path) -> Belonging:
    """Give the one session the events name; that of a session's own file is the same one."""
    values = sample.values
    events = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    return Belonging(only_id(name for name in texts(events, "session_id") if name != NO_SESSION))


def is_event(value: Any) -> bool:
    """Tell an event that only this output has."""
    event = members(value)
    kind = event.get("type")
    if text(event.get("sessionId")) is not None:
        return False
    if kind == "result":
        return any(name in event for name in _TOTALS)
    if text(event.get("session_id")) is None:
        return False
    if kind == "system":
        return event.get("subtype") == "init"
    has_content = isinstance(members(event.get("message")).get("content"), list | str)
    return kind in ("assistant", "user") and has_content


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read each file by itself: a stream is one process from its start to its end."""
    names, told = RunNames(out), Told(out)
    reports: list[UsageReport] = []
    for file in files:
        for session in _sessions(file, told):
            reports += session.write(out, names)
            declare(out, session)
    write_usage(out, reports)


def _sessions(file: LogFile, told: Told) -> list[Session]:
    """Read the sessions of a file; events without a session belong to the one before, or to the first one."""
    sessions: dict[str, Session] = {}
    current: Session | None = None
    for record in _events(file):
        fault = _fault_of(record.value)
        if fault is not None:
            file.quarantine(record, fault)
            continue
        named = text(record.value.get("session_id"))
        named = None if named == NO_SESSION else named
        if current is None:
            current = Session(Place.of(file, record), told)
        if named is not None and current.session_id != named:
            current = sessions.get(named) or (current if current.session_id is None else None)
            current = current or Session(Place.of(file, record), told)
            current.session_id = named
        sessions[current.session_id or ""] = current
        current.take(Place.of(file, record), record.value)
    return list({id(session): session for session in sessions.values()}.values())


def _events(file: LogFile) -> Iterator[Record]:
    for record in records(file):
        if record.line is None and isinstance(record.value, list):
            yield from file.items(record.value, "")
        else:
            yield record


def _fault_of(value: Any) -> str | None:
    event = members(value)
    if text(event.get("type")) in _BARE and "content" not in members(event.get("message")):
        return None
    return fault_of(value)
