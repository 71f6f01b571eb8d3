"""One round of sending: everything that is due to every target, begun, sent and ended.

What belongs here: the order, and trying twice more without a word. What does not: when it is called (a sensor, or
`govern gate notify --send`). A target that fails keeps no other one waiting, and what was not begun in time waits for
the next round.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.gate.events import read_history
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.notify.message import MOST_NOTICES, message_of
from governance_pipeline.notify.notices import notices
from governance_pipeline.notify.outbox import Attempt, Message, begin, end, read_outbox
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.notify.delivery import Deliver
    from governance_pipeline.notify.notices import Notice
    from governance_pipeline.notify.outbox import Outbox
    from governance_pipeline.notify.targets import Notifications, Target

PAUSES_S: Final = (0.5, 1.5)
"""Seconds before the second and the third attempt, of which nobody is told (design §7, anti-noise)."""
BUDGET: Final = timedelta(seconds=25)
"""After this no further message is begun: a tick of a sensor has 60 s (research/hitl.md, c 8)."""
MESSAGES_PER_TARGET: Final = 5
"""Messages to one target in one round: a hundred notices."""
_TRIES: Final = 20


class Means(NamedTuple):
    """How messages are handed over, and what gives the time and waits."""

    deliver: Deliver
    clock: Callable[[], datetime]
    sleep: Callable[[float], None]


class Sent(NamedTuple):
    """What became of one message."""

    target: str
    message_id: str
    notices: int
    is_sent: bool
    attempts: tuple[Attempt, ...]


def send_due(verifier: Verifier, wanted: Notifications, means: Means) -> list[Sent]:
    """Send what is due to each target.

    Raises:
        Refusal: LOG_INCONSISTENT, the ledger cannot be used; nothing was sent.
        StorageError: the ledger could not be written; what was sent and not ended is sent once more later.
    """
    if not wanted.targets:
        return []
    start = means.clock()
    told = notices(verifier, read_history(verifier.ledger), start, wanted)
    done: list[Sent] = []
    for target in wanted.targets:
        mine = [notice for notice in told if notice.kind in target.kinds]
        for _ in range(MESSAGES_PER_TARGET):
            if means.clock() - start > BUDGET:
                return done
            message = _begun(verifier, target, mine, means)
            if message is None:
                break
            done.append(_sent(verifier, target, message, means))
            if not done[-1].is_sent:
                break  # a service that is down now is down for the next message too
    return done


def due_messages(outbox: Outbox, target: Target, told: Sequence[Notice], now: datetime) -> list[Message]:
    """Give what a target is to be sent now: messages that are due again first, then what it does not know."""
    again = [s.message for s in outbox.backlog(target.name) if s.is_due(now)]
    known = outbox.known(target.name)
    fresh = iter([notice for notice in told if notice.kind in target.kinds and notice.key not in known])
    new = []
    while some := list(islice(fresh, MOST_NOTICES)):
        new.append(message_of(target.name, some))
    return [*again, *new]


def attempts_of(target: Target, message: Message, means: Means) -> tuple[Attempt, ...]:
    """Hand a message over; what fails is tried twice more. An address nothing is known for is one failed attempt."""
    made: list[Attempt] = []
    for pause in (0.0, *PAUSES_S):
        if pause:
            means.sleep(pause)
        began = means.clock()
        try:
            outcome = means.deliver(target, message)
        except UsageError:
            return (*made, Attempt(instant_text(began), False, None, 0))
        ms = int((means.clock() - began) / timedelta(milliseconds=1))
        made.append(Attempt(instant_text(began), outcome.is_sent, outcome.http_status, ms))
        if outcome.is_sent:
            break
    return tuple(made)


def _begun(verifier: Verifier, target: Target, told: Sequence[Notice], means: Means) -> Message | None:
    """Begin the next message to a target in the ledger; None when nothing is due, or others write all the time."""
    for _ in range(_TRIES):
        outbox = read_outbox(verifier.ledger)
        due = due_messages(outbox, target, told, means.clock())
        if not due:
            return None
        try:
            begin(verifier.ledger, due[0], means.clock(), after=outbox.size)
        except LedgerMoved:
            continue
        return due[0]
    return None


def _sent(verifier: Verifier, target: Target, message: Message, means: Means) -> Sent:
    attempts = attempts_of(target, message, means)
    end(verifier.ledger, message, attempts, means.clock())
    return Sent(target.name, message.id, len(message.keys), any(a.is_sent for a in attempts), attempts)


def send_test(wanted: Notifications, name: str, means: Means) -> Sent:
    """Send one test message to a target; it tells of no request, and the ledger does not hear of it.

    Raises:
        UsageError: there is no such target.
    """
    target = next((target for target in wanted.targets if target.name == name), None)
    if target is None:
        raise UsageError(f"there is no target {name!r}; there is {', '.join(t.name for t in wanted.targets) or 'none'}")
    now = instant_text(means.clock())
    message = Message(target.name, (f"test:{now}",), "govern: test", (f"a test message of {now}; nothing waits",))
    attempts = attempts_of(target, message, means)
    return Sent(target.name, message.id, 1, any(attempt.is_sent for attempt in attempts), attempts)
