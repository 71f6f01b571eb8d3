"""Langfuse exports: one JSON document per trace, `{"trace": {…}, "observations": […]}`.

Versions seen: exports of June to December 2025 of ten frameworks (Agno, AutoGen, BeeAI, Claude Agent SDK, CrewAI,
Google ADK, LangGraph, OpenAI Agents, Pydantic AI, Vertex AI). Semantics from the product's documentation of usage and
cost (usage types are arbitrary, a total that was not sent is their sum) and from the files.

Structure: a trace is a run. An observation has `type` (GENERATION: a model call; TOOL, AGENT, SPAN, CHAIN …), `id`,
`parentObservationId`, `startTime`, `endTime`, `latency`, `usageDetails` and `costDetails` by kind with a `total`, and
`metadata` (an object, or the JSON text of one) with the attributes of the OpenTelemetry span. `trace.scores` are
verdicts: EVAL by a model, ANNOTATION by a person, API by a program.

Traps:
- `latency` is in seconds; one export has its observations (not its trace) in milliseconds: mismatches, with both
  values. Computed from the times of the same observation, for the trace from the first start to the last end.
- An agent's span repeats the usage of the calls below it (`gen_ai.usage.*` among its attributes), and where two
  libraries trace one call, the outer observation of the call repeats the inner one: what has reports below it is a
  repetition, whatever it says. The sums an agent declares are checked against the calls below it.
- A kind of usage beside input and output can be part of one of them or stand beside them. Zero is the same either
  way; any other count makes the total unknown here.
- A cost total without costs by kind has no parts. `totalUsage`, `totalCost` and their like repeat the details, with 0
  for what was not measured, and are not read; nor is `trace.observations`, a stripped copy.
- `level` is DEFAULT unless an instrumentation says otherwise: no statement that a step went well.
- Attributes are texts: `"682"` is the number 682.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging
from governance_pipeline.ingest.extraction import parse_time, text_sha256, value_kind, value_raw
from governance_pipeline.ingest.formats import tool_calls
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.langfuse_observations import (
    AGENT_TOKENS,
    PLAIN,
    TOTAL,
    Observation,
    metadata_of,
    microseconds,
    tree_of,
)
from governance_pipeline.ingest.formats.places import Place, escaped
from governance_pipeline.ingest.formats.runs import ERROR, Run, RunNames, Step
from governance_pipeline.ingest.formats.usage import UsageReport, write_usage
from governance_pipeline.ingest.formats.values import entries, members, text
from governance_pipeline.ingest.rejections import Repetition
from governance_pipeline.vocabulary import DataType, ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

    Members = Mapping[str, Any]

NAME: Final = "langfuse_trace"
TRACE_LATENCY: Final = Field("trace_latency", DataType.FLOAT, "s")
LATENCY: Final = Field("latency", DataType.FLOAT, "s")
USAGE_TOTAL: Final = Field("usage_total", DataType.INTEGER, "tokens")
COST_TOTAL: Final = Field("cost_total", DataType.CURRENCY, "USD")
AGENT_FIELDS: Final = {side: Field(f"agent_{side}_tokens", DataType.INTEGER, "tokens") for side in PLAIN}
DECLARES: Final[tuple[str, ...]] = tuple(
    field.name for field in (TRACE_LATENCY, LATENCY, USAGE_TOTAL, COST_TOTAL, *AGENT_FIELDS.values())
)
RECOMPUTABLE: Final[tuple[str, ...]] = DECLARES
VERSIONS: Final = "exports of June to December 2025"

_EXPORTED_TWICE: Final = "an observation has one id however often its trace is exported"
_ADDED_UP: Final = "an observation above others that report usage repeats them"
_REVIEWERS: Final = {"EVAL": "model", "ANNOTATION": "human"}


def detect(sample: Sample) -> bool:
    """Tell by a trace with its observations beside it."""
    document = members(sample.values[0]) if sample.shape == "document" and sample.values else {}
    trace, observations = members(document.get("trace")), document.get("observations")
    return text(trace.get("id")) is not None and isinstance(observations, list) and "projectId" in trace


def belonging(sample: Sample, _: Path) -> Belonging:
    """Give the session of a trace, and where it is of none the trace itself."""
    trace = members(members(sample.values[0]).get("trace"))
    return Belonging(text(trace.get("sessionId")) or text(trace.get("id")))


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read each document as one run."""
    names = RunNames(out)
    reports: list[UsageReport] = []
    for file in files:
        record = file.document()
        if record is None:
            continue
        place, document = Place.of(file, record), members(record.value)
        trace = members(document.get("trace"))
        observations = _observations(file, entries(document.get("observations")))
        run_id = names.claim(text(trace.get("id")) or file.path, file.path)
        export = _Export(out, Run(run_id, NAME, place), trace, observations)
        export.write(names)
        reports += export.reports
    write_usage(out, reports)


def _observations(file: LogFile, values: Sequence[Any]) -> list[Observation]:
    """Take in what is an observation; a repetition of one is a duplicate, another one with its id is refused."""
    found: dict[str, Observation] = {}
    for record in file.items(values, "/observations"):
        name = text(members(record.value).get("id"))
        if name is None:
            file.quarantine(record, "not_an_object" if not isinstance(record.value, dict) else "no_id")
        elif name not in found:
            found[name] = Observation.of(Place.of(file, record), record.value)
        elif _is_same(found[name].value, record.value):
            repeats = Repetition(found[name].place.address, name, _EXPORTED_TWICE)
            file.duplicate(record, "repeated_observation", repeats)
        else:
            file.quarantine(record, "repeated_id")
    return list(found.values())


def _is_same(one: Any, other: Any) -> bool:
    """Compare what was written: for Python, true is 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


class _Export:
    def __init__(self, out: Extraction, run: Run, trace: Members, observations: list[Observation]) -> None:
        self._out = out
        self._run = run
        self._trace = trace
        self._observations = observations
        self._parents = tree_of(observations)
        self.reports: list[UsageReport] = []

    def write(self, names: RunNames) -> None:
        """Add all rows but those of usage, which are left in `reports`."""
        run = self._run
        run.session_id = text(self._trace.get("sessionId"))
        run.platform = self._platform()
        self._declare_latency(Subject(self._out, NAME, run.run_id, [run.place.file.path]))
        for found in self._observations:
            self._take(found, names)
        run.steps.sort(key=lambda step: (step.at is None, step.at))
        self._report_usage()
        run.write(self._out)
        self._write_scores()

    def _take(self, found: Observation, names: RunNames) -> None:
        for name in ("startTime", "endTime"):
            self._run.saw(parse_time(found.value.get(name)))
        if found.usage:
            self._run.used(text(found.value.get("model")))
        if found.is_tool:
            self._run.steps.append(self._step(found))
        path = found.place.file.path
        subject = Subject(self._out, NAME, names.claim(f"{self._run.run_id}/{found.id}", path), [path])
        if found.value.get("latency") is not None:
            subject.declare(found.place.below("/latency"), LATENCY, found.value["latency"])
            _add_times(subject, 1, found)
        for member, field, source in (("usageDetails", USAGE_TOTAL, "usage"), ("costDetails", COST_TOTAL, "costs")):
            details, place = members(found.value.get(member)), found.place.below(f"/{member}")
            if TOTAL in details:
                subject.declare(place.below(f"/{TOTAL}"), field, details[TOTAL])
                is_sum = source == "costs"  # whatever its kind, money is paid once
                _add_kinds(subject, source, place, details, is_sum=is_sum)
        if found.agent_usage:
            _declare_agent(subject, found)

    def _step(self, found: Observation) -> Step:
        value, at = found.value, parse_time(found.value.get("startTime"))
        end = parse_time(value.get("endTime"))
        step = Step(
            found.place,
            tool=found.tool,
            call_id=text(found.attributes.get("gen_ai.tool.call.id")) or found.id,
            agent_id=self._agent_of(found),
            at=at,
            status=ERROR if value.get("level") == "ERROR" else None,
            output_sha256=text_sha256(value.get("output")),
        )
        if at is not None and end is not None and end >= at:
            step.duration_s = (end - at).total_seconds()
        step.command = tool_calls.command_of(step.tool, value.get("input"))
        tool_calls.finish(step, value.get("input"), value.get("output"))
        return step

    def _agent_of(self, found: Observation) -> str | None:
        above: Observation | None = found
        while above is not None:
            if above.agent is not None:
                return above.agent
            above = self._parents.get(above.id)
        return None

    def _platform(self) -> str | None:
        """Give the library that made the first root span: the runtime, as far as an export knows it."""
        roots = (found for found in self._observations if found.id not in self._parents)
        for value in (*(found.value for found in roots), self._trace):
            scope = members(metadata_of(value).get("scope"))
            name, version = text(scope.get("name")), text(scope.get("version"))
            if name is not None:
                return name if version is None else f"{name} {version}"
        return None

    def _declare_latency(self, subject: Subject) -> None:
        if self._trace.get("latency") is not None:
            subject.declare(self._run.place.below("/trace/latency"), TRACE_LATENCY, self._trace["latency"])
            for number, found in enumerate(self._observations, 1):
                _add_times(subject, number, found)

    def _report_usage(self) -> None:
        trace_id = text(self._trace.get("id")) or self._run.run_id
        made: dict[str, UsageReport] = {}
        for found in self._observations:
            if found.is_report:
                made[found.id] = UsageReport(
                    found.place.below("/usageDetails" if found.usage else ""),
                    self._run.run_id,
                    found.tokens,
                    call_id=found.id,
                    key=f"{trace_id}/{found.id}",
                    reason=_EXPORTED_TWICE,
                    model=text(found.value.get("model")),
                    cost=members(found.value.get("costDetails")).get(TOTAL),
                    at=parse_time(found.value.get("startTime")),
                )
        for found in self._observations:
            calls = found.calls_below() if found.is_report else []
            if calls:
                report = made[found.id]
                report.repeats, report.reason = made[calls[0].id], _ADDED_UP
        self.reports = list(made.values())

    def _write_scores(self) -> None:
        for index, value in enumerate(entries(self._trace.get("scores"))):
            score = members(value)
            name = text(score.get("name"))
            if name is None:
                continue
            given = text(score.get("stringValue")) or value_raw(score.get("value"))
            self._run.place.below(f"/trace/scores/{index}").add(
                self._out,
                "core_approvals",
                run_id=self._run.run_id,
                kind="review",
                by=_REVIEWERS.get(text(score.get("source")) or ""),
                by_id=text(score.get("authorUserId")),
                call_id=text(score.get("observationId")),
                result=name if given is None else f"{name}: {given}",
                reason=text(score.get("comment")),
                at=parse_time(score.get("timestamp")) or parse_time(score.get("createdAt")),
            )


def _add_times(subject: Subject, number: int, found: Observation) -> None:
    times = {column: f"{side}Time" for column, side in (("start_us", "start"), ("end_us", "end"))}
    columns = {
        column: (found.place.below(f"/{name}"), microseconds(found.value.get(name))) for column, name in times.items()
    }
    subject.component("times", number, columns)


def _add_kinds(subject: Subject, source: str, place: Place, details: Members, *, is_sum: bool) -> None:
    for number, (kind, value) in enumerate(_parts(details, is_sum=is_sum), 1):
        subject.component(source, number, {"amount": (place.below(escaped(kind)), value)})


def _parts(details: Members, *, is_sum: bool) -> Iterator[tuple[str, Any]]:
    """Give the kinds a total is made of; one that may be part of another is unknown, unless it is zero."""
    for kind, value in details.items():
        if kind != TOTAL:
            is_zero = value_kind(value) is ValueKind.NUMBER and not str(value).strip("0.")
            yield kind, value if is_sum or kind in PLAIN or is_zero else None


def _declare_agent(subject: Subject, found: Observation) -> None:
    """Declare what an agent says its calls used; an agent below it may or may not be inside: unknown then."""
    has_agents = any(other.agent_usage for other in found.descendants())
    for side, value in found.agent_usage.items():
        place = found.place.below("/metadata")
        subject.declare(place, AGENT_FIELDS[side], value)
    for number, call in enumerate(found.calls_below(), 1):
        usage = call.place.below("/usageDetails")
        columns = {
            side: (usage.below(f"/{side}"), None if has_agents else call.usage.get(side)) for side in AGENT_TOKENS
        }
        subject.component("calls", number, columns)
