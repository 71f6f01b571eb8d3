"""Token counts of Codex sessions: cumulative totals that are written again, and prefixes that forks copy.

What belongs here: which count is which call, what a session declares, and the parts of it. What does not: lines and
steps (codex_sessions).

A `token_count` holds the total of the session so far and what the last call added. One whose total is that of the
count before it repeats it, whatever it says was added: it is written once when a call ends and again with fresh rate
limits, and after a compaction with the size of the new context as added. When the context overflows, the program puts
the size of the window in place of the total (`TokenUsageInfo::fill_to_context_window`): from there on the total is no
sum of calls, and what it would be is unknown. A forked session begins with the counts of
its parent, under new times: as far as both sequences agree from their first count on, the child's are copies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.usage import Tokens, UsageReport
from governance_pipeline.ingest.formats.values import members, whole
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

TOTALS: Final = {
    name: Field(f"total_{name.removeprefix('total_')}", DataType.INTEGER, "tokens")
    for name in (
        "input_tokens",
        "cached_input_tokens",
        "cache_write_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
        "total_tokens",
    )
}
_TOTAL: Final = "total_token_usage"
_LAST: Final = "last_token_usage"
_REASON: Final = "a count with the total of the one before it repeats it, and a fork copies the counts of its parent"


class Count(NamedTuple):
    """One count: `place` is its `info`, `total` the session so far, `last` what the call before it added.

    `is_window`: the total is the size of the context window, not a sum.
    """

    place: Place
    total: Members
    last: Members
    is_window: bool
    model: str | None
    at: datetime | None


@dataclass
class Counts:
    """All counts of a session in the order written; `keys` say which of them are one call."""

    run_id: str
    found: list[Count] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def take(self, place: Place, info: Members, model: str | None, at: datetime | None) -> None:
        """Take in the `info` of a count; one that knows no total (the first of a session) says nothing."""
        total = members(info.get(_TOTAL))
        if total:
            is_window = _is_window(total, info.get("model_context_window"))
            self.found.append(Count(place, total, members(info.get(_LAST)), is_window, model, at))

    def settle(self, parent: Counts | None) -> None:
        """Give each count its key; those the parent has too, from the first on, are the parent's calls."""
        mine, theirs = self.found, parent.found if parent is not None else []
        pairs = takewhile(lambda pair: pair[0][1:3] == pair[1][1:3], zip(mine, theirs, strict=False))
        self.keys = [] if parent is None else parent.keys[: sum(1 for _ in pairs)]
        copied = len(self.keys)
        for index in range(copied, len(mine)):
            is_repeated = index > 0 and mine[index].total == mine[index - 1].total
            self.keys.append(self.keys[-1] if is_repeated else f"{self.run_id}#{index + 1}")

    def reports(self) -> Iterable[UsageReport]:
        """Give every count as a report of usage, repetitions included."""
        for count, key in zip(self.found, self.keys, strict=True):
            yield UsageReport(
                count.place.below(f"/{_LAST}"),
                self.run_id,
                _tokens(count.last),
                key=key,
                reason=_REASON,
                model=count.model,
                is_cache_inside_input=True,
                at=count.at,
            )

    def declare(self, subject: Subject) -> None:
        """Declare the last total, and add its parts.

        `calls` are the counts whose total is a new one, `reports` are all of them: their sum is what a reader gets
        who does not know that counts are written twice.
        """
        if not self.found:
            return
        final = self.found[-1]
        fields = [name for name in TOTALS if name in final.total]
        for name in fields:
            subject.declare(final.place.below(f"/{_TOTAL}/{name}"), TOTALS[name], final.total[name])
        before: Members | None = None
        for number, count in enumerate(self.found, 1):
            place = count.place.below(f"/{_LAST}")
            parts = {name: (place.below(f"/{name}"), count.last.get(name)) for name in fields}
            subject.component("reports", number, parts)
            if count.is_window:
                parts = {name: (where, None) for name, (where, _) in parts.items()}
            if count.total != before:
                subject.component("calls", number, parts)
            before = count.total


def _is_window(total: Members, window: Any) -> bool:
    """Tell a total that holds nothing but the size of the window."""
    rest = {value for name, value in total.items() if name != "total_tokens" and isinstance(value, int)}
    return bool(whole(window)) and total.get("total_tokens") == window and rest <= {0}


def _tokens(usage: Members) -> Tokens:
    return Tokens(
        whole(usage.get("input_tokens")),
        whole(usage.get("output_tokens")),
        whole(usage.get("cache_write_input_tokens")),
        whole(usage.get("cached_input_tokens")),
        whole(usage.get("reasoning_output_tokens")),
    ).or_unknown()
