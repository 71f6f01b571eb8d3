"""Metrics of OpenHands: accumulated totals, and the lists they accumulate.

What belongs here: one metrics object, wherever it stands. What does not: which of several counts (openhands).

Semantics (OpenHands `openhands/llm/metrics.py`, SDK `openhands/sdk/llm/utils/metrics.py`): every completion adds one
entry to `costs` and one to `token_usages`, and the same numbers to the totals. A model without a price adds no cost,
so a total of 0.0 with an empty list has no parts and is not a sum of nothing. prompt_tokens include cached ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.usage import Tokens, UsageReport, chat_completion_tokens
from governance_pipeline.ingest.formats.values import entries, members, text, unpriced, whole
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.ingest.formats.runs import Run

    Members = Mapping[str, Any]

COST: Final = Field("accumulated_cost", DataType.CURRENCY, "USD")
TOKEN_KINDS: Final = (
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
TOKENS: Final = {kind: Field(f"accumulated_{kind}", DataType.INTEGER, "tokens") for kind in TOKEN_KINDS}
DECLARES: Final[tuple[str, ...]] = (COST.name, *(field.name for field in TOKENS.values()))

ONE_RESPONSE: Final = "a model response is written on the action and the observation of its call, and in the metrics"


def declare_totals(subject: Subject, place: Place, metrics: Members) -> None:
    """Add the totals a metrics object at `place` declares; one that is not there declares nothing."""
    if COST.name in metrics:
        subject.declare(place.below(f"/{COST.name}"), COST, metrics[COST.name])
    usage = members(metrics.get("accumulated_token_usage"))
    for kind, field in TOKENS.items():
        if kind in usage:
            subject.declare(place.below(f"/accumulated_token_usage/{kind}"), field, usage[kind])


def add_parts(subject: Subject, place: Place, metrics: Members) -> None:
    """Add the entries of the lists beside the totals."""
    for index, entry in enumerate(entries(metrics.get("costs"))):
        where = place.below(f"/costs/{index}")
        cost = (
            (where.below("/cost"), unpriced(entry.get("cost"))) if isinstance(entry, dict) else (where, unpriced(entry))
        )
        subject.component("costs", index + 1, {"cost": cost})
    for index, entry in enumerate(entries(metrics.get("token_usages"))):
        where, usage = place.below(f"/token_usages/{index}"), members(entry)
        is_known = _tokens(usage).is_measured
        columns = {k: (where.below(f"/{k}"), usage[k] if is_known else None) for k in TOKEN_KINDS if k in usage}
        subject.component("token_usages", index + 1, columns)


def add_response_parts(subject: Subject, reports: Sequence[UsageReport]) -> None:
    """Add the usage of model responses as parts, where no list stands beside the totals; each response once."""
    seen: set[str | None] = set()
    for report in reports:
        if report.key is not None and report.key in seen:
            continue
        seen.add(report.key)
        tokens = report.tokens
        values = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_creation, tokens.reasoning)
        columns = {kind: (report.place, value) for kind, value in zip(TOKEN_KINDS, values, strict=True)}
        subject.component("token_usages", len(seen), columns)


def metric_reports(run: Run, place: Place, metrics: Members) -> Iterator[UsageReport]:
    """Give one usage report per entry of `token_usages`, or per entry of `costs` where tokens are not listed.

    Costs belong to the entries only when there is one for each and both name the same model: the program appends
    both once per completion, but leaves out the cost when it knows no price.
    """
    usages, costs = entries(metrics.get("token_usages")), entries(metrics.get("costs"))
    if not usages:
        yield from _cost_reports(run, place, costs)
    is_paired = len(usages) == len(costs) and all(
        members(cost).get("model") in (None, members(usage).get("model"))
        for usage, cost in zip(usages, costs, strict=True)
    )
    for index, entry in enumerate(usages):
        usage = members(entry)
        cost = costs[index] if is_paired else None
        response = text(usage.get("response_id"))
        yield UsageReport(
            place.below(f"/token_usages/{index}"),
            run.run_id,
            _tokens(usage),
            call_id=response,
            key=response,
            reason=ONE_RESPONSE,
            model=text(usage.get("model")),
            is_cache_inside_input=True,
            cost=cost.get("cost") if isinstance(cost, dict) else cost,
            at=parse_time(members(cost).get("timestamp")),
        )


def _cost_reports(run: Run, place: Place, costs: Sequence[Any]) -> Iterator[UsageReport]:
    for index, entry in enumerate(costs):
        cost = entry.get("cost") if isinstance(entry, dict) else entry
        model, at = text(members(entry).get("model")), parse_time(members(entry).get("timestamp"))
        yield UsageReport(place.below(f"/costs/{index}"), run.run_id, Tokens(), model=model, cost=cost, at=at)


def response_report(run: Run, place: Place, response: Members, cost: Any = None) -> UsageReport | None:
    """Give the usage report of a model response (chat completion); None when it holds none."""
    if not isinstance(response.get("usage"), dict):
        return None
    response_id = text(response.get("id"))
    return UsageReport(
        place.below("/usage"),
        run.run_id,
        chat_completion_tokens(response["usage"]),
        call_id=response_id,
        key=response_id,
        reason=ONE_RESPONSE,
        model=text(response.get("model")),
        is_cache_inside_input=True,
        cost=cost,
        at=parse_time(response.get("created")),
    )


def _tokens(usage: Members) -> Tokens:
    return Tokens(
        input=whole(usage.get("prompt_tokens")),
        output=whole(usage.get("completion_tokens")),
        cache_creation=whole(usage.get("cache_write_tokens")),
        cache_read=whole(usage.get("cache_read_tokens")),
        reasoning=whole(usage.get("reasoning_tokens")),
    ).or_unknown()
