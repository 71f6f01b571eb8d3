"""Which runs the ledger asks for: each approval launches its round once, and each word to try again once more.

What belongs here: turning events into launches, with a name each that makes launching twice one run. What does not:
launching (assets_defs). An event launches a run at most; whether anything passes is asked again in the asset, about the
bytes it is about to use.
"""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.gate.attempts import FIRST_ATTEMPT, Retried, attempt_key, open_runs
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import GATES, gate_of
from governance_pipeline.gate.states import is_used_up, words_of
from governance_pipeline.gate.verify import ROUND_STEPS, passage_of, verify
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.gate.events import History, Recorded, Requested
    from governance_pipeline.gate.passage import Verifier

EVENTS_AT_ONCE: Final = 20
"""Events one look goes into, some tenths of a second each; the rest waits for the next look."""

_TYPES: Final = frozenset({EventType.APPROVED, EventType.RETRY})


class Launch(NamedTuple):
    """One run to launch: its key is the same whenever the same event is looked at."""

    key: str
    round_id: str
    decision_id: str
    assets: tuple[str, ...]


class Due(NamedTuple):
    """What to launch, why the rest is left, the rounds in question, and up to which event was looked."""

    launches: list[Launch]
    reasons: list[str]
    seen: int


def due_launches(verifier: Verifier, after: int, now: datetime, *, at_once: int = EVENTS_AT_ONCE) -> Due:
    """Look at the events after one.

    Args:
        verifier: what is trusted.
        after: the last event looked at before; 0 for none.
        now: the time.
        at_once: events to look at most.

    Raises:
        Refusal: LOG_INCONSISTENT, the ledger cannot be used.
        StorageError: it cannot be read.
    """
    size = verifier.ledger.size()
    events = takewhile(lambda event: event.seq <= size, verifier.ledger.events(after, set(_TYPES)))
    looked_at = [event.seq for event in islice(events, at_once)]
    if not looked_at:
        return Due([], [], size)
    history = read_history(verifier.ledger)
    wanted = set(looked_at)
    recorded: tuple[Recorded | Retried, ...] = (*history.decisions, *history.retries)
    asked = [entry for entry in recorded if entry.seq in wanted]
    newest = {(entry.gate, entry.round_id): entry for entry in sorted(asked, key=lambda entry: entry.seq)}
    answers = [_launch_or_reason(entry, verifier, history, now) for entry in newest.values()]
    launches = [answer for answer in answers if isinstance(answer, Launch)]
    reasons = [answer for answer in answers if isinstance(answer, str)]
    return Due(launches, reasons, looked_at[-1] if len(looked_at) == at_once else size)


def _launch_or_reason(entry: Recorded | Retried, verifier: Verifier, history: History, now: datetime) -> Launch | str:
    round_id, is_retry = entry.round_id, isinstance(entry, Retried)
    if entry.gate not in GATES or not is_round_id(round_id):
        what = "is about" if is_retry else "approves"
        return f"event {entry.seq} {what} something that is not here: {excerpt(repr(round_id))}"
    request = history.in_force(entry.gate, round_id)
    if request is not None and _is_published(request, history, is_retry=is_retry):
        return f"round {round_id} is published already"
    refusal = _refusal(entry.gate, round_id, verifier, history, now)
    if refusal is not None and refusal.code is ReasonCode.THRESHOLD:
        return f"round {round_id} needs another approver: {words_of(refusal)}"
    if refusal is not None and is_retry:
        return f"round {round_id} is not tried again, for its gate is closed: {refusal}"
    return _launch(entry, request, history)


def _is_published(request: Requested, history: History, *, is_retry: bool) -> bool:
    """Tell whether nothing is left to launch: what was begun is left to a retry alone."""
    return is_used_up(request, history, EventType.DONE if is_retry else EventType.CONSUMED)


def _refusal(gate: str, round_id: str, verifier: Verifier, history: History, now: datetime) -> Refusal | None:
    try:
        verify(passage_of(verifier, gate_of(gate), round_id, now, history=history), ROUND_STEPS)
    except Refusal as refusal:
        return refusal
    return None


def _launch(entry: Recorded | Retried, request: Requested | None, history: History) -> Launch:
    assets = gate_of(entry.gate).assets
    attempt = entry.attempt if isinstance(entry, Retried) else FIRST_ATTEMPT
    if attempt > FIRST_ATTEMPT and request is not None:
        left = open_runs(request, history)
        assets = tuple(asset for asset in assets if asset in left)
    key = attempt_key(entry.gate, entry.round_id, entry.decision_id, attempt)
    return Launch(key, entry.round_id, entry.decision_id, assets)
