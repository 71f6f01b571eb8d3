"""Faults in the logs of known agents: Claude Code sub-agents and mini-SWE-agent costs."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from generator.text import canonical

if TYPE_CHECKING:
    from generator.claude_code import Session, SubAgent
    from generator.model import Draft


def subagent_totals_wrong(session: Session) -> None:
    """The second of two sub-agents is declared with more tokens and one more tool call than its file has."""
    agent = session.sub_agents[1]
    agent.declared["totalTokens"] += 1_204
    agent.declared["totalToolUseCount"] += 1
    for where in _records(agent, "mismatch"):
        why = "the Task result and the file of the sub-agent disagree"
        session.draft.expect("subagent_totals_wrong", "audit_cross_checks", where, why)


def repeated_message_id(session: Session) -> None:
    """Each message of the sub-agent is on several lines under one id, the last line twice; the totals are right."""
    draft, agent = session.draft, session.sub_agents[0]
    for where in _records(agent, "match"):
        why = "counted once per message and call the declared number is right; a plain sum over lines is not"
        draft.expect("repeated_message_id", "audit_cross_checks", where, why)
    reports = [
        (line, event["message"]["id"])
        for line, event in enumerate(session.main.lines, 1)
        if event["type"] == "assistant" and event["isSidechain"]
    ]
    last_id = reports[-1][1]
    lines = [line for line, message_id in reports if message_id == last_id]
    why = "the last report of a message has all its tokens; the others repeat it"
    reported = {"path": session.path, "dedup_key": last_id}
    draft.expect("repeated_message_id", "core_usage", reported, "one report a line", count=len(lines))
    counted = {**reported, "line": lines[-1], "duplicate_of": None}
    draft.expect("repeated_message_id", "core_usage", counted, why)
    draft.expect("repeated_message_id", "core_usage", {**reported, "duplicate_of": None}, "only one of them counts")


def _records(agent: SubAgent, status: str) -> list[dict[str, Any]]:
    pairs = (
        ("subagent_total_tokens", agent.declared["totalTokens"], agent.computed_tokens),
        ("subagent_tool_use_count", agent.declared["totalToolUseCount"], agent.computed_tool_uses),
    )
    return [
        {
            "field": field,
            "declared": str(declared),
            "computed": str(computed),
            "delta": str(declared - computed),
            "status": status,
            "reason_code": None,
        }
        for field, declared, computed in pairs
    ]


def unpriced_model(draft: Draft, document: dict[str, Any]) -> None:
    """One call went to a model without a price: it has no cost, and the declared total leaves it out."""
    calls = [message for message in document["messages"] if message["role"] == "assistant"]
    unpriced = calls[len(calls) // 2]["extra"]
    unpriced["response"]["model"] = "bash-model-preview"
    del unpriced["cost"]
    known = sum((call["extra"]["cost"] for call in calls if "cost" in call["extra"]), Decimal(0))
    document["info"]["model_stats"]["instance_cost"] = known
    where = {
        "field": "instance_cost",
        "declared": canonical(known),
        "computed": None,
        "delta": None,
        "status": "unverifiable",
        "reason_code": "component_missing_value",
    }
    why = "a price nobody knows makes the sum unknown, not smaller"
    draft.expect("unpriced_model", "audit_cross_checks", where, why)
    draft.tally.match -= 1
    draft.tally.unverifiable = 1
