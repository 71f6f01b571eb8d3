"""Aider leaderboards: YAML (or the same as JSON), one list whose rows are results of one benchmark run each.

Versions seen: the polyglot, refactoring and comparison leaderboards of the project's website, rows of aider 0.27 to
0.86 (April 2024 to October 2025). Semantics from aider `benchmark/benchmark.py` (`summarize_results`), which prints
a row as the file has it.

Structure: `dirname` names the run (its start in local time, without an offset, and a label), `model`, `edit_format`,
`command`, `versions`; counts `test_cases`, `pass_num_1`, `pass_num_2`, `num_with_malformed_responses`; declared from
them `pass_rate_1`, `pass_rate_2`, `percent_cases_well_formed` in percent with one decimal; totals of cost, tokens and
time without their parts. `pass_num_2` counts cases solved at the first or second try.

Traps:
- The denominator is `test_cases`, the cases that were finished; `total_tests` is how many there are. Some rows were
  computed over `total_tests` by hand: those are mismatches.
- Rows up to 0.34 have no `num_with_malformed_responses`; then `num_malformed_responses` counted cases, and it is the
  part. Rows without `pass_num_1` (refactoring) have no parts for their pass rate.
- A total_cost of 0 is a price nobody knew.
- The same run is listed in several leaderboards, at times under another model name or cost: one run, whose numbers
  are checked wherever they are published.
- `date` is a day and `dirname` has no offset: no instant is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.places import Place
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.usage import Tokens, UsageReport, write_usage
from governance_pipeline.ingest.formats.values import entries, members, text, whole
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

    Members = Mapping[str, Any]

NAME: Final = "aider_leaderboard"
RATES: Final = tuple(
    Field(name, DataType.PERCENT, "%") for name in ("pass_rate_1", "pass_rate_2", "percent_cases_well_formed")
)
TOTALS: Final = (
    Field("total_cost", DataType.CURRENCY, "USD"),
    Field("seconds_per_case", DataType.FLOAT, "s"),
    Field("prompt_tokens", DataType.INTEGER, "tokens"),
    Field("completion_tokens", DataType.INTEGER, "tokens"),
    *(
        Field(name, DataType.INTEGER, "events")
        for name in (
            "error_outputs",
            "num_malformed_responses",
            "user_asks",
            "lazy_comments",
            "syntax_errors",
            "indentation_errors",
            "exhausted_context_windows",
            "test_timeouts",
        )
    ),
)
DECLARES: Final[tuple[str, ...]] = tuple(field.name for field in (*RATES, *TOTALS))
RECOMPUTABLE: Final[tuple[str, ...]] = tuple(field.name for field in RATES)
VERSIONS: Final = "rows of aider 0.27 to 0.86"

_MARKS: Final = frozenset({"dirname", "test_cases", "pass_rate_1"})
_LOOKED_AT: Final = 20
_MALFORMED: Final = "num_with_malformed_responses"
_MALFORMED_BEFORE: Final = "num_malformed_responses"
_ONE_RUN: Final = "several leaderboards list the same benchmark run, known by its folder"


def detect(sample: Sample) -> bool:
    """Tell by the members of the rows."""
    rows = entries(sample.values[0]) if sample.shape == "document" and sample.values else ()
    return any(members(row).keys() >= _MARKS for row in rows[:_LOOKED_AT])


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read every row as one run; a run listed again is the same run, its numbers are declared again."""
    reader = _Reader(out)
    for file in files:
        document = file.document()
        for record in file.items(entries(document.value), "") if document is not None else ():
            fault = _fault_of(record.value)
            if fault is not None:
                file.quarantine(record, fault)
            else:
                reader.take(Place.of(file, record), record.value)
    reader.write()


def _fault_of(row: Any) -> str | None:
    if not isinstance(row, dict):
        return "not_an_object"
    if text(row.get("dirname")) is None:
        return "no_dirname"
    return None if "test_cases" in row else "no_test_cases"


class _Reader:
    def __init__(self, out: Extraction) -> None:
        self._out = out
        self._names = RunNames(out)
        self._runs: dict[str, str] = {}
        self._reports: list[UsageReport] = []

    def take(self, place: Place, row: Members) -> None:
        dirname = row["dirname"]
        subject_id = self._names.claim(dirname, place.address)
        if dirname not in self._runs:
            self._runs[dirname] = subject_id
            _run(subject_id, place, row).write(self._out)
        self._reports.append(_report(place, self._runs[dirname], row))
        subject = Subject(self._out, NAME, subject_id, [place.file.path])
        for field in (*RATES, *TOTALS):
            if field.name in row:
                subject.declare(place.below(f"/{field.name}"), field, row[field.name])
        malformed = _MALFORMED if _MALFORMED in row else _MALFORMED_BEFORE
        columns = {name: name for name in ("test_cases", "pass_num_1", "pass_num_2")} | {_MALFORMED: malformed}
        parts = {column: (place.below(f"/{name}"), row.get(name)) for column, name in columns.items()}
        subject.component("results", 1, parts)

    def write(self) -> None:
        write_usage(self._out, self._reports)


def _run(run_id: str, place: Place, row: Members) -> Run:
    version = text(row.get("versions"))
    thinking = row.get("reasoning_effort", row.get("thinking_tokens"))
    run = Run(run_id, NAME, place, platform="aider" if version is None else f"aider {version}")
    run.thinking = None if thinking is None else str(thinking)
    for name in ("model", "editor_model"):
        run.used(text(row.get(name)))
    return run


def _report(place: Place, run_id: str, row: Members) -> UsageReport:
    tokens = Tokens(whole(row.get("prompt_tokens")), whole(row.get("completion_tokens"))).or_unknown()
    model, cost = text(row.get("model")), row.get("total_cost")
    return UsageReport(place, run_id, tokens, key=row["dirname"], reason=_ONE_RUN, model=model, cost=cost)
