"""Lines of a Claude Code session: one event per line, one line per content block of a message.

Structure as seen in versions 1.0.98 (sub-agents inline, as sidechains) and 2.1.x (sub-agents in files of their own).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from generator.text import json_lines

if TYPE_CHECKING:
    from generator.model import Draft

MODEL = "claude-sonnet-4-20250514"


class Chain:
    """One conversation: the main session or a sub-agent; knows its lines and the last event of its chain."""

    def __init__(self, draft: Draft, version: str, session_id: str, lines: list[Any]) -> None:
        self.draft, self.version, self.session_id, self.lines = draft, version, session_id, lines
        self.agent_id: str | None = None
        self.is_sidechain = False
        self.usage: dict[str, Any] = {}
        self.tool_uses: list[str] = []
        self.first_at = draft.clock.now
        self._parent: str | None = None

    def sub_agent(self, lines: list[Any], agent_id: str | None) -> Chain:
        """Open the chain of a sub-agent; `agent_id` None for an inline one of version 1."""
        chain = Chain(self.draft, self.version, self.session_id, lines)
        chain.is_sidechain, chain.agent_id = True, agent_id
        return chain

    def user(self, text: str) -> None:
        """Append what the user, or the agent that started this one, asks for."""
        self._event({"type": "user", "message": {"role": "user", "content": text}})

    def assistant(self, blocks: list[dict[str, Any]], repeats: int = 0) -> None:
        """Append one message, a line per block; the last block is written `repeats` more times.

        Every line carries the same message id and the usage so far: output tokens grow, the last line has them all.
        """
        dice = self.draft.dice
        message_id, request_id = f"msg_{dice.hexadecimal(24)}", f"req_{dice.hexadecimal(24)}"
        output_tokens = dice.between(90, 640)
        created = dice.between(200, 1900)
        read = self.usage.get("cache_read_input_tokens", 11_000) + self.usage.get("cache_creation_input_tokens", 0)
        written = [*blocks, *(blocks[-1:] * repeats)]
        self.tool_uses += [block["id"] for block in blocks if block["type"] == "tool_use"]
        for index, block in enumerate(written):
            self.draft.clock.tick(dice.between(900, 6_000))
            self.usage = {
                "input_tokens": 4,
                "cache_creation_input_tokens": created,
                "cache_read_input_tokens": read,
                "output_tokens": output_tokens if index == len(written) - 1 else 1 + index,
                "service_tier": "standard",
            }
            message = {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": MODEL,
                "content": [block],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": self.usage,
            }
            self._event({"type": "assistant", "message": message, "requestId": request_id})

    def call(self, tool: str, arguments: dict[str, Any], *, say: str | None = None, repeats: int = 0) -> str:
        """Append a message that calls a tool; give the id of the call."""
        call_id = f"toolu_{self.draft.dice.hexadecimal(24)}"
        blocks: list[dict[str, Any]] = [{"type": "tool_use", "id": call_id, "name": tool, "input": arguments}]
        if say is not None:
            blocks.insert(0, text_block(say))
        self.assistant(blocks, repeats)
        return call_id

    def result(self, call_id: str, content: Any, details: Any, *, is_error: bool = False) -> None:
        """Append the result of a tool call."""
        block: dict[str, Any] = {"tool_use_id": call_id, "type": "tool_result", "content": content}
        if is_error:
            block["is_error"] = True
        self.draft.clock.tick(self.draft.dice.between(20, 900))
        self._event({"type": "user", "message": {"role": "user", "content": [block]}}, {"toolUseResult": details})

    @property
    def total_tokens(self) -> int:
        """Context of the last message: what a Task result declares as totalTokens."""
        return sum(value for name, value in self.usage.items() if name.endswith("_tokens"))

    def _event(self, middle: dict[str, Any], after: dict[str, Any] | None = None) -> None:
        event: dict[str, Any] = {
            "parentUuid": self._parent,
            "isSidechain": self.is_sidechain,
            "userType": "external",
            "cwd": f"/srv/projects/{self.draft.project.prefix}",
            "sessionId": self.session_id,
            "version": self.version,
            "gitBranch": "main",
        }
        if self.agent_id is not None:
            event["agentId"] = self.agent_id
        self._parent = self.draft.dice.uuid()
        event.update(middle)
        event.update({"uuid": self._parent, "timestamp": self.draft.clock.milliseconds()})
        event.update(after or {})
        self.lines.append(event)


def text_block(text: str) -> dict[str, Any]:
    """Give a text block."""
    return {"type": "text", "text": text}


def session_bytes(lines: list[Any]) -> bytes:
    """Give the bytes of a session file."""
    return json_lines(lines)
