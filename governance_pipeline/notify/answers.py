"""What `govern gate notify` answers: who is told, what waits to be sent, and what became of what was sent.

What belongs here: the outbox turned into plain values and lines. What does not: printing, and any address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.gate.events import read_history
from governance_pipeline.notify.notices import notices
from governance_pipeline.notify.outbox import read_outbox
from governance_pipeline.notify.sending import due_messages
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.notify.notices import Notice
    from governance_pipeline.notify.outbox import Outbox
    from governance_pipeline.notify.sending import Sent
    from governance_pipeline.notify.targets import Notifications, Target

SCHEMA: Final = "govern/gate-notify/v1"


def notify_document(
    verifier: Verifier, wanted: Notifications, now: datetime, sent: Sequence[Sent] = ()
) -> dict[str, Any]:
    """Give `govern/gate-notify/v1`: each target with what is due to it, and what was sent just now.

    Raises:
        Refusal: LOG_INCONSISTENT, the ledger cannot be used.
    """
    told = notices(verifier, read_history(verifier.ledger), now, wanted) if wanted.targets else []
    outbox = read_outbox(verifier.ledger)
    return {
        "schema": SCHEMA,
        "is_throwaway": verifier.root.is_throwaway,
        "at": instant_text(now),
        "reminder_hours": int(wanted.remind_after.total_seconds() // 3600),
        "targets": [_target(target, outbox, told, now) for target in wanted.targets],
        "sent": [_sent(one) for one in sent],
    }


def notify_lines(document: dict[str, Any]) -> list[str]:
    """Give the same as lines: what was sent, then each target."""
    lines = [
        f"{one['target']}  message {one['message_id'][:16]} of {one['notices']} notices: "
        f"{'sent' if one['is_sent'] else 'failed'} after {len(one['attempts'])} attempts"
        for one in document["sent"]
    ]
    for target in document["targets"]:
        last = target["last_sent_at"] or "never"
        lines.append(
            f"{target['name']}  {target['scheme']}  {', '.join(target['kinds'])}  due {target['due_messages']} messages"
            f", waiting {target['backlog_messages']}, given up {target['given_up_messages']}, last sent {last}"
        )
    return lines or ["nobody is told: gate.toml names no file of notifications (docs/operating.md)"]


def _target(target: Target, outbox: Outbox, told: Sequence[Notice], now: datetime) -> dict[str, Any]:
    backlog = outbox.backlog(target.name)
    mine = [s for s in outbox.messages.values() if s.message.target == target.name]
    sent = [s.last_ended for s in mine if s.is_sent and s.last_ended is not None]
    return {
        "name": target.name,
        "scheme": target.scheme,
        "kinds": sorted(map(str, target.kinds)),
        "due_messages": len(due_messages(outbox, target, told, now)),
        "backlog_messages": sum(not s.is_given_up for s in backlog),
        "given_up_messages": sum(s.is_given_up for s in backlog),
        "sent_messages": len(sent),
        "last_sent_at": instant_text(max(sent)) if sent else None,
    }


def _sent(one: Sent) -> dict[str, Any]:
    return {
        "target": one.target,
        "message_id": one.message_id,
        "notices": one.notices,
        "is_sent": one.is_sent,
        "attempts": [attempt._asdict() for attempt in one.attempts],
    }
