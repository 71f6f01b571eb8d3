"""Steps of a conversation in the chat form the tau benchmarks use: calls of an assistant, answers of tools.

What belongs here: putting calls and answers together. What does not: runs, costs and rewards (tau_bench, tau2_bench).

Every call is a function of the simulated shop or airline, not a shell: it changes no file, so no step is opaque.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.ingest.extraction import text_sha256
from governance_pipeline.ingest.formats.runs import ERROR, OK, Step
from governance_pipeline.ingest.formats.values import entries, members, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

_ERROR_TEXT = "Error:"
"""What the tools of tau-bench begin their answer with when they refuse; tau2 states it in a member of its own."""


def steps_of(place: Place, messages: Sequence[Any], agents: Mapping[str, str | None]) -> list[Step]:
    """Give one step per call, in the order of the messages found at `place`.

    `agents` names who a role is; a call belongs to the role that made it, and takes the first answer with its id that
    comes later. A call without an answer has no status.
    """
    steps: list[Step] = []
    waiting: dict[str, Step] = {}
    for index, message in enumerate(map(members, messages)):
        if message.get("role") == "tool":
            step = waiting.pop(text(message.get("tool_call_id")) or text(message.get("id")) or "", None)
            if step is not None:
                _answer(step, message)
            continue
        agent = agents.get(text(message.get("role")) or "")
        for position, call in enumerate(entries(message.get("tool_calls"))):
            step = _step(place.below(f"/{index}/tool_calls/{position}"), members(call), agent)
            steps.append(step)
            if step.call_id is not None:
                waiting[step.call_id] = step
    return steps


def _step(place: Place, call: Members, agent: str | None) -> Step:
    name = text(call.get("name")) or text(members(call.get("function")).get("name"))
    return Step(place, tool=name, call_id=text(call.get("id")), agent_id=agent)


def _answer(step: Step, message: Members) -> None:
    content = message.get("content")
    is_error = message.get("error")
    if not isinstance(is_error, bool):
        is_error = content.startswith(_ERROR_TEXT) if isinstance(content, str) else None
    step.status = None if is_error is None else ERROR if is_error else OK
    step.output_sha256 = text_sha256(content)
