"""Approvals, rejections and verdicts in OpenHands logs.

What belongs here: the rows of `core_approvals` of one run, and the verdicts of evaluation and resolver records. What
does not: recognising in a stream or conversation that a call was approved (openhands_events, openhands_conversation).

Verdicts: the resolver asks a model whether the issue is solved (`success`, one `comment_success` per review comment;
`resolver/interfaces/issue_definitions.py`, guess_success); a benchmark compares with tests or expected answers
(`correct`, `resolved`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import value_raw
from governance_pipeline.ingest.formats.values import entries, members, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.ingest.formats.runs import Run

    Members = Mapping[str, Any]

MODE, APPROVED, DENIED, REVIEW = "mode", "approved", "rejected", "review"
HUMAN, MODEL, RULE = "human", "model", "rule"

_BY_RULE: Final = (
    ("correct",),
    ("report", "resolved"),
    ("test_result", "report", "resolved"),
    ("test_result", "resolved"),
)
"""Where evaluations of benchmarks write that an instance is solved."""


@dataclass
class Approval:
    """One approval, rejection, mode or verdict; what the log does not say stays None."""

    place: Place
    kind: str
    by: str | None = None
    call_id: str | None = None
    result: str | None = None
    reason: str | None = None
    at: datetime | None = None


def write_approvals(out: Extraction, run: Run, approvals: Iterable[Approval]) -> None:
    """Add one row per approval."""
    for approval in approvals:
        approval.place.add(
            out,
            "core_approvals",
            run_id=run.run_id,
            kind=approval.kind,
            by=approval.by,
            call_id=approval.call_id,
            result=approval.result,
            reason=approval.reason,
            at=approval.at,
        )


def verdicts_of(place: Place, record: Members) -> Iterator[Approval]:
    """Give the verdicts a record carries about its own run; one that is no true or false is none."""
    explanation = record.get("result_explanation")
    if isinstance(record.get("success"), bool):
        result = f"success: {value_raw(record['success'])}"
        yield Approval(place.below("/success"), REVIEW, MODEL, result=result, reason=text(explanation))
    for index, verdict in enumerate(entries(record.get("comment_success"))):
        if isinstance(verdict, bool):
            reason = entries(explanation)[index] if index < len(entries(explanation)) else None
            where = place.below(f"/comment_success/{index}")
            yield Approval(where, REVIEW, MODEL, result=f"comment_success: {value_raw(verdict)}", reason=text(reason))
    for names in _BY_RULE:
        value: Any = record
        for name in names:
            value = members(value).get(name)
        if isinstance(value, bool):
            where = place.below("".join(f"/{name}" for name in names))
            yield Approval(where, REVIEW, RULE, result=f"{names[-1]}: {value_raw(value)}")
