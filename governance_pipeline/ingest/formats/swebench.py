"""Result files of SWE-bench: predictions, exit statuses, reports of instances and runs, results of submissions.

Versions seen: harness report schema 2 (2026), per-instance reports of 2024, `results.json` and its breakdowns of the
public submissions (2024), `preds.json` and `exit_statuses_*.yaml` of mini-SWE-agent 2.2.7. Semantics from SWE-bench
`swebench/harness/reporting.py` (make_run_report) and `grading.py` (get_resolution_status), and from mini-SWE-agent
`run/benchmarks/`.

Structure; all files of one folder are about one set of runs, reports in `logs/` included:
- predictions: an object, an array or lines of {instance_id, model_name_or_path, model_patch}.
- `exit_statuses_<time>.yaml`: plain lines, a status and the instances that ended with it; one file per start.
- report of an instance: {id: {resolved, tests_status, patch_…}}; also bundled, one ``{"path", "report"}`` per line.
- report of a run: `*_instances` are counts, `*_ids` the lists they count.
- `results.json`: {resolved: [ids], no_generation: [ids], no_logs: [ids]}; `resolved_by_repo.json` and
  `resolved_by_time.json`: {resolved, total} per repository and year.

Traps:
- An instance may have been started several times: each exit status is a session of its own, and the prediction is
  that of the last. Ids may be misspelt in one file only; then they are two instances, nobody merges them.
- An empty patch is a prediction of nothing: a run without a step.
- A patch repeats what a trajectory did; where the same round holds the trajectory of the instance (its file is named
  after it), the patch is not counted again.
- `total` of a repository is the size of the data set; instances without a report stand in no_generation or no_logs.
  An instance that is in none of the three has disappeared.
- A list that is missing is not an empty list: its count is unknown. No file says in which year an instance is.
- completed = resolved + unresolved; submitted also counts empty patches and errors: four denominators.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging
from governance_pipeline.ingest.extraction import value_raw
from governance_pipeline.ingest.formats import swebench_kinds as kinds
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.edits import patch_files
from governance_pipeline.ingest.formats.places import Place, escaped, records
from governance_pipeline.ingest.formats.result_folders import result_folder
from governance_pipeline.ingest.formats.runs import Change, Run, RunNames, Step
from governance_pipeline.ingest.formats.values import entries, members, text
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

    Members = Mapping[str, Any]
    _ByRepository = dict[str | None, list[tuple[str, Place]]]

NAME: Final = "swebench"
_LISTS: Final = {
    "submitted_instances": "submitted_ids",
    "completed_instances": "completed_ids",
    "resolved_instances": "resolved_ids",
    "unresolved_instances": "unresolved_ids",
    "empty_patch_instances": "empty_patch_ids",
    "error_instances": "error_ids",
    "unstopped_instances": "unstopped_containers",
}
"""Count of a report -> the list it counts."""

_INCOMPLETE: Final = "incomplete_ids"
COUNTS: Final = tuple(Field(name, DataType.INTEGER, "instances") for name in ("total_instances", *_LISTS))
BREAKDOWNS: Final = {
    (is_by_year, member): Field(f"{member}_by_{'time' if is_by_year else 'repo'}", DataType.INTEGER, "instances")
    for is_by_year in (False, True)
    for member in (kinds.RESOLVED, "total")
}
DECLARES: Final[tuple[str, ...]] = tuple(field.name for field in (*COUNTS, *BREAKDOWNS.values()))
RECOMPUTABLE: Final[tuple[str, ...]] = (*(field.name for field in COUNTS), "resolved_by_repo", "total_by_repo")
VERSIONS: Final = "harness reports (schema 2), submissions of 2024, predictions and exit statuses of mini-SWE-agent 2"

_VERDICTS: Final = {"resolved_ids": "resolved", "unresolved_ids": "unresolved"}
_TRAJECTORY_ENDS: Final = (".traj.json", ".traj")


def detect(sample: Sample) -> bool:
    """Tell by the members of one of the kinds; lines may be predictions or reports."""
    if sample.shape == "document" and sample.values:
        value = sample.values[0]
        known = (kinds.is_predictions, kinds.is_report, kinds.is_run_report, kinds.is_submission, kinds.is_breakdown)
        return any(is_kind(value) for is_kind in known)
    return any(kinds.is_prediction(value) or kinds.report_in(value) is not None for value in sample.values)


def detect_text(head: str) -> bool:
    """Tell the exit statuses of a batch by their first line."""
    return head.startswith(kinds.EXIT_STATUSES)


def belonging(_: Sample, source: Path) -> Belonging:
    """Give the folder a result file is about."""
    return Belonging(results=result_folder(source, kinds.REPORTS), leads=True)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read the files of each folder together: an instance is found in several of them, and in another folder again."""
    names = RunNames(out)
    trajectories = frozenset(_trajectory_name(path) for path in out.frame("core_runs")["path"])
    folders: dict[str, _Results] = {}
    for file in files:
        results = folders.setdefault(kinds.folder_of(file.path), _Results(out, names, trajectories))
        if file.sample.shape == "text":
            results.take_statuses(file)
            continue
        for record in records(file):
            results.take(file, record)
    for results in folders.values():
        results.write()


class _Results:
    """What the files of one folder say; `trajectories` are the names of the trajectories the round holds too."""

    def __init__(self, out: Extraction, names: RunNames, trajectories: frozenset[str]) -> None:
        self._out = out
        self._names = names
        self._trajectories = trajectories
        self._sessions: dict[str, list[Run]] = defaultdict(list)
        self._predicted: set[str] = set()
        self._unseen: dict[str, str] = {}
        self._predictions: list[tuple[str, Place, Members]] = []
        self._reviews: list[tuple[str, Place, str, str | None]] = []
        self._paths: set[str] = set()
        self._passed: set[str] = set()
        self._lists: dict[str, dict[str, Place]] = {}
        self._reported: dict[str, Place] = {}
        self._breakdowns: list[tuple[Place, Members]] = []

    def take_statuses(self, file: LogFile) -> None:
        """Take in the exit statuses of one start: a line ``status:`` and below it one line ``- instance`` each."""
        status = None
        for record in file.text_lines():
            line = record.value.strip()
            if line.startswith("- ") and status is not None:
                instance, place = line[2:].strip().strip("'\""), Place.of(file, record)
                self._session(instance, place).exit_status = status
            elif line.endswith(":") and line != kinds.EXIT_STATUSES:
                status = line[:-1].strip("'\"")
            elif line not in (kinds.EXIT_STATUSES, kinds.EXIT_STATUSES + " {}") and not line.startswith("#"):
                file.quarantine(record, "no_exit_status")

    def take(self, file: LogFile, record: Record) -> None:
        """Take in one document or line, whichever kind it is."""
        value, place = record.value, Place.of(file, record)
        if isinstance(value, list):
            for item in file.items(value, record.pointer):
                self._take_prediction(file, item)
        elif kinds.is_prediction(value):
            self._take_prediction(file, record)
        elif kinds.is_predictions(value):
            for name, prediction in members(value).items():
                self._predictions.append((name, place.below(escaped(name)), members(prediction)))
        elif kinds.is_run_report(value):
            self._take_run_report(place, value)
        elif kinds.is_submission(value):
            self._paths.add(file.path)
            for name, instances in value.items():
                self._lists[name] = dict(_listed(place, name, instances))
            self._reviews += [
                (i, where, kinds.RESOLVED, None) for i, where in _listed(place, "resolved", value["resolved"])
            ]
        elif kinds.is_breakdown(value):
            self._breakdowns.append((place, value))
        else:
            self._take_report(file, record, place)

    def write(self) -> None:
        """Add the rows of all instances and numbers."""
        for name, place, prediction in self._predictions:
            self._predict(name, place, prediction)
        for instance, place, result, reason in self._reviews:
            place.add(
                self._out,
                "core_approvals",
                run_id=self._run_of(instance, place),
                kind="review",
                by="rule",
                result=result,
                reason=reason,
            )
        for sessions in self._sessions.values():
            for run in sessions:
                run.write(self._out)
        parts = self._parts() if self._breakdowns else {}
        for place, breakdown in self._breakdowns:
            self._declare_breakdown(place, breakdown, parts)

    def _session(self, instance: str, place: Place) -> Run:
        run = Run(self._names.claim(instance, place.file.path), NAME, place)
        self._sessions[instance].append(run)
        return run

    def _run_of(self, instance: str, place: Place) -> str:
        """Give the last session of an instance; one that no file of the folder has gets a name nobody else has."""
        if instance in self._sessions:
            return self._sessions[instance][-1].run_id
        if instance not in self._unseen:
            self._unseen[instance] = self._names.claim(instance, place.file.path)
        return self._unseen[instance]

    def _take_prediction(self, file: LogFile, record: Record) -> None:
        if not kinds.is_prediction(record.value):
            file.quarantine(record, "no_prediction")
            return
        self._predictions.append((record.value["instance_id"], Place.of(file, record), record.value))

    def _predict(self, name: str, place: Place, prediction: Members) -> None:
        instance = text(prediction.get("instance_id")) or name
        sessions = self._sessions.get(instance)
        last = sessions[-1] if sessions else None
        run = self._session(instance, place) if last is None or last.run_id in self._predicted else last
        self._predicted.add(run.run_id)
        run.used(text(prediction.get("model_name_or_path")))
        patch = text(prediction.get("model_patch"))
        if patch is None or instance in self._trajectories:
            return
        where = place.below("/model_patch")
        changes = [Change(file.path, file.counts, "submission", where, file.edit) for file in patch_files(patch)]
        run.steps.append(Step(where, tool="submission", is_opaque=not changes, changes=changes))

    def _take_report(self, file: LogFile, record: Record, place: Place) -> None:
        self._paths.add(file.path)  # also of a line that is no report: it may have been one of any instance
        found = kinds.report_in(record.value)
        if found is None:
            file.quarantine(record, "no_report")
            return
        pointer, report = found
        for instance, outcome in report.items():
            where = place.below(pointer + escaped(instance))
            self._reported[instance] = where
            if kinds.is_passed(members(outcome)):
                self._passed.add(instance)
            if isinstance(members(outcome).get(kinds.RESOLVED), bool):
                result = f"resolved: {value_raw(outcome[kinds.RESOLVED])}"
                self._reviews.append((instance, where.below("/resolved"), result, kinds.counts_of(outcome)))

    def _take_run_report(self, place: Place, report: Members) -> None:
        subject = Subject(
            self._out, NAME, self._names.claim(place.address.rstrip(":"), place.file.path), [place.file.path]
        )
        for field in COUNTS:
            if field.name in report:
                subject.declare(place.below(f"/{field.name}"), field, report[field.name])
        for name in (*_LISTS.values(), _INCOMPLETE):
            if not isinstance(report.get(name), list):
                subject.component(name, 1, {"id": (place, None)})  # no list is no empty list
            for number, instance in enumerate(entries(report.get(name)), 1):
                subject.component(name, number, {"id": (place.below(f"/{name}/{number - 1}"), instance)})
        for name, result in _VERDICTS.items():
            self._reviews += [(i, where, result, None) for i, where in _listed(place, name, report.get(name))]

    def _declare_breakdown(self, place: Place, breakdown: Members, parts: Mapping[str, _ByRepository | None]) -> None:
        is_by_year = kinds.is_by_year(breakdown)
        for name, counts in breakdown.items():
            where = place.below(escaped(name))
            wanted = self._names.claim(f"{place.address.rstrip(':')}{escaped(name)}", place.file.path)
            subject = Subject(self._out, NAME, wanted, self._paths)
            for member in (kinds.RESOLVED, "total"):
                subject.declare(where.below(f"/{member}"), BREAKDOWNS[is_by_year, member], members(counts).get(member))
            for source, instances in () if is_by_year else parts.items():
                if instances is None:
                    subject.component(source, 1, {"id": (where, None)})  # no file of that kind: unknown
                    continue
                for number, (instance, at) in enumerate(instances.get(name, ()), 1):
                    subject.component(source, number, {"id": (at, instance)})

    def _parts(self) -> dict[str, _ByRepository | None]:
        """Give the instances of each repository: listed as resolved, passed by their tests, and all that are known."""
        listed = self._lists.get(kinds.RESOLVED)
        left_out = {i: at for name in kinds.LEFT_OUT for i, at in self._lists.get(name, {}).items()}
        passed = {i: at for i, at in self._reported.items() if i in self._passed}
        is_complete = all(name in self._lists for name in kinds.LEFT_OUT)
        return {
            "resolved": None if listed is None else _by_repository(listed),
            "passed": _by_repository(passed) if self._reported else None,
            "known": _by_repository({**left_out, **self._reported}) if self._reported and is_complete else None,
        }


def _by_repository(instances: Mapping[str, Place]) -> _ByRepository:
    found: _ByRepository = defaultdict(list)
    for instance, place in instances.items():
        found[kinds.repository_of(instance)].append((instance, place))
    return found


def _listed(place: Place, name: str, instances: Any) -> list[tuple[str, Place]]:
    where = place.below(escaped(name))
    named = enumerate(entries(instances))
    return [(instance, where.below(f"/{index}")) for index, instance in named if text(instance) is not None]


def _trajectory_name(path: str) -> str:
    name = path.rpartition("/")[2]
    return next((name.removesuffix(end) for end in _TRAJECTORY_ENDS if name.endswith(end)), name)
