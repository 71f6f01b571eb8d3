"""The words of a message: a title and one line for each thing to tell.

What belongs here: layout. What does not: what is told (`notices`). Lines hold ids, names of the trust root and words of
ours, nothing of a log; a character that would steer a terminal or a page is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.notify.outbox import Message
from governance_pipeline.strict.excerpt import escape_unprintable, excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.notify.notices import Notice

MOST_NOTICES: Final = 20
"""Notices of one message; more make another one, so that an event of the ledger and a screen hold it."""

_LINE_CHARACTERS: Final = 400


def message_of(target: str, told: Sequence[Notice]) -> Message:
    """Make the message that tells a target of some notices; each is in it."""
    rounds = sorted({notice.round_id for notice in told})
    kinds = ", ".join(sorted({str(notice.kind) for notice in told}))
    what = rounds[0] if len(rounds) == 1 else f"{len(rounds)} rounds"
    lines = tuple(excerpt(escape_unprintable(notice.line), _LINE_CHARACTERS) for notice in told)
    return Message(target, tuple(notice.key for notice in told), f"govern: {what} ({kinds})", lines)


def body_text(message: Message) -> str:
    """Give the text that is sent; the id at the end is the same whenever the message is sent again."""
    return "\n".join([*message.lines, "", f"message {message.id}"])
