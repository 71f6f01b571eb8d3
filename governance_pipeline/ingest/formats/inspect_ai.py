"""Inspect AI evaluation logs: `.json` documents and `.eval` archives (zip, members deflated or zstd).

Versions seen: log version 2 of inspect_ai 0.3.43 (Nov 2024) to 0.3.208 (May 2026), both kinds of file. Semantics from
inspect_ai `log/_log.py`, `model/_model_output.py` (ModelUsage), `scorer/_metric.py`, `_metrics/std.py`.

Structure: a header (`version`, `status`, `eval`, `plan`, `results`, `stats`) and samples. In a document they are
`samples[]`, in an archive the members `samples/<id>_epoch_<n>.json` beside `header.json`; `_journal/start.json` is the
header while the evaluation runs, `_journal/summaries/` what `summaries.json` repeats. A log is a run; each sample in
each epoch is a run of it. Records are the members of an archive, the samples of a document.

Traps:
- A published log may hold a few of the samples its header speaks of: totals then differ by scope, and that is shown.
- input_tokens exclude cached tokens. total_tokens are input, output and cache; Google's reasoning is outside output
  and in the total, so its total is checked both ways.
- A kind of token nobody reported is absent, not 0. An answer from Inspect's own cache used nothing.
- Attempts before a retry (`error_retries`) are in the totals of the log and in no sample: those sums are unknown.
- Scores are reduced over epochs first, then averaged; an unscored sample is left out, not 0. Metrics with options
  (clusters) and reducers other than the mean are not worked out.
- Evaluations of one set share `run_id`; only `eval_id`, or before it `task_id`, is of one log.
- NaN, which Inspect writes for a score that is none, is no JSON: that sample is quarantined.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging
from governance_pipeline.ingest.extraction import parse_time
from governance_pipeline.ingest.formats import inspect_ai_totals
from governance_pipeline.ingest.formats.inspect_ai_samples import SampleRun
from governance_pipeline.ingest.formats.inspect_ai_totals import Totals
from governance_pipeline.ingest.formats.places import Place
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.usage import UsageReport, write_usage
from governance_pipeline.ingest.formats.values import entries, members, text
from governance_pipeline.ingest.logfile import Record
from governance_pipeline.ingest.rejections import Repetition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample
    from governance_pipeline.strict.archive import Archive

    Members = Mapping[str, Any]

NAME: Final = inspect_ai_totals.NAME
DECLARES: Final[tuple[str, ...]] = inspect_ai_totals.DECLARES
RECOMPUTABLE: Final[tuple[str, ...]] = inspect_ai_totals.RECOMPUTABLE
VERSIONS: Final = "log version 2: .json and .eval (deflate, zstd) of inspect_ai 0.3.43 to 0.3.208"

HEADER: Final = "header.json"
START: Final = "_journal/start.json"
SUMMARIES: Final = "summaries.json"
_JOURNAL: Final = "_journal/"
_SAMPLES: Final = "samples/"
_JOURNALED: Final = "the journal holds what the log says once it is finished"
_ONE_SAMPLE: Final = "a sample of a log has one uuid"
_OTHERS: Final = frozenset({HEADER, SUMMARIES, "reductions.json"})


def detect(sample: Sample) -> bool:
    """Tell a document by its header."""
    is_document = sample.shape == "document" and len(sample.values) == 1
    return is_document and _is_header(sample.values[0]) and "status" in sample.values[0]


def detect_archive(archive: Archive) -> Any:
    """Give the header of an archive: `header.json`, or the one it began with."""
    by_name = {member.name: member for member in archive.members}
    member = by_name.get(HEADER) or by_name.get(START)
    value = None if member is None else archive.read_json(member)
    return value if _is_header(value) else None


def belonging(sample: Sample, _: Path) -> Belonging:
    """Give the id of a log; `run_id` is that of a set of evaluations."""
    header = members(members(sample.values[0]).get("eval"))
    return Belonging(text(header.get("eval_id")) or text(header.get("task_id")))


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read each file as one log."""
    names = RunNames(out)
    for file in files:
        is_archive = file.sample.shape == "archive"
        record = _header_record(file) if is_archive else file.document()
        if record is not None:
            log = _Log(out, names, file, record)
            for item in _samples_of_archive(file) if is_archive else _samples_of_document(file, record.value):
                log.take(item)
            log.write()


def _is_header(value: Any) -> bool:
    header = members(value)
    return isinstance(header.get("version"), int) and {"task", "model", "created"} <= members(header.get("eval")).keys()


def _header_record(file: LogFile) -> Record:
    header = file.sample.values[0]
    return Record(None, "/" + (HEADER if "status" in header else START.replace("/", "~1")), header, None, None)


def _samples_of_document(file: LogFile, document: Members) -> Iterator[Record]:
    for item in file.items(entries(document.get("samples")), "/samples"):
        if isinstance(item.value, dict):
            yield item
        else:
            file.quarantine(item, "not_an_object")


def _samples_of_archive(file: LogFile) -> Iterator[Record]:
    """Give the samples; the journal repeats the rest where the rest is there."""
    has_header = "status" in file.sample.values[0]
    for item in file.members():
        name = item.pointer[1:].replace("~1", "/").replace("~0", "~")
        if name.startswith(_SAMPLES) and isinstance(item.value, dict):
            yield item
        elif name.startswith(_JOURNAL):
            if has_header:
                kept = HEADER if name == START else SUMMARIES
                file.duplicate(item, "journal", Repetition(f"{file.path}:/{kept}", kept, _JOURNALED))
        elif name not in _OTHERS:
            file.quarantine(item, "not_an_object" if name.startswith(_SAMPLES) else "unknown_member")


class _Log:
    """One log while its samples are read."""

    def __init__(self, out: Extraction, names: RunNames, file: LogFile, record: Record) -> None:
        self._out, self._names, self._file = out, names, file
        self._header = members(record.value)
        self._eval = members(self._header.get("eval"))
        wanted = text(self._eval.get("eval_id")) or text(self._eval.get("task_id")) or file.path
        place = Place.of(file, record)
        self._run = self._new_run(wanted, place)
        self._totals = Totals(out, names, self._run.run_id, place, self._header)
        self._reports: list[UsageReport] = []
        self._seen: dict[str, tuple[str, str]] = {}
        file.state_version(str(self._header["version"]))

    def take(self, item: Record) -> None:
        """Take in one sample; one that is there twice, by its own unique id, counts once, and another is refused."""
        sample, uuid = item.value, text(item.value.get("uuid"))
        if uuid is not None:
            digest = _digest(sample)
            first, known = self._seen.setdefault(uuid, (item.pointer, digest))
            if known != digest:
                self._file.quarantine(item, "repeated_id")
                return
            if first != item.pointer:
                self._file.duplicate(
                    item, "repeated_sample", Repetition(f"{self._file.path}:{first}", uuid, _ONE_SAMPLE)
                )
                return
        place = Place.of(self._file, item)
        run = self._new_run(f"{self._run.run_id}/{sample.get('id')}/{sample.get('epoch')}", place)
        run.parent_run_id = self._run.run_id
        found = SampleRun(run, place, sample)
        found.write(self._out)
        self._totals.take(found)
        self._reports += found.usage()

    def write(self) -> None:
        """Add what needs all samples, and the run of the log itself."""
        run, stats = self._run, members(self._header.get("stats"))
        run.exit_status = text(self._header.get("status"))
        for time in (self._eval.get("created"), stats.get("started_at"), stats.get("completed_at")):
            run.saw(parse_time(time))
        run.write(self._out)
        self._write_mode()
        self._totals.write()
        write_usage(self._out, self._reports)

    def _new_run(self, wanted: str, place: Place) -> Run:
        run = Run(self._names.claim(wanted, self._file.path), NAME, place)
        version = text(members(self._eval.get("packages")).get("inspect_ai"))
        run.platform = "inspect_ai" if version is None else f"inspect_ai {version}"
        run.session_id = text(self._eval.get("run_id"))
        run.agent_id = text(self._eval.get("solver"))
        run.used(text(self._eval.get("model")))
        run.thinking = text(members(self._eval.get("model_generate_config")).get("reasoning_effort"))
        return run

    def _write_mode(self) -> None:
        """Write which approvers the evaluation asks, in its own order."""
        approval = members(members(self._eval.get("config")).get("approval"))
        names = [text(members(each).get("name")) for each in entries(approval.get("approvers"))]
        if any(names):
            self._run.place.below("/eval/config/approval").add(
                self._out,
                "core_approvals",
                run_id=self._run.run_id,
                kind="mode",
                result=", ".join(name for name in names if name),
                at=parse_time(self._eval.get("created")),
            )


def _digest(sample: Members) -> str:
    """Give a digest of all a sample holds, made event by event: a sample may be most of a large document."""
    found = hashlib.sha256()
    for name, value in sorted(sample.items()):
        parts = [name, "list", *value] if isinstance(value, list) else [name, "value", value]
        for part in parts:
            found.update(json.dumps(part, sort_keys=True).encode() + b"\n")
    return found.hexdigest()
