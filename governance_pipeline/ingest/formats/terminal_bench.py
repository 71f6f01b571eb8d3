"""Terminal-Bench results: one document per benchmark run, or per trial.

Versions seen: `results.json` of the leaderboard of July to September 2025 (terminal-bench-core 0.1.1), with and
without ids and times. Semantics from terminal-bench `terminal_bench/harness/models.py`.

Structure: `{results[], n_resolved, n_unresolved, accuracy, pass_at_k, resolved_ids, unresolved_ids}`; an entry is one
trial `{trial_name, task_id, is_resolved, failure_mode, parser_results, total_input_tokens, …}`, and the file of one
trial is such an entry by itself. A trial is a run; what the agent did is in recordings, so it has no steps.

Traps:
- is_resolved is null where the tests gave no result. n_unresolved counts null as unresolved.
- A trial is resolved when every test of parser_results passed; without test results it is not.
- Token counts are 0 for agents that are installed in the container: nobody counted.
- resolved_ids names a task once per trial, so it repeats ids.
- pass_at_k is empty with one trial per task; otherwise every task counts the same, whatever its trials.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging, only_id, texts
from governance_pipeline.ingest.extraction import parse_time, value_raw
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.places import Place, escaped, records
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.trials import Trial, add_trials, any_passes
from governance_pipeline.ingest.formats.usage import Tokens, UsageReport, write_usage
from governance_pipeline.ingest.formats.values import entries, members, text, whole
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

    Members = Mapping[str, Any]

NAME: Final = "terminal_bench"
TOTALS: Final = (
    Field("n_resolved", DataType.INTEGER, "trials"),
    Field("n_unresolved", DataType.INTEGER, "trials"),
    Field("accuracy", DataType.FLOAT, "share"),
)
PASS_AT_K: Final = Field("pass_at_k", DataType.FLOAT, "share")
DECLARES: Final[tuple[str, ...]] = (*(field.name for field in TOTALS), PASS_AT_K.name)
RECOMPUTABLE: Final[tuple[str, ...]] = DECLARES
VERSIONS: Final = "results.json of July to September 2025 (terminal-bench-core 0.1.1)"

_TIMES: Final = ("trial_started_at", "agent_started_at", "agent_ended_at", "test_ended_at", "trial_ended_at")
_PASSED: Final = "passed"
_K_DIGITS: Final = 4


def detect(sample: Sample) -> bool:
    """Tell by the members of the one document: a benchmark run or a single trial."""
    return sample.shape == "document" and any(_is_results(value) or _is_trial(value) for value in sample.values)


def belonging(sample: Sample, _: Path) -> Belonging:
    """Give the one trial a file holds, by its name; a file of several is a benchmark run without an id."""
    document = members(next(iter(sample.values), None))
    return Belonging(only_id(texts([document, *entries(document.get("results"))], "trial_name")))


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read each trial as one run; its name is its id."""
    names = RunNames(out)
    reports: list[UsageReport] = []
    for file in files:
        for document in records(file):
            if _is_results(document.value):
                reports += _read_results(out, names, file, document)
            elif _is_trial(document.value):
                reports += _write_trial(out, names, Place.of(file, document), document.value)
            else:
                file.quarantine(document, "no_trials")
    write_usage(out, reports)


def _is_trial(value: Any) -> bool:
    return {"task_id", "trial_name", "is_resolved", "parser_results"} <= members(value).keys()


def _is_results(value: Any) -> bool:
    document = members(value)
    return isinstance(document.get("results"), list) and {"n_resolved", "n_unresolved", "accuracy"} <= document.keys()


def _read_results(out: Extraction, names: RunNames, file: LogFile, document: Record) -> list[UsageReport]:
    reports: list[UsageReport] = []
    trials: list[tuple[Place, Members]] = []
    for record in file.items(entries(document.value.get("results")), "/results"):
        if not _is_trial(record.value):
            file.quarantine(record, "no_trial")
            continue
        place = Place.of(file, record)
        trials.append((place, record.value))
        reports += _write_trial(out, names, place, record.value)
    _declare(Subject(out, NAME, file.path, [file.path]), Place.of(file, document), document.value, trials)
    return reports


def _write_trial(out: Extraction, names: RunNames, place: Place, trial: Members) -> Iterator[UsageReport]:
    run = Run(names.claim(text(trial.get("trial_name")) or place.address, place.file.path), NAME, place)
    run.platform = "terminal-bench"
    run.exit_status = text(trial.get("failure_mode"))
    for name in _TIMES:
        run.saw(parse_time(trial.get(name)))
    run.write(out)
    if isinstance(trial.get("is_resolved"), bool):
        place.below("/is_resolved").add(
            out,
            "core_approvals",
            run_id=run.run_id,
            kind="review",
            by="rule",
            result=f"is_resolved: {value_raw(trial['is_resolved'])}",
            at=parse_time(trial.get("test_ended_at")),
        )
    tokens = Tokens(whole(trial.get("total_input_tokens")), whole(trial.get("total_output_tokens"))).or_unknown()
    return iter([UsageReport(place, run.run_id, tokens, at=run.ended_at)] if tokens.is_measured else [])


def _declare(subject: Subject, place: Place, document: Members, trials: Sequence[tuple[Place, Members]]) -> None:
    for field in TOTALS:
        subject.declare(place.below(f"/{field.name}"), field, document[field.name])
    counts: Counter[str] = Counter()
    for where, trial in trials:
        for source, member in _sources(trial):
            counts[source] += 1
            columns = {"trial_name": (where.below(f"/{member}"), text(trial["trial_name"]))}
            subject.component(source, counts[source], columns)
    results = [Trial(str(trial["task_id"]), trial["is_resolved"] is True, where) for where, trial in trials]
    for k, declared in members(document.get(PASS_AT_K.name)).items():
        of_k = replace(subject, subject_id=f"{subject.subject_id} k={k}")
        of_k.declare(place.below(f"/{PASS_AT_K.name}{escaped(k)}"), PASS_AT_K, declared)
        is_whole = k.isascii() and k.isdigit() and len(k) <= _K_DIGITS
        add_trials(of_k, "pass_at_k_tasks", results, int(k) if is_whole else 0, any_passes)


def _sources(trial: Members) -> Iterator[tuple[str, str]]:
    """Give the component sources a trial counts in, each with the member that says so."""
    resolved, tests = trial["is_resolved"], members(trial["parser_results"])
    yield "trials", "trial_name"
    if isinstance(resolved, bool):
        yield ("resolved" if resolved else "unresolved"), "is_resolved"
    else:
        yield "no_result", "is_resolved"
    if tests and all(result == _PASSED for result in tests.values()):
        yield "passed_all_tests", "parser_results"
