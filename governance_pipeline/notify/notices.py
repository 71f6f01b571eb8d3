"""What people should be told now: a pure fold of requests, their states and the time.

What belongs here: which notices there are, each with a key under which it is sent once for ever. What does not: what
was sent already (`outbox`). The key is the request, its window and the kind; of a decision also which one, so that a
revocation is told after the approval it takes back.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.gate.attempts import failed_attempt
from governance_pipeline.gate.closings import signed_decision
from governance_pipeline.gate.events import CLOSING, EventType
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.gate.verify import ROUND_STEPS
from governance_pipeline.notify.targets import NoticeKind
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from governance_pipeline.gate.closings import Signed
    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.states import Standing
    from governance_pipeline.notify.targets import Notifications

NEWS: Final = timedelta(hours=72)
"""What was decided or ran out longer ago is no news: the longest window of a request (research/security.md b7)."""

_WAITS: Final = frozenset({State.PENDING, State.BLOCKED_POLICY})
_SHORT: Final = 16


class Notice(NamedTuple):
    """One thing to tell: its key, kind, round, and the line of text."""

    key: str
    kind: NoticeKind
    round_id: str
    line: str


def notices(verifier: Verifier, history: History, now: datetime, wanted: Notifications) -> list[Notice]:
    """Give everything that is worth telling now, oldest request first, whether or not it was told already."""
    in_force = {(request.gate, request.round_id): request for request in history.requests}
    recent = [request for request in in_force.values() if _is_recent(request, history, now)]
    return [notice for request in recent for notice in _of_request(request, verifier, history, now, wanted)]


def _is_recent(request: Requested, history: History, now: datetime) -> bool:
    """Tell whether anything of a request can still be news; asked first, because it costs nothing."""
    if now < request.expires + NEWS:
        return True
    newest = max((d.ts for d in history.of_round(request.gate, request.round_id)), default=request.created)
    return now < newest + NEWS or failed_attempt(request, history) is not None


def _of_request(
    request: Requested, verifier: Verifier, history: History, now: datetime, wanted: Notifications
) -> Iterator[Notice]:
    standing = standing_of(request, verifier, history, now, steps=ROUND_STEPS)
    if standing.state in _WAITS:
        yield _notice(standing, NoticeKind.NEW, _waiting(standing))
        if now >= request.created + wanted.remind_after:
            hours = int((now - request.created).total_seconds() // 3600)
            yield _notice(standing, NoticeKind.REMINDER, f"after {hours} h {_waiting(standing)}")
    elif standing.state is State.EXPIRED and now < request.expires + NEWS:
        yield _notice(standing, NoticeKind.EXPIRED, f"{standing.message}; asking again opens another window")
    elif standing.state is State.APPROVED_FAILED:
        failed = failed_attempt(request, history)
        yield _notice(standing, NoticeKind.FAILED, standing.message or "", failed and failed.run_id)
    else:
        yield from _decided(standing, verifier, history, now)


def _decided(standing: Standing, verifier: Verifier, history: History, now: datetime) -> Iterator[Notice]:
    request, state = standing.request, standing.state
    if state not in (State.APPROVED, State.CONSUMED, State.REJECTED, State.REVOKED):
        return
    types = (EventType.APPROVED,) if state in (State.APPROVED, State.CONSUMED) else CLOSING
    for recorded in reversed(history.of_round(request.gate, request.round_id)):
        if recorded.type not in types or recorded.request_id != request.request_id or now >= recorded.ts + NEWS:
            continue
        signed = signed_decision(recorded, verifier.root)
        if signed is not None:
            yield _notice(standing, NoticeKind.DECIDED, _said(signed), signed.decision_id)
            return


def _said(signed: Signed) -> str:
    place = signed.decision.on_behalf_of
    behalf = "" if place is None else f" on behalf of {place!r}"
    return f"{signed.decision.verb} by {', '.join(map(repr, signed.who))}{behalf}"


def _waiting(standing: Standing) -> str:
    request = standing.request
    if standing.state is State.BLOCKED_POLICY:
        return f"nobody can decide it yet: {standing.message}"
    return f"waits for a decision until {instant_text(request.expires)}, verdict {request.verdict_status}"


def _notice(standing: Standing, kind: NoticeKind, said: str, more: str | None = None) -> Notice:
    request = standing.request
    parts = (request.request_id, str(request.window), str(kind), *filter(None, (more,)))
    line = f"{request.round_id} ({request.gate}): {said} [govern gate show {request.request_id[:_SHORT]}]"
    return Notice(":".join(parts), kind, request.round_id, line)
