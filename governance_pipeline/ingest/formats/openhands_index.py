"""OpenHands Index: published scores and costs of an agent (`scores.json`) beside the outcome of each instance.

Versions seen: the repository OpenHands/openhands-index-results at 3015ac61 (June 2026), `results/` and alternative
agents. Semantics from its README ("instance_results/") and from `scripts/compare_costs.py`, which says what the index
divides by; `scripts/extract_instance_results.py` writes the outcomes.

Structure of one folder, which is one agent with one model:
- `scores.json`: an array with one entry per benchmark: `score` (percent, one decimal), `metric`, `cost_per_instance`
  (USD, two to four decimals), `average_runtime`, and for swe-bench-multimodal `component_scores`.
- `instance_results/<benchmark>.json`: one object, instance id -> {`resolved`: true, false or null, `cost`: USD or
  null}. What it is of is said by its name alone; everything else is told by content.
- `metadata.json`: agent, version, model.

Traps:
- Four denominators: the instances of the file, those of the benchmark (swt-bench 433, gaia 165: files may be short),
  the solvable ones (swe-bench-multimodal: 68 of 102, no file says which), and those with a cost. Scores and costs are
  checked against the instances of the file; that a difference is one of denominators is for a person to say.
- null is "the archive exposes no outcome": no `outcomes` row, but an instance that is divided by. A null cost is no
  `costs` row either. A cost of 0.0 is written where the agent reported none, and is a claim here, because the format
  has null for unknown; a whole file of them contradicts a published cost.
- `combined_accuracy` divides by all 102 instances although some files list the 68 solvable ones only.
- Later versions of the extraction scale the costs of instances to the published mean
  (`_normalize_costs_to_target_mean`): then their mean proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging
from governance_pipeline.ingest.extraction import parse_time, value_raw
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.places import Place, escaped, records
from governance_pipeline.ingest.formats.result_folders import result_folder
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.values import entries, members, text
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

    Members = Mapping[str, Any]

NAME: Final = "openhands_index"
TOTALS: Final = (
    Field("score", DataType.PERCENT, "percent"),
    Field("cost_per_instance", DataType.CURRENCY, "USD"),
    Field("average_runtime", DataType.FLOAT, "s"),
)
COMPONENT_SCORES: Final = (
    Field("solveable_accuracy", DataType.PERCENT, "percent"),
    Field("unsolveable_accuracy", DataType.PERCENT, "percent"),
    Field("combined_accuracy", DataType.PERCENT, "percent"),
    Field("solveable_resolved", DataType.INTEGER, "instances"),
    Field("solveable_total", DataType.INTEGER, "instances"),
    Field("unsolveable_resolved", DataType.INTEGER, "instances"),
    Field("unsolveable_total", DataType.INTEGER, "instances"),
)
DECLARES: Final[tuple[str, ...]] = tuple(each.name for each in (*TOTALS, *COMPONENT_SCORES))
RECOMPUTABLE: Final[tuple[str, ...]] = (
    "score",
    "cost_per_instance",
    "solveable_accuracy",
    "unsolveable_accuracy",
    "combined_accuracy",
)
VERSIONS: Final = "openhands-index-results of June 2026"

INSTANCE_FOLDER: Final = "instance_results"
_METADATA: Final = frozenset({"agent_name", "model", "openness", "directory_name"})
_LOOKED_AT: Final = 20
"""Instances looked at to tell a file of outcomes."""


def detect(sample: Sample) -> bool:
    """Tell by the members of scores, of outcomes, or of the description beside them."""
    if sample.shape != "document" or not sample.values:
        return False
    value = sample.values[0]
    return _is_scores(value) or _is_outcomes(value) or members(value).keys() >= _METADATA


def belonging(_: Sample, source: Path) -> Belonging:
    """Give the folder a result file is about."""
    return Belonging(results=result_folder(source, INSTANCE_FOLDER), leads=True)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read the folders of a round: each benchmark an agent has a score or outcomes for is one run."""
    index = _Index(out)
    for file in files:
        for record in records(file):
            index.take(file, record)
    index.write()


def _is_scores(value: Any) -> bool:
    return any(_benchmark_of(entry) and {"score", "cost_per_instance"} <= entry.keys() for entry in entries(value))


def _benchmark_of(entry: Any) -> str | None:
    return text(members(entry).get("benchmark"))


def _is_outcomes(value: Any) -> bool:
    first = list(members(value).values())[:_LOOKED_AT]
    return bool(first) and all(_is_outcome(each) for each in first)


def _is_outcome(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"resolved", "cost"}


@dataclass
class _Benchmark:
    """What a folder says of one benchmark: its entries in scores (two when it is repeated) and its outcomes."""

    scores: list[tuple[Place, Members]] = field(default_factory=list)
    outcomes: list[tuple[Place, Members]] = field(default_factory=list)


class _Index:
    def __init__(self, out: Extraction) -> None:
        self._out = out
        self._names = RunNames(out)
        self._agents: dict[str, Members] = {}
        self._benchmarks: dict[tuple[str, str], _Benchmark] = {}

    def take(self, file: LogFile, record: Record) -> None:
        """Take in one document: an array is scores, an object outcomes or the description of the agent."""
        folder, _, name = file.path.rpartition("/")
        value = record.value
        if isinstance(value, list):
            for item in file.items(value, record.pointer):
                self._take_score(file, item, folder)
        elif members(value).keys() >= _METADATA:
            self._agents[folder] = value
        elif not _are_outcomes(value):
            file.quarantine(record, "bad_instance_result")
            self._benchmark(folder, name).outcomes.append((Place.of(file, record), {}))
        else:
            self._benchmark(folder, name).outcomes.append((Place.of(file, record), value))

    def write(self) -> None:
        """Add the rows of every benchmark, in the order met."""
        for (folder, benchmark), found in self._benchmarks.items():
            for place, entry in found.scores or [(found.outcomes[0][0], {})]:
                self._write(f"{folder}/{benchmark}".lstrip("/"), place, entry, found, self._agents.get(folder, {}))

    def _take_score(self, file: LogFile, record: Record, folder: str) -> None:
        benchmark = _benchmark_of(record.value)
        if benchmark is None:
            file.quarantine(record, "no_benchmark")
            return
        self._benchmark(folder, benchmark).scores.append((Place.of(file, record), record.value))

    def _benchmark(self, folder: str, name: str) -> _Benchmark:
        """Give a benchmark of a folder; outcomes lie in a folder of their own below, named by the benchmark."""
        head, _, last = folder.rpartition("/")
        key = (head if last == INSTANCE_FOLDER else folder, name.removesuffix(".json"))
        return self._benchmarks.setdefault(key, _Benchmark())

    def _write(self, wanted: str, place: Place, entry: Members, found: _Benchmark, agent: Members) -> None:
        run = _run(self._names.claim(wanted, place.file.path), place, entry, agent)
        run.write(self._out)
        parts = [outcomes.file.path for outcomes, _ in found.outcomes]
        subject = Subject(self._out, NAME, run.run_id, parts)
        _declare(subject, place, entry)
        _add_counts(subject, place.below("/component_scores"), members(entry.get("component_scores")))
        for outcomes, values in found.outcomes:
            _add_outcomes(subject, outcomes, values)
        if not found.scores or entry is found.scores[0][1]:  # a repeated entry repeats no verdict
            for outcomes, values in found.outcomes:
                _review(self._out, run.run_id, outcomes, values)


def _are_outcomes(value: Any) -> bool:
    """Tell whether every instance has a cost and an outcome that is true, false or null."""
    outcomes = members(value).values()
    return all(_is_outcome(each) and isinstance(each["resolved"], bool | None) for each in outcomes)


def _run(run_id: str, place: Place, entry: Members, agent: Members) -> Run:
    version = text(entry.get("acp_agent_version")) or text(entry.get("agent_version"))
    name = text(entry.get("acp_agent_name")) or text(agent.get("agent_name"))
    run = Run(run_id, NAME, place, agent_id=text(agent.get("agent_name")))
    run.platform = " ".join(part for part in (name, version or text(agent.get("agent_version"))) if part) or None
    run.used(text(agent.get("model")))
    run.ended_at = parse_time(entry.get("submission_time"))
    return run


def _declare(subject: Subject, place: Place, entry: Members) -> None:
    for each in TOTALS:
        if each.name in entry:
            subject.declare(place.below(f"/{each.name}"), each, entry[each.name])
    scores = members(entry.get("component_scores"))
    for each in COMPONENT_SCORES:
        if each.name in scores:
            subject.declare(place.below(f"/component_scores/{each.name}"), each, scores[each.name])


def _add_counts(subject: Subject, place: Place, scores: Members) -> None:
    """Add the counts that stand beside the shares of a split benchmark."""
    for part in ("solveable", "unsolveable"):
        names = {f"{part}_resolved": "resolved", f"{part}_total": "total"}
        if names.keys() <= scores.keys():
            columns = {column: (place.below(f"/{name}"), scores[name]) for name, column in names.items()}
            subject.component(part, 1, columns)


def _add_outcomes(subject: Subject, place: Place, outcomes: Members) -> None:
    """Add each instance, and its outcome and cost where they are known; a row index is that of the instance."""
    for number, (instance, where, outcome) in enumerate(_instances(place, outcomes), 1):
        subject.component("instances", number, {"id": (where, instance)})
        for source, column in (("outcomes", "resolved"), ("costs", "cost")):
            if outcome[column] is not None:
                subject.component(source, number, {column: (where.below(f"/{column}"), outcome[column])})


def _review(out: Extraction, run_id: str, place: Place, outcomes: Members) -> None:
    """Add what the tests of the benchmark say of each instance; one without an outcome has no verdict."""
    for instance, where, outcome in _instances(place, outcomes):
        if outcome["resolved"] is not None:
            where.below("/resolved").add(
                out,
                "core_approvals",
                run_id=run_id,
                kind="review",
                by="rule",
                call_id=instance,
                result=f"resolved: {value_raw(outcome['resolved'])}",
            )


def _instances(place: Place, outcomes: Members) -> Iterator[tuple[str, Place, Members]]:
    for instance, outcome in outcomes.items():
        yield instance, place.below(escaped(instance)), outcome
