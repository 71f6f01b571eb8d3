"""Coding agents that sign commits, known by the name or address they sign with.

What belongs here: the list, with the source of each entry, and the trailers. What does not: a guess. A commit an
agent made without saying so counts as its author's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Signature(NamedTuple):
    """Name and e-mail address of an author or co-author."""

    name: str
    email: str


_GITHUB: Final = r"(?:\d+\+)?{}@users\.noreply\.github\.com"

AGENTS: Final[tuple[tuple[str, str, str], ...]] = (
    ("claude", r"claude\[bot\]", r"noreply@anthropic\.com|" + _GITHUB.format(r"claude\[bot\]")),
    ("copilot", r"copilot(?:-swe-agent\[bot\])?", _GITHUB.format(r"copilot(?:-swe-agent\[bot\])?")),
    ("codex", r"", r"(?:noreply|codex)@openai\.com"),
    ("cursor", r"", r"cursoragent@cursor\.com"),
    ("devin", r"devin-ai-integration\[bot\]", _GITHUB.format(r"devin-ai-integration\[bot\]")),
    ("aider", r"aider \(.*\)", r"(?:noreply|aider)@aider\.chat"),
    ("gemini", r"gemini-code-assist\[bot\]|gemini-cli", _GITHUB.format(r"gemini-code-assist\[bot\]")),
    ("jules", r"google-labs-jules\[bot\]", _GITHUB.format(r"google-labs-jules\[bot\]")),
    ("openhands", r"", r"openhands@all-hands\.dev"),
    ("amp", r"", r"amp@ampcode\.com"),
)
"""Agent id, whole name and whole address it signs with (empty = that alone says nothing): as each tool's documentation
and public histories have them. A name alone is enough only where no person could bear it."""

_TRAILER: Final = re.compile(
    r"^co-authored-by:[ \t]*([^<\n]{0,200})<([^>\n]{1,320})>[ \t\r]*$", re.IGNORECASE | re.MULTILINE
)


def co_authors(message: str) -> Iterator[Signature]:
    """Give what the `Co-authored-by` trailers of a commit message name."""
    for name, email in _TRAILER.findall(message):
        yield Signature(name.strip(), email.strip())


def agents_among(signatures: Iterable[Signature]) -> tuple[str, ...]:
    """Give the agents among some signatures, each once, in the order they sign."""
    found = (agent_of(signature) for signature in signatures)
    return tuple(dict.fromkeys(agent for agent in found if agent is not None))


def agent_of(signature: Signature) -> str | None:
    """Give the agent that signs like this; None when it is no agent on the list."""
    for agent, name, email in AGENTS:
        by_name = name and re.fullmatch(name, signature.name, re.IGNORECASE)
        if by_name or re.fullmatch(email, signature.email, re.IGNORECASE):
            return agent
    return None
