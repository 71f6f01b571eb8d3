"""Records of OpenHands that are a run by themselves: evaluation and resolver records, event streams, call logs.

What belongs here: turning one such record into rows. What does not: SDK conversations, whose run is spread over files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.extraction import parse_time, value_raw
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.edits import patch_files
from governance_pipeline.ingest.formats.openhands_approvals import verdicts_of, write_approvals
from governance_pipeline.ingest.formats.openhands_events import EventStream, is_event
from governance_pipeline.ingest.formats.openhands_metrics import (
    add_parts,
    add_response_parts,
    declare_totals,
    metric_reports,
    response_report,
)
from governance_pipeline.ingest.formats.openhands_tools import SHELLS, is_opaque
from governance_pipeline.ingest.formats.priced import add_priced_call
from governance_pipeline.ingest.formats.runs import Change, Run, Step
from governance_pipeline.ingest.formats.values import entries, members, text
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.ingest.formats.usage import UsageReport

    Members = Mapping[str, Any]

RECORD_FORMAT: Final = "openhands"
CALL_COST: Final = Field("call_cost", DataType.CURRENCY, "USD")
_BESIDE_HISTORY: Final = frozenset({"metrics", "test_result", "git_patch", "instance_id", "metadata"})


def is_evaluation(value: Any) -> bool:
    """Tell a record of evaluation or resolver output."""
    record = members(value)
    history = record.get("history")
    if not isinstance(history, list) or _BESIDE_HISTORY.isdisjoint(record):
        return False
    first = history[0] if history else None
    first = first[0] if isinstance(first, list) and first else first
    # a run that failed at once has no history; its metrics or test result still tell
    return is_event(first) or _has_content(first) or (not history and not {"metrics", "test_result"}.isdisjoint(record))


def is_call_log(value: Any) -> bool:
    """Tell the log of one request to a model."""
    log = members(value)
    has_response = isinstance(log.get("response"), dict) and "cost" in log
    return has_response and not {"latency_sec", "context_window"}.isdisjoint(log)


def write_evaluation(out: Extraction, run: Run, record: Members) -> list[UsageReport]:
    """Add the rows of one record; give its usage reports."""
    place, metadata = run.place, members(record.get("metadata"))
    llm = members(metadata.get("llm_config"))
    commit = text(metadata.get("git_commit"))
    run.platform = "openhands" if commit is None else f"openhands {commit}"
    run.agent_id = text(metadata.get("agent_class"))
    run.thinking = text(llm.get("reasoning_effort"))
    run.used(text(llm.get("model")) or text(metadata.get("model_name")) or text(record.get("model_id")))
    run.exit_status = text(record.get("error"))
    stream = EventStream(run)
    for index, event in enumerate(entries(record.get("history"))):
        stream.take(place.below(f"/history/{index}"), event)
    if isinstance(record.get("success"), bool):
        run.self_reported_status = f"success: {value_raw(record['success'])}"
    stream.close()
    run.changed_at_the_end(list(_patched(place, record)))
    reports = _metrics(out, stream, place.below("/metrics"), record.get("metrics"))
    run.write(out)
    write_approvals(out, run, [*stream.approvals, *verdicts_of(place, record)])
    return reports


def write_stream(out: Extraction, stream: EventStream) -> list[UsageReport]:
    """Add the rows of an event stream; give its usage reports."""
    stream.close()
    reports = _metrics(out, stream, stream.run.place, None)
    stream.run.write(out)
    write_approvals(out, stream.run, stream.approvals)
    return reports


def write_call_log(out: Extraction, run: Run, log: Members) -> list[UsageReport]:
    """Add the rows of one request and its cost; give its usage report.

    What became of the tool calls it asked for is not in it.
    """
    response, place = members(log.get("response")), run.place
    run.used(text(response.get("model")))
    at = parse_time(log.get("timestamp"))
    run.saw(at)
    for choice, answer in enumerate(entries(response.get("choices"))):
        for index, call in enumerate(entries(members(members(answer).get("message")).get("tool_calls"))):
            function = members(members(call).get("function"))
            tool, arguments = text(function.get("name")) or "", _arguments(function.get("arguments"))
            step = Step(
                place.below(f"/response/choices/{choice}/message/tool_calls/{index}"),
                tool=tool or None,
                call_id=text(members(call).get("id")),
                command=text(arguments.get("command")) if tool in SHELLS else None,
                at=at,
            )
            step.is_opaque = is_opaque(step, tool, arguments)
            run.steps.append(step)
    run.write(out)
    subject = Subject(out, RECORD_FORMAT, run.run_id, [place.file.path])
    subject.declare(place.below("/cost"), CALL_COST, log["cost"])
    report = response_report(run, place.below("/response"), response, log.get("cost"))
    if report is None:
        return []
    report.at = at or report.at
    add_priced_call(subject, 1, report.place, report.model, report.at, report.tokens)
    return [report]


def _metrics(out: Extraction, stream: EventStream, place: Place, metrics: Any) -> list[UsageReport]:
    """Add totals and parts: those of the record, else the last snapshot on an event with the responses as parts."""
    run = stream.run
    subject = Subject(out, RECORD_FORMAT, run.run_id, [place.file.path])
    reports: list[UsageReport] = []
    if isinstance(metrics, dict):
        declare_totals(subject, place, metrics)
        add_parts(subject, place, metrics)
        reports += metric_reports(run, place, metrics)
        for cost in entries(metrics.get("costs")):
            run.saw(parse_time(members(cost).get("timestamp")))
    elif stream.snapshot is not None:
        declare_totals(subject, *stream.snapshot)
        add_response_parts(subject, stream.reports)
    return reports + stream.reports


def _patched(place: Place, record: Members) -> Iterator[Change]:
    for pointer, patch in (
        ("/test_result/git_patch", members(record.get("test_result")).get("git_patch")),
        ("/git_patch", record.get("git_patch")),
    ):
        if isinstance(patch, str) and patch:
            for file in patch_files(patch):
                yield Change(file.path, file.counts, "git_patch", place.below(pointer), file.edit)
            return


def _has_content(value: Any) -> bool:
    """Tell a flat event of the resolver that is a message: it has content and no kind of its own."""
    return "content" in members(value) and "role" not in members(value)


def _arguments(value: Any) -> Members:
    """Give the arguments of a tool call, which are JSON text."""
    if not isinstance(value, str):
        return members(value)
    try:
        return members(parse_json(value.encode()))
    except RecordRefused:
        return {}
