"""Summaries of the judge of tau2-bench: a model's verdict on each simulation, and how often it agreed.

What belongs here: one summary file (`judge_viewer`, `*.summary_<prompt>.json`). What does not: simulations.

Semantics: `agreement` of an entry compares the judge's verdict with the benchmark's own success. The vocabulary of
verdicts is open, the program knows the words pass, satisfied and fail only, and writes null for any other. So
agree_count is the number of entries whose agreement is true, and disagree_count that of all others: null is counted
as a disagreement. Read by its words (the lists below, all words seen) the same judge agrees more often: that is a
second check, and a word nobody has seen makes it unknown. Each verdict is kept as written.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.places import Place
from governance_pipeline.ingest.formats.usage import Tokens, UsageReport
from governance_pipeline.ingest.formats.values import entries, members, text, unpriced, whole
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.runs import Run
    from governance_pipeline.ingest.logfile import LogFile, Record

    Members = Mapping[str, Any]

TOTALS: Final = (
    Field("total_judged", DataType.INTEGER, "simulations"),
    Field("agree_count", DataType.INTEGER, "simulations"),
    Field("disagree_count", DataType.INTEGER, "simulations"),
    Field("total_cost_usd", DataType.CURRENCY, "USD"),
)
_PASSING: Final = frozenset({"pass", "satisfied", "satisfactory", "partially satisfied", "compliant", "correct"})
_FAILING: Final = frozenset({"fail", "failure", "unsatisfactory"})
_NO_VERDICT: Final = frozenset({"unknown"})
_ENTRY: Final = {"judge_verdict", "agreement"}


def is_judge_summary(value: Any) -> bool:
    """Tell a summary by its totals and the members of its entries."""
    document = members(value)
    judged = entries(document.get("entries"))
    has_totals = {"total_judged", "agree_count"} <= document.keys()
    return has_totals and all(members(entry).keys() >= _ENTRY for entry in judged)


def write_judge_summary(out: Extraction, format_name: str, run: Run, document: Members) -> list[UsageReport]:
    """Add the judging as a run, its verdicts as reviews and its totals; give what the judge used."""
    place, file = run.place, run.place.file
    judged = list(file.items(entries(document.get("entries")), "/entries"))
    run.agent_id = "judge"
    for record in judged:
        run.used(text(members(record.value).get("judge_model")))
    run.write(out)
    subject = Subject(out, format_name, run.run_id, [file.path])
    for field in TOTALS:
        if field.name in document:
            subject.declare(place.below(f"/{field.name}"), field, document[field.name])
    reports: list[UsageReport] = []
    for number, record in enumerate(judged, 1):
        reports += _take(out, subject, run, file, number, record)
    _count(subject, file, judged)
    return reports


def _take(
    out: Extraction, subject: Subject, run: Run, file: LogFile, number: int, record: Record
) -> Iterator[UsageReport]:
    entry, place = members(record.value), Place.of(file, record)
    place.add(
        out,
        "core_approvals",
        run_id=text(entry.get("simulation_id")),
        kind="review",
        by="model",
        by_id=text(entry.get("judge_model")),
        result=text(entry.get("judge_verdict")),
        reason=text(entry.get("judge_justification")),
    )
    cost = unpriced(entry.get("judge_cost_usd"))
    subject.component(
        "judged",
        number,
        {"simulation_id": (place, entry.get("simulation_id")), "cost": (place.below("/judge_cost_usd"), cost)},
    )
    tokens = Tokens(whole(entry.get("judge_prompt_tokens")), whole(entry.get("judge_completion_tokens"))).or_unknown()
    if tokens.is_measured or cost is not None:
        yield UsageReport(place, run.run_id, tokens, model=text(entry.get("judge_model")), cost=cost)


def _count(subject: Subject, file: LogFile, judged: Sequence[Record]) -> None:
    """Add who agreed as the program saw it, and as the words of the verdict say."""
    counts: Counter[str] = Counter()
    for record in judged:
        entry, place = members(record.value), Place.of(file, record)
        source = "agreed" if entry.get("agreement") is True else "not_agreed"
        counts[source] += 1
        columns = {"agreement": (place.below("/agreement"), entry.get("agreement"))}
        subject.component(source, counts[source], columns)
        word = (text(entry.get("judge_verdict")) or "").strip().lower()
        is_known = word in _PASSING | _FAILING | _NO_VERDICT
        if not is_known or (word not in _NO_VERDICT and entry.get("tau2_success") is (word in _PASSING)):
            counts["agreed_by_words"] += 1
            verdict = (place.below("/judge_verdict"), entry.get("judge_verdict") if is_known else None)
            subject.component("agreed_by_words", counts["agreed_by_words"], {"verdict": verdict})
