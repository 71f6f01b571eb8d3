"""Observations of a Langfuse trace: what one of them says, and which stand below which.

What belongs here: reading one observation, the tree they form, and which reports of usage repeat others. What does
not: declared numbers and rows (langfuse_trace).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.extraction import parse_time
from governance_pipeline.ingest.formats.usage import Tokens
from governance_pipeline.ingest.formats.values import members, text, whole
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

TOTAL: Final = "total"
PLAIN: Final = ("input", "output")
AGENT_TOKENS: Final = {"input": "gen_ai.usage.input_tokens", "output": "gen_ai.usage.output_tokens"}

_CACHE_READ: Final = ("input_cached_tokens", "input_cache_read", "prompt_details.cache_read", "cache_read_input_tokens")
_CACHE_WRITE: Final = ("input_cache_creation", "cache_creation_input_tokens")
_REASONING: Final = ("output_reasoning_tokens", "output_reasoning", "completion_details.reasoning")
_TOOL_NAMES: Final = ("gen_ai.tool.name", "tool.name")
_TOOL: Final = "TOOL"
_AGENT: Final = "AGENT"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_COUNT: Final = re.compile(r"(?:0|[1-9][0-9]{0,17})", re.ASCII)


@dataclass
class Observation:
    """One observation; `below` are those that name it as their parent."""

    place: Place
    value: Members
    attributes: Members
    below: list[Observation] = field(default_factory=list)

    @classmethod
    def of(cls, place: Place, value: Members) -> Observation:
        """Read an observation; attributes stand in `metadata`, an object or the JSON text of one."""
        return cls(place, value, members(metadata_of(value).get("attributes")))

    @property
    def id(self) -> str:
        """Its id; a record without one is no observation."""
        return str(self.value["id"])

    @property
    def kind(self) -> str | None:
        """GENERATION, SPAN, TOOL, AGENT …, or what the instrumentation calls a span."""
        kind = text(self.value.get("type"))
        stated = text(self.attributes.get("openinference.span.kind"))
        return stated if stated in (_TOOL, _AGENT) and kind == "SPAN" else kind

    @property
    def is_tool(self) -> bool:
        """Whether it is a call of a tool."""
        return self.kind == _TOOL or text(self.attributes.get("gen_ai.tool.call.id")) is not None

    @property
    def tool(self) -> str | None:
        """The tool it calls, or its own name where no tool is named."""
        named = (text(self.attributes.get(name)) for name in _TOOL_NAMES)
        return next((name for name in named if name is not None), text(self.value.get("name")))

    @property
    def agent(self) -> str | None:
        """The agent it is a run of."""
        name = text(self.attributes.get("gen_ai.agent.name"))
        return name or (text(self.value.get("name")) if self.kind == _AGENT else None)

    @property
    def usage(self) -> Members:
        """What it says it used, by kind of token."""
        return members(self.value.get("usageDetails"))

    @property
    def agent_usage(self) -> Members:
        """Tokens an agent's span adds up over the calls below it; empty for a call, whose usage is its own."""
        if self.usage or self.kind == "GENERATION":
            return {}
        found = {side: number_of(self.attributes.get(name)) for side, name in AGENT_TOKENS.items()}
        return {side: value for side, value in found.items() if value is not None}

    @property
    def tokens(self) -> Tokens:
        """Its usage as counts; nothing where nobody counted."""
        usage = self.usage or self.agent_usage
        return Tokens(
            whole(usage.get("input")),
            whole(usage.get("output")),
            _first(usage, _CACHE_WRITE),
            _first(usage, _CACHE_READ),
            _first(usage, _REASONING),
        ).or_unknown()

    @property
    def is_report(self) -> bool:
        """Whether it says that tokens were used."""
        return self.tokens.is_measured

    def descendants(self) -> Iterator[Observation]:
        """Give all that stand below it, depth first; the tree has no cycle (see `tree_of`)."""
        waiting = self.below[::-1]
        while waiting:
            found = waiting.pop()
            yield found
            waiting += found.below[::-1]

    def calls_below(self) -> list[Observation]:
        """Give the reports below that repeat nothing: those without a report below them."""
        reports = [found for found in self.descendants() if found.is_report]
        return [found for found in reports if not any(other.is_report for other in found.descendants())]


def tree_of(observations: list[Observation]) -> dict[str, Observation]:
    """Hang each observation below its parent; give each one's parent by its id. A cycle is cut where it closes."""
    by_id = {found.id: found for found in observations}
    parents: dict[str, Observation] = {}
    for found in observations:
        parent = by_id.get(text(found.value.get("parentObservationId")) or "")
        above = parent
        while above is not None and above is not found:
            above = parents.get(above.id)
        if parent is not None and above is None:
            parents[found.id] = parent
            parent.below.append(found)
    return parents


def metadata_of(value: Members) -> Members:
    """Give the metadata of a trace or observation: an object, or the JSON text of one."""
    metadata = value.get("metadata")
    if isinstance(metadata, str):
        try:
            return members(parse_json(metadata.encode()))
        except RecordRefused:
            return {}
    return members(metadata)


def microseconds(value: Any) -> int | None:
    """Give a time as microseconds since 1970, which a float holds exactly; None when it is no instant."""
    at = parse_time(value)
    return None if at is None else (at - _EPOCH) // timedelta(microseconds=1)


def number_of(value: Any) -> Any:
    """Give an attribute as the number it is: exported attributes are texts."""
    return int(value) if isinstance(value, str) and _COUNT.fullmatch(value) else value


def _first(usage: Members, names: tuple[str, ...]) -> int | None:
    return next((count for name in names if (count := whole(usage.get(name))) is not None), None)
