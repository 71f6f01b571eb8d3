"""Lines of a Claude Code session: which can be used, and what their members say.

What belongs here: reading one line by itself. What does not: joining lines into runs and steps (claude_code_threads).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.formats.usage import Tokens
from governance_pipeline.ingest.formats.values import entries, members, text, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Members = Mapping[str, Any]

SYNTHETIC: Final = "<synthetic>"
"""Model of messages the program writes itself (an API error, an interruption): no call was made."""

MESSAGE_TYPES: Final = frozenset({"user", "assistant"})


def fault_of(value: Any) -> str | None:
    """Tell why a line cannot be used; None when it can. Types of lines are open: new versions add some."""
    if not isinstance(value, dict):
        return "not_an_object"
    if text(value.get("type")) is None:
        return "no_type"
    if value["type"] not in MESSAGE_TYPES:
        return None
    message = value.get("message")
    if not isinstance(message, dict):
        return "bad_message"
    content = message.get("content")
    if not isinstance(content, str | list):
        return "bad_content"
    return None if isinstance(content, str) or all(isinstance(block, dict) for block in content) else "bad_content"


def is_line(value: Any) -> bool:
    """Tell a line that only this format writes.

    Its heirs (Qwen Code) kept the chain members but neither `isSidechain` nor `message.content`, and its own stream
    output has messages but writes `session_id`: neither a chain nor a message alone tells.
    """
    line = members(value)
    if text(line.get("type")) is None:
        return False
    if isinstance(line.get("isSidechain"), bool) or text(line.get("leafUuid")) is not None:
        return True
    return text(line.get("sessionId")) is not None and is_message(line)


def is_message(value: Any) -> bool:
    """Tell a user or assistant line, which in a web export may name no session."""
    line = members(value)
    has_content = isinstance(members(line.get("message")).get("content"), str | list)
    return has_content and line.get("type") in ("user", "assistant")


def session_of(line: Members) -> str | None:
    """Give the session a line names."""
    return text(line.get("sessionId")) or text(line.get("session_id"))


def blocks(line: Members, kind: str) -> Iterator[tuple[int, Members]]:
    """Give the content blocks of one kind with their position."""
    for index, block in enumerate(entries(members(line.get("message")).get("content"))):
        if block.get("type") == kind:
            yield index, block


def text_of(content: Any) -> str | None:
    """Give the text of a message or result: itself, or its text blocks joined by line ends; None without any."""
    if isinstance(content, str):
        return content
    texts = [block["text"] for block in entries(content) if text(members(block).get("text")) is not None]
    return "\n".join(texts) if texts else None


def tokens_of(usage: Any, model: str | None) -> Tokens:
    """Read `message.usage`; cached tokens are not inside input_tokens.

    Some dialects (iFlow) write zeros for every call: a report of nothing but zeros is no measurement. Zeros of a
    synthetic message are true.
    """
    report = members(usage)
    tokens = Tokens(
        input=whole(report.get("input_tokens")),
        output=whole(report.get("output_tokens")),
        cache_creation=whole(report.get("cache_creation_input_tokens")),
        cache_read=whole(report.get("cache_read_input_tokens")),
        reasoning=whole(members(report.get("output_tokens_details")).get("thinking_tokens")),
    )
    return tokens if model == SYNTHETIC else tokens.or_unknown()


def thinking_of(line: Members) -> str | None:
    """Give the reasoning setting: `effort` of assistant lines, `thinkingMetadata.level` of user lines."""
    return text(line.get("effort")) or text(members(line.get("thinkingMetadata")).get("level"))


def progress_of_agent(line: Members) -> Members | None:
    """Give the message a sub-agent's line is replayed from in its parent's file (`progress` lines of 2.1.x)."""
    data = members(line.get("data"))
    message = members(members(data.get("message")).get("message"))
    is_replay = line.get("type") == "progress" and data.get("type") == "agent_progress"
    return message if is_replay and text(data.get("agentId")) and isinstance(message.get("usage"), dict) else None
