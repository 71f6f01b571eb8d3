"""Totals of a Claude Code result event, and the parts of each.

What belongs here: which member of a result is which field, and what it is held against. What does not: reading events
(claude_code_stream_session).

- total_cost_usd is the sum of `modelUsage.<model>.costUSD`, and each of these is tokens x list price. It has no parts
  where something else was billed as well: web searches, or cache writes that may be for an hour, which cost more.
- usage is that of the main chain: the sum over its messages, each id once. No parts where a second result or a
  sub-agent makes it unclear which messages are meant.
- num_turns: one for the prompt, one per message with tool results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.claude_code_stream_session import FORMAT
from governance_pipeline.ingest.formats.claude_code_tasks import TOTALS
from governance_pipeline.ingest.formats.places import escaped
from governance_pipeline.ingest.formats.priced import add_priced_call
from governance_pipeline.ingest.formats.usage import Tokens
from governance_pipeline.ingest.formats.values import members, unpriced, whole
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.claude_code_stream_session import Report, Result, Session, Thread
    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

NAME: Final = FORMAT
COST: Final = Field("total_cost_usd", DataType.CURRENCY, "USD")
TURNS: Final = Field("num_turns", DataType.INTEGER, "turns")
_COLUMNS: Final = {
    "input_tokens": "input_tokens",
    "cache_creation_input_tokens": "cache_creation_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "output_tokens": "output_tokens",
}
"""Member of a usage report -> column of its component row."""

USAGE: Final = {member: Field(f"result_{column}", DataType.INTEGER, "tokens") for member, column in _COLUMNS.items()}
DURATIONS: Final = {name: Field(name, DataType.INTEGER, "ms") for name in ("duration_ms", "duration_api_ms")}
MODEL: Final = {
    "costUSD": Field("model_cost_usd", DataType.CURRENCY, "USD"),
    "inputTokens": Field("model_input_tokens", DataType.INTEGER, "tokens"),
    "cacheCreationInputTokens": Field("model_cache_creation_tokens", DataType.INTEGER, "tokens"),
    "cacheReadInputTokens": Field("model_cache_read_tokens", DataType.INTEGER, "tokens"),
    "outputTokens": Field("model_output_tokens", DataType.INTEGER, "tokens"),
    "webSearchRequests": Field("model_web_search_requests", DataType.INTEGER, "calls"),
}
_SUB_AGENT_CHECKED: Final = ("subagent_total_tokens", "subagent_tool_use_count")
RECOMPUTABLE: Final[tuple[str, ...]] = (
    COST.name, TURNS.name, MODEL["costUSD"].name, *(field.name for field in USAGE.values()), *_SUB_AGENT_CHECKED
)  # fmt: skip
DECLARES: Final[tuple[str, ...]] = (
    *RECOMPUTABLE,
    *(field.name for field in (*DURATIONS.values(), *MODEL.values(), *TOTALS.values())
      if field.name not in RECOMPUTABLE),
)  # fmt: skip


def declare(out: Extraction, session: Session) -> None:
    """Add the totals of each result of a session, and of each sub-agent, with their parts."""
    name = session.main.run.run_id
    is_only = len(session.results) == 1
    for number, result in enumerate(session.results, 1):
        subject = Subject(out, NAME, name if is_only else f"{name}/result-{number}", [session.place.file.path])
        _declare_result(subject, result)
        _declare_models(out, subject, result)
        if is_only:
            _add_turns(subject, session)
        if is_only and len(session.threads) == 1:
            _add_calls(subject, "calls", _calls(session.main))
    _declare_sub_agents(out, session)


def _declare_result(subject: Subject, result: Result) -> None:
    place, value = result
    if "total_cost_usd" in value:
        subject.declare(place.below("/total_cost_usd"), COST, unpriced(value["total_cost_usd"]))
    subject.declare(place.below("/num_turns"), TURNS, value.get("num_turns"))
    usage = members(value.get("usage"))
    is_measured = any(usage.get(member) != 0 for member in USAGE)
    for member, field in USAGE.items():
        if member in usage:
            subject.declare(place.below(f"/usage/{member}"), field, usage[member] if is_measured else None)
    for member, field in DURATIONS.items():
        if member in value:
            subject.declare(place.below(f"/{member}"), field, value[member])


def _declare_models(out: Extraction, subject: Subject, result: Result) -> None:
    for index, (model, report) in enumerate(members(result.value.get("modelUsage")).items(), 1):
        place = result.place.below(f"/modelUsage{escaped(model)}")
        cost = unpriced(members(report).get("costUSD"))
        subject.component("model_usage", index, {"cost_usd": (place.below("/costUSD"), cost)})
        own = Subject(out, NAME, f"{subject.subject_id}/{model}", [])
        for member, field in MODEL.items():
            if member in members(report):
                value = cost if member == "costUSD" else report[member]
                own.declare(place.below(f"/{member}"), field, value)
        if _is_billed_by_token(members(report), members(result.value.get("usage"))):
            add_priced_call(own, 1, place, model, None, _tokens(members(report)), is_cache_inside_input=False)


def _tokens(report: Members) -> Tokens:
    return Tokens(
        input=whole(report.get("inputTokens")),
        output=whole(report.get("outputTokens")),
        cache_creation=whole(report.get("cacheCreationInputTokens")),
        cache_read=whole(report.get("cacheReadInputTokens")),
    ).or_unknown()


def _is_billed_by_token(report: Members, usage: Members) -> bool:
    """Tell whether the cost of a model is that of its tokens, all cache writes being for five minutes.

    The report of a model does not split its cache writes; the usage of the result does, for the main chain.
    """
    has_searched = report.get("webSearchRequests", 0) != 0
    written = report.get("cacheCreationInputTokens", 0)
    short = members(usage.get("cache_creation")).get("ephemeral_5m_input_tokens")
    return not has_searched and written in (0, short)


def _add_turns(subject: Subject, session: Session) -> None:
    for index, turn in enumerate(session.main.turns, 1):
        subject.component("turns", index, {"type": turn})


def _calls(thread: Thread) -> list[Report]:
    """Give one report per message: a final one where there is one, else the first."""
    calls: dict[str | int, Report] = {}
    for index, report in enumerate(thread.reports):
        best = calls.setdefault(report.call_id or index, report)
        if (report.is_final, report.tokens.output or 0) > (best.is_final, best.tokens.output or 0):
            calls[report.call_id or index] = report
    return list(calls.values())


def _add_calls(subject: Subject, source: str, reports: list[Report]) -> None:
    for index, report in enumerate(reports, 1):
        columns: dict[str, tuple[Place, Any]] = {}
        for member, column in _COLUMNS.items():
            is_known = report.tokens.is_measured and (report.is_final or column != "output_tokens")
            columns[column] = (report.place.below(f"/{member}"), report.usage.get(member) if is_known else None)
        subject.component(source, index, columns)


def _declare_sub_agents(out: Extraction, session: Session) -> None:
    described: set[str] = set()
    for place, call_id, value in session.tasks:
        if not any(value.get(member) is not None for member in TOTALS):
            continue
        thread = session.threads.get(call_id)
        name = thread.run.run_id if thread else f"{session.main.run.run_id}/{call_id}"
        subject = Subject(out, NAME, name, [session.place.file.path])
        for member, field in TOTALS.items():
            if value.get(member) is not None:
                subject.declare(place.below(f"/{member}"), field, value[member])
        if thread is not None and name not in described:
            described.add(name)
            _add_calls(subject, "last_call", _calls(thread)[-1:])
            for index, call in enumerate(thread.tool_calls, 1):
                subject.component("tool_calls", index, {"call_id": call})
