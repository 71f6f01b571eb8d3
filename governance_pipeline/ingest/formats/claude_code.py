"""Claude Code sessions (JSONL, one event per line), their sub-agent files, and the web export of a session.

Versions seen: 1.0.x (1.0.98 complete), 2.1.x up to 2.1.220 (parts), projections of 2.1.36 and 2.1.42; the web export
wraps the same lines in `{"loglines": […]}`. The format is not documented by its maker; semantics are inferred from
real files and from entireio/cli `cmd/entire/cli/agent/claudecode/transcript.go` (CalculateTokenUsage), which agrees.

Structure: a line has `type` (open list), `uuid` and `parentUuid` (the chain), `sessionId`, `version`, `timestamp`.
User and assistant lines carry `message`; a tool call is a `tool_use` block, its result a `tool_result` block with
that id in a later user line, plus a structured `toolUseResult` beside it. A session's main chain is one run, each
sub-agent another: inline with `isSidechain` (1.0.x), or in `subagents/agent-<id>.jsonl` with `agentId` (2.x).

Traps:
- One API call is written once per content block, with one message id and growing output_tokens: the largest counts.
- Resumed and forked sessions copy old lines. A byte-identical line is a `duplicate`; one whose session id was
  rewritten is accepted, its usage is a repetition, its tool calls stay with the run that made them, which becomes the
  parent of the copying one. Which of two
  files is the original cannot be seen: the first in path order is taken for it. In an Entire checkpoint the files of
  one session are snapshots that repeat each other on purpose: each is kept whole, its repeated usage marked.
- `progress` lines replay a sub-agent's messages in its parent's file: their usage is a repetition too.
- `<synthetic>` messages are no calls; their zeros are kept as the log has them. All-zero usage of a real model
  (iFlow) is not a measurement: null.
- Cached tokens are not inside input_tokens.
- `toolUseResult.usage` of a Task is the last report of the sub-agent once more, inside the declared totals: no row.
- Folder names are lossy encodings of project paths (`/a-b` and `/a/b` are both `-a-b`) and are never decoded.
- A shell command has an exit code only where it failed ("Exit code 1") or ran in the background.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time, text_sha256
from governance_pipeline.ingest.formats import claude_code_sessions, claude_code_threads
from governance_pipeline.ingest.formats.claude_code_approvals import MODE_LINE, Approvals, ToolResult
from governance_pipeline.ingest.formats.claude_code_lines import (
    MESSAGE_TYPES,
    blocks,
    fault_of,
    is_line,
    is_message,
    progress_of_agent,
    session_of,
    text_of,
    tokens_of,
)
from governance_pipeline.ingest.formats.claude_code_sessions import EXPORT
from governance_pipeline.ingest.formats.claude_code_tasks import TOTALS, TaskResult, declare_totals, has_totals
from governance_pipeline.ingest.formats.claude_code_threads import LastCall, Thread, Threads
from governance_pipeline.ingest.formats.claude_code_tools import finish, is_opaque
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import Step
from governance_pipeline.ingest.formats.usage import UsageReport, write_usage
from governance_pipeline.ingest.formats.values import entries, members, text
from governance_pipeline.ingest.rejections import Repetition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

    Members = Mapping[str, Any]

NAME: Final = claude_code_threads.NAME
DECLARES: Final[tuple[str, ...]] = tuple(field.name for field in TOTALS.values())
RECOMPUTABLE: Final[tuple[str, ...]] = ("subagent_total_tokens", "subagent_tool_use_count")
belonging = claude_code_sessions.belonging
VERSIONS: Final = "1.0.x, 2.1.x (up to 2.1.220), web export"

CHECKPOINTS: Final = "claude_code_entire"
"""Format of the metadata beside which transcripts are snapshots of one session."""

_ONE_LINE: Final = "a line has one uuid, and a file of the same session repeats its bytes"
_ONE_CALL: Final = "one API call is written once per content block and again where a session is resumed or replayed"


def detect(sample: Sample) -> bool:
    """Tell by the members that chain lines into sessions."""
    export = members(sample.values[0]).get(EXPORT) if len(sample.values) == 1 else None
    if isinstance(export, list):
        return any(is_message(value) for value in export)
    return any(is_line(value) for value in sample.values)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read all sessions of a round together, so that resumed sessions and sub-agent files find each other."""
    reader = _Reader(out)
    for file in files:
        for record in _lines(file):
            fault = fault_of(record.value)
            if fault is not None:
                file.quarantine(record, fault)
            else:
                reader.take(file, record, record.value)
    reader.write()


def _lines(file: LogFile) -> Iterator[Record]:
    for record in records(file):
        export = members(record.value).get(EXPORT)
        if record.line is None and isinstance(export, list):
            yield from file.items(export, f"/{EXPORT}")
        else:
            yield record


class _Reader:
    def __init__(self, out: Extraction) -> None:
        self._out = out
        self._threads = Threads(out)
        self._seen: dict[str, tuple[bytes, str | None, str]] = {}
        self._calls: dict[str, tuple[Step, Thread, Members]] = {}
        self._reports: list[UsageReport] = []
        self._results: list[TaskResult] = []
        self._approvals = Approvals(out)
        self._keeps_copies = CHECKPOINTS in out.paths_of

    def take(self, file: LogFile, record: Record, line: Members) -> None:
        root = self._threads.root(line)
        first = self._first_copy(file, record, line)
        if first is not None and first[1] == session_of(line) and not self._keeps_copies:
            file.duplicate(record, "repeated_line", Repetition(first[2], str(line["uuid"]), _ONE_LINE))
            return
        if (version := text(line.get("version"))) is not None and file.format_version is None:
            file.state_version(version)
        place = Place.of(file, record)
        if line["type"] in MESSAGE_TYPES:
            thread = self._threads.of(file, record, line, root)
            thread.run.works_in(text(line.get("cwd")))
            if first is not None and not thread.is_sub_agent:
                thread.forked_from = thread.forked_from or first[1]
            take = self._take_answer if line["type"] == "assistant" else self._take_input
            take(place, thread, line, is_copy=first is not None)
        elif line["type"] == MODE_LINE:
            self._approvals.saw_mode(place, None, session_of(line), line, parse_time(line.get("timestamp")))
        elif (replayed := progress_of_agent(line)) is not None:
            agent = text(members(line.get("data")).get("agentId"))
            thread = self._threads.of(file, record, line, "", agent)
            self._report(place.below("/data/message/message/usage"), thread, replayed, line)

    def write(self) -> None:
        declare_totals(self._out, self._threads, self._results)
        self._threads.adopt()
        self._approvals.write(self._threads.main_runs())
        for thread in self._threads:
            for step in thread.run.steps:
                step.is_opaque = is_opaque(step)
            thread.run.write(self._out)
        write_usage(self._out, self._reports)

    def _first_copy(self, file: LogFile, record: Record, line: Members) -> tuple[bytes, str | None, str] | None:
        """Give digest, session and address of an earlier line with this uuid and the same bytes but for the session."""
        uuid = text(line.get("uuid"))
        if uuid is None:
            return None
        session, address = session_of(line), Place.of(file, record).address
        raw = record.raw if record.raw is not None else json.dumps(line, ensure_ascii=False).encode()
        digest = hashlib.sha256(raw.replace(session.encode(), b"") if session else raw).digest()
        first = self._seen.setdefault(uuid, (digest, session, address))
        return None if first[2] == address or first[0] != digest else first

    def _take_answer(self, place: Place, thread: Thread, line: Members, *, is_copy: bool) -> None:
        message = members(line["message"])
        at = parse_time(line.get("timestamp"))
        if not is_copy:
            thread.run.saw(at)
            thread.said(line)
            for index, block in blocks(line, "tool_use"):
                self._take_call(place.below(f"/message/content/{index}"), thread, block, line)
        if isinstance(message.get("usage"), dict):
            usage = place.below("/message/usage")
            report = self._report(usage, thread, message, line)
            if not is_copy:
                thread.called(LastCall(report.call_id, usage, message["usage"], report.tokens))

    def _take_call(self, place: Place, thread: Thread, block: Members, line: Members) -> None:
        call_id = text(block.get("id"))
        if call_id is not None and call_id in self._calls:
            return  # the block of a copied line
        call = members(block.get("input"))
        step = Step(
            place,
            tool=text(block.get("name")),
            call_id=call_id,
            command=text(call.get("command")),
            agent_id=text(line.get("agentId")),
            at=parse_time(line.get("timestamp")),
        )
        thread.run.steps.append(step)
        thread.calls.append((place.below("/id"), call_id))
        if call_id is not None:
            self._calls[call_id] = (step, thread, call)

    def _take_input(self, place: Place, thread: Thread, line: Members, *, is_copy: bool) -> None:
        if is_copy:
            return
        at = parse_time(line.get("timestamp"))
        thread.run.saw(at)
        thread.heard(line)
        self._approvals.saw_mode(place, thread.run, thread.session, line, at)
        results = list(blocks(line, "tool_result"))
        structured = line if len(results) == 1 else {}  # beside several results it could be that of any of them
        for index, block in results:
            step, owner, call = self._calls.get(text(block.get("tool_use_id")) or "", (None, thread, {}))
            output = text_of(block.get("content"))
            said = ToolResult(block, output, structured, step.tool if step else None, at)
            self._approvals.saw_result(place.below(f"/message/content/{index}"), owner.run, said)
            if step is not None:
                self._finish(place, (step, owner, call), said)

    def _finish(self, place: Place, known: tuple[Step, Thread, Members], said: ToolResult) -> None:
        step, thread, call = known
        finish(step, call, said.block, said.output, said.line)
        step.output_sha256 = text_sha256(said.output)
        result = members(said.line.get("toolUseResult"))
        if has_totals(result):
            text_said = text_of(entries(result.get("content")))
            where = place.below("/toolUseResult")
            self._results.append(TaskResult(where, thread, step.call_id, call, result, text_said))

    def _report(self, place: Place, thread: Thread, message: Members, line: Members) -> UsageReport:
        model = text(message.get("model"))
        call_id = text(message.get("id")) or text(line.get("requestId"))
        report = UsageReport(
            place,
            thread.run.run_id,
            tokens_of(message["usage"], model),
            call_id=call_id,
            key=call_id,
            reason=_ONE_CALL,
            model=model,
            is_cache_inside_input=False,
            at=parse_time(line.get("timestamp")),
        )
        self._reports.append(report)
        return report
