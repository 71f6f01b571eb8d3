"""Totals of Inspect AI logs: what the header declares, and the parts its samples hold.

What belongs here: declared numbers and their parts. What does not: runs and steps (inspect_ai_samples), arithmetic of
scores (inspect_ai_scores). Subjects: the log (numbers of samples), ``log/score`` (metrics), ``log/model`` (tokens of
the log), ``run/model`` (tokens of a sample).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.inspect_ai_scores import MEAN, number, over_epochs, score_number, spread
from governance_pipeline.ingest.formats.places import escaped
from governance_pipeline.ingest.formats.values import entries, members, text
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.inspect_ai_samples import SampleRun
    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.ingest.formats.runs import RunNames

    Members = Mapping[str, Any]

NAME: Final = "inspect_ai"
COUNTS: Final = tuple(Field(name, DataType.INTEGER, "samples") for name in ("total_samples", "completed_samples"))
_TOKENS: Final = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "input_tokens_cache_write",
    "input_tokens_cache_read",
    "reasoning_tokens",
)
KINDS: Final = (
    *(Field(name, DataType.INTEGER, "tokens") for name in _TOKENS),
    Field("total_cost", DataType.CURRENCY, "USD"),
)
METRICS: Final = tuple(Field(name, DataType.FLOAT, "score") for name in ("accuracy", "mean", "stderr", "std", "var"))
OTHER_METRIC: Final = Field("metric", DataType.FLOAT, "score")
"""A metric of the task's own, or one with options; its own name is in its pointer."""

SCORED: Final = Field("scored_samples", DataType.INTEGER, "samples")
UNSCORED: Final = Field("unscored_samples", DataType.INTEGER, "samples")
WITH_REASONING: Final = Field("total_tokens_with_reasoning", DataType.INTEGER, "tokens")
OF_SAMPLE: Final = "sample_"
"""Beginning of a field that is declared by a sample and not by the log."""

RECOMPUTABLE: Final[tuple[str, ...]] = (
    *(kind.name for kind in (*COUNTS, *METRICS, SCORED, *KINDS, WITH_REASONING)),
    *(OF_SAMPLE + kind.name for kind in KINDS),
)
DECLARES: Final[tuple[str, ...]] = (*RECOMPUTABLE, UNSCORED.name, OTHER_METRIC.name)

_PARTS_OF_TOTAL: Final = ("input_tokens", "output_tokens", "input_tokens_cache_write", "input_tokens_cache_read")
_REASONING: Final = "reasoning_tokens"
_REASONING_OUTSIDE: Final = "google/"
"""Models whose provider counts reasoning beside the output (inspect_ai `model/_providers/google.py`)."""


@dataclass
class _Score:
    """One declared score: its metrics, and the value of each sample by epoch."""

    subject: Subject
    place: Place
    declared: Members
    reducer: str
    values: dict[tuple[bool, str], list[tuple[Place, Any, Fraction | None]]] = field(default_factory=dict)

    def value_of(self, sample: Members) -> tuple[str, Any] | None:
        """Give the pointer and value of this score in a sample; of a score of several values the one of its name."""
        scores = members(sample.get("scores"))
        name = text(self.declared.get("name")) or ""
        for scorer in (text(self.declared.get("scorer")) or "", name):
            if isinstance(scores.get(scorer), dict) and "value" in scores[scorer]:
                value, pointer = scores[scorer]["value"], f"/scores{escaped(scorer)}/value"
                is_one_of_several = isinstance(value, dict) and name in value
                return (pointer + escaped(name), value[name]) if is_one_of_several else (pointer, value)
        return None

    def write(self) -> None:
        """Add one row per sample, and the spread of them all."""
        reduced = []
        for row_index, found in enumerate(self.values.values(), 1):
            place, raw, _ = found[0]
            mean = over_epochs([each for *_, each in found], self.reducer)
            is_number = isinstance(raw, int | Lexeme) and not isinstance(raw, bool)
            shown = raw if is_number and len(found) == 1 else number(mean)
            self.subject.component("scores", row_index, {"value": (place, shown)})
            reduced.append(mean)
        if reduced:
            place = next(iter(self.values.values()))[0][0]
            self.subject.component("spread", 1, {name: (place, value) for name, value in spread(reduced).items()})


class Totals:
    """The declared numbers of one log while its samples are read."""

    def __init__(self, out: Extraction, names: RunNames, run_id: str, place: Place, header: Members) -> None:
        self._out, self._names, self._header = out, names, header
        self._path = place.file.path
        self._log = Subject(out, NAME, run_id, [self._path])
        self._counts: dict[tuple[str, str], int] = {}
        self._scores: list[_Score] = []
        self._models: dict[str, Subject] = {}
        self._declare(place)

    def take(self, found: SampleRun) -> None:
        """Take in the parts one sample holds, and what it declares itself."""
        sample, place = found.sample, found.place
        config = members(members(self._header.get("eval")).get("config"))
        identity = (place.below("/id"), None if config.get("log_samples") is False else sample.get("id"))
        self._row(self._log, "samples", {"id": identity})
        if sample.get("error") is None:
            self._row(self._log, "completed", {"id": identity})
        for score in self._scores:
            self._take_score(score, found)
        self._take_usage(found)

    def write(self) -> None:
        """Add the parts that need all samples."""
        for score in self._scores:
            score.write()

    def _declare(self, place: Place) -> None:
        results = members(self._header.get("results"))
        for kind in COUNTS:
            if results.get(kind.name) is not None:
                self._log.declare(place.below(f"/results/{kind.name}"), kind, results[kind.name])
        for index, score in enumerate(entries(results.get("scores"))):
            self._declare_score(place.below(f"/results/scores/{index}"), members(score))
        usage = members(members(self._header.get("stats")).get("model_usage"))
        for model, report in usage.items():
            self._models[model] = self._subject(f"{self._log.subject_id}/{model}")
            self._declare_usage(model, place.below("/stats/model_usage" + escaped(model)), members(report))

    def _declare_score(self, place: Place, declared: Members) -> None:
        config = members(members(self._header.get("eval")).get("config"))
        reducer = text(declared.get("reducer")) or next(iter(entries(config.get("epochs_reducer"))), MEAN)
        subject = self._subject(f"{self._log.subject_id}/{text(declared.get('name')) or ''}")
        score = _Score(subject, place, declared, str(reducer))
        self._scores.append(score)
        for kind in (SCORED, UNSCORED):
            if declared.get(kind.name) is not None:
                subject.declare(place.below(f"/{kind.name}"), kind, declared[kind.name])
        for name, metric in members(declared.get("metrics")).items():
            value = members(metric)
            options = members(value.get("params")) or members(value.get("options"))
            kind = next((kind for kind in METRICS if kind.name == name and not options), OTHER_METRIC)
            subject.declare(place.below(f"/metrics{escaped(name)}/value"), kind, value.get("value"))

    def _declare_usage(self, model: str, place: Place, report: Members) -> None:
        subject = self._models[model]
        self._declare_kinds(subject, place, report, "")
        total = report.get("total_tokens")
        kinds = [name for name in _PARTS_OF_TOTAL if report.get(name) is not None]
        for name in kinds:
            self._row(subject, "kinds", {"tokens": (place.below(f"/{name}"), report[name])})
        if model.startswith(_REASONING_OUTSIDE) and report.get(_REASONING) is not None and total is not None:
            subject.declare(place.below("/total_tokens"), WITH_REASONING, total)
            for name in (*kinds, _REASONING):
                self._row(subject, "kinds_with_reasoning", {"tokens": (place.below(f"/{name}"), report[name])})

    def _declare_kinds(self, subject: Subject, place: Place, report: Members, beginning: str) -> None:
        for kind in KINDS:
            if report.get(kind.name) is not None:
                named = Field(beginning + kind.name, kind.data_type, kind.unit)
                subject.declare(place.below(f"/{kind.name}"), named, report[kind.name])

    def _take_score(self, score: _Score, found: SampleRun) -> None:
        value = score.value_of(found.sample)
        if value is None:
            return
        key = (isinstance(found.sample.get("id"), str), str(found.sample.get("id")))
        pointer, raw = value
        score.values.setdefault(key, []).append((found.place.below(pointer), raw, score_number(raw)))

    def _take_usage(self, found: SampleRun) -> None:
        sample = found.sample
        usage = sample.get("model_usage")
        own: dict[str, Subject] = {}
        for model, report in members(usage).items():
            own[model] = self._subject(f"{found.run.run_id}/{model}")
            place = found.place.below("/model_usage" + escaped(model))
            self._declare_kinds(own[model], place, members(report), OF_SAMPLE)
            if model in self._models:
                self._row(self._models[model], "sample_usage", _kinds(place, members(report)))
        for model, pointer, _, report in found.reports():
            for subject in (self._models.get(model), own.get(model)):
                if subject is not None:
                    self._row(subject, "model_events", _kinds(found.place.below(pointer), report))
        self._add_unknown(found, is_silent=not isinstance(usage, dict))

    def _add_unknown(self, found: SampleRun, *, is_silent: bool) -> None:
        """Add rows of unknowns for usage that is not in the log: attempts before a retry, and what is left out."""
        is_retried = bool(entries(found.sample.get("error_retries")))
        for subject in self._models.values():
            if is_retried or is_silent:
                self._row(subject, "sample_usage", _kinds(found.place, {}))
            if is_retried or not isinstance(found.sample.get("events"), list):
                self._row(subject, "model_events", _kinds(found.place, {}))

    def _subject(self, wanted: str) -> Subject:
        return Subject(self._out, NAME, self._names.claim(wanted, self._path), [self._path])

    def _row(self, subject: Subject, source: str, columns: Mapping[str, tuple[Place, Any]]) -> None:
        key = (subject.subject_id, source)
        self._counts[key] = self._counts.get(key, 0) + 1
        subject.component(source, self._counts[key], columns)


def _kinds(place: Place, report: Members) -> dict[str, tuple[Place, Any]]:
    return {kind.name: (place.below(f"/{kind.name}"), report.get(kind.name)) for kind in KINDS}
