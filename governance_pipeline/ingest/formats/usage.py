"""Reports of what API calls used, and which of them are repetitions.

What belongs here: `core_usage` of any foreign log. What does not: where a format writes its reports.
Reports with the same key are one call. The one with the most output tokens counts, because reports of a call that is
still being written grow; among equals the first. The others stay in the table and name it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.ingest.extraction import value_kind, value_raw
from governance_pipeline.ingest.formats.values import members, price_usd, whole
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.places import Place


class Tokens(NamedTuple):
    """Token counts of one report; None = the log does not know."""

    input: int | None = None
    output: int | None = None
    cache_creation: int | None = None
    cache_read: int | None = None
    reasoning: int | None = None

    @property
    def is_measured(self) -> bool:
        """False when the report is nothing but zeros: no call uses no token, so nobody counted."""
        return any(self)

    def or_unknown(self) -> Tokens:
        """Give the counts, or none when nobody counted."""
        return self if self.is_measured else Tokens()


@dataclass
class UsageReport:
    """One report; `key` says which call it belongs to (None: a call of its own), `reason` why that key.

    `repeats` is the first of the reports it is known to add up; such a report never counts, however large it is.
    `told_at` is the address of the same call in a log of another format, which counts instead.
    """

    place: Place
    run_id: str
    tokens: Tokens
    call_id: str | None = None
    key: str | None = None
    reason: str | None = None
    model: str | None = None
    is_cache_inside_input: bool | None = None
    cost: Any = None
    at: datetime | None = None
    repeats: UsageReport | None = None
    told_at: str | None = None


def chat_completion_tokens(usage: Any) -> Tokens:
    """Read the usage of an OpenAI-style response, chat completion or Responses API; cached tokens are inside input."""
    report = members(usage)
    details = members(report.get("prompt_tokens_details") or report.get("input_tokens_details"))
    produced = members(report.get("completion_tokens_details") or report.get("output_tokens_details"))
    cache_read = whole(details.get("cached_tokens"))
    return Tokens(
        input=whole(report.get("prompt_tokens", report.get("input_tokens"))),
        output=whole(report.get("completion_tokens", report.get("output_tokens"))),
        cache_creation=whole(report.get("cache_creation_input_tokens")),
        cache_read=whole(report.get("cache_read_input_tokens")) if cache_read is None else cache_read,
        reasoning=whole(produced.get("reasoning_tokens")),
    ).or_unknown()


def write_usage(out: Extraction, reports: Iterable[UsageReport]) -> None:
    """Add one row per report, in the order given."""
    reports = list(reports)
    counts: dict[str, UsageReport] = {}
    for report in reports:
        if report.key is not None and report.repeats is None:
            best = counts.setdefault(report.key, report)
            if _output(report) > _output(best):
                counts[report.key] = report
    crowded = Counter((report.place.file.path, report.place.record.line) for report in reports)
    for report in reports:
        counted = report.repeats or (report if report.key is None else counts[report.key])
        _write(out, report, report.told_at or (None if counted is report else _address(counted.place, crowded)))


def _address(place: Place, crowded: Counter[tuple[str, int | None]]) -> str:
    """Name a report by its line where it is the only one there, else by its pointer too."""
    is_alone = place.record.line is not None and crowded[place.file.path, place.record.line] == 1
    return f"{place.file.path}:{place.record.line}" if is_alone else place.address


def _output(report: UsageReport) -> int:
    return -1 if report.tokens.output is None else report.tokens.output


def _write(out: Extraction, report: UsageReport, duplicate_of: str | None) -> None:
    report.place.add(
        out,
        "core_usage",
        run_id=report.run_id,
        call_id=report.call_id,
        dedup_key=report.key,
        dedup_reason=report.reason if report.key is not None or report.repeats is not None else None,
        duplicate_of=duplicate_of,
        model_id=report.model,
        input_tokens=report.tokens.input,
        output_tokens=report.tokens.output,
        cache_creation_tokens=report.tokens.cache_creation,
        cache_read_tokens=report.tokens.cache_read,
        reasoning_tokens=report.tokens.reasoning,
        is_cache_inside_input=report.is_cache_inside_input,
        cost_usd=price_usd(report.cost),
        cost_lexeme=value_raw(report.cost) if value_kind(report.cost) is ValueKind.NUMBER else None,
        at=report.at,
    )
