"""Trying again to publish what is approved, and noting that a run failed.

What belongs here: recording both, after asking whether the gate is open. What does not: launching (assets_defs). A
failure of a run takes nothing back: what was approved stays approved, and a person needs to decide nothing anew. What
is closed is neither failed nor tried again (research/hitl.md, acceptance test 7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.attempts import attempt_key, next_attempt, open_runs
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import GATES, gate_of
from governance_pipeline.gate.parties import REQUESTER
from governance_pipeline.gate.shown import request_of
from governance_pipeline.gate.states import words_of
from governance_pipeline.gate.verify import passage_of, verify
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.passage import Passage, Verifier
    from governance_pipeline.ledger.event import Event

TRIES: Final = 100
"""How often everything is asked anew because something else was appended meanwhile; each try takes milliseconds."""


class Named(NamedTuple):
    """What somebody named, and the request it stands for."""

    name: str
    request: Requested


def request_or_round(history: History, name: str) -> Requested:
    """Give the request in force of a round, by the id of the round, or a request by the beginning of its id.

    Raises:
        UsageError: neither a round that was asked about, nor a request, or several.
    """
    of_round = [r for gate in GATES if (r := history.in_force(gate, name)) is not None]
    return of_round[0] if len(of_round) == 1 else request_of(history, name)


def ask_again(verifier: Verifier, name: str, now: datetime) -> Event:
    """Record that publication of a request or round is to be tried again.

    Args:
        verifier: what is trusted.
        name: id of the round, or the beginning of the id of the request.
        now: the time.

    Returns:
        The event; the sensor `decisions` launches a run for it.

    Raises:
        UsageError: the name stands for nothing that was asked.
        Refusal: the gate is closed, with the code that closes it; REPLAYED when everything is published already.
        StorageError: the ledger could not be written.
    """
    for _ in range(TRIES):
        history = read_history(verifier.ledger)
        request = request_or_round(history, name)
        left = open_runs(request, history)
        if not left:
            message = "everything it releases was published on it; another publication needs another decision"
            raise Refusal(ReasonCode.REPLAYED, f"request {request.request_id}: {message}")
        passage = _open_passage(request, verifier, history, now)
        try:
            return _record(request, _decision_of(passage), left, verifier, history, now)
        except LedgerMoved:
            continue
    raise StorageError(f"ledger {verifier.ledger.path} is too busy: {TRIES} tries found it changed; try again")


def ask_each_again(verifier: Verifier, names: Sequence[str], now: datetime) -> list[dict[str, Any]]:
    """Ask for another attempt at each; one that is refused stops none of the others, a wrong name all of them.

    Returns:
        One entry of `govern/gate-retries/v1` per request, in the order named.

    Raises:
        UsageError: a name stands for nothing that was asked.
    """
    history = read_history(verifier.ledger)
    named = {(found := request_or_round(history, name)).request_id: Named(name, found) for name in names}
    return [_one(verifier, one, now) for one in named.values()]


def note_failure(verifier: Verifier, round_id: str, run_id: str, root_run_id: str, now: datetime) -> list[Event]:
    """Record that a run over a round failed although the gate was open; nothing where it was closed, or all is done.

    Args:
        verifier: what is trusted.
        round_id: a round the run covered.
        run_id: the run.
        root_run_id: the run it continued; itself when it is none.
        now: the time.

    Raises:
        StorageError: the ledger could not be written.
    """
    history = read_history(verifier.ledger)
    noted = []
    for request in filter(None, (history.in_force(gate, round_id) for gate in GATES)):
        if not open_runs(request, history):
            continue
        try:
            _open_passage(request, verifier, history, now)
        except Refusal:
            continue  # it was refused, which is no failure
        where = {"gate": request.gate, "round_id": round_id, "request_id": request.request_id}
        body = {**where, "run_id": run_id, "root_run_id": root_run_id}
        unique = f"run-failed:{request.gate}:{round_id}:{run_id}"
        try:
            noted.append(verifier.ledger.append(EventType.RUN_FAILED, REQUESTER, body, ts=now, unique=unique))
        except AlreadyRecorded:
            continue  # the tick before this one died after it had noted it
    return noted


def _one(verifier: Verifier, named: Named, now: datetime) -> dict[str, Any]:
    request, event, refusal = named.request, None, None
    try:
        event = ask_again(verifier, named.name, now)
    except Refusal as error:
        refusal = error
    return {
        "request_id": request.request_id,
        "round_id": request.round_id,
        "recorded": event is not None,
        "attempt": event and event.body["attempt"],
        "decision_id": event and event.body["decision_id"],
        "resumes": dict(event.body["root_runs"]) if event else {},
        "code": refusal and str(refusal.code),
        "message": refusal and words_of(refusal),
    }


def _open_passage(request: Requested, verifier: Verifier, history: History, now: datetime) -> Passage:
    """Ask every question of the gate, using nothing.

    Raises:
        Refusal: it is closed, or the request is not in force.
    """
    passage = passage_of(verifier, gate_of(request.gate), request.round_id, now, history=history)
    if passage.request.seq != request.seq:
        message = f"request {request.request_id} was superseded by {passage.request.request_id}"
        raise Refusal(ReasonCode.SUPERSEDED, message)
    return verify(passage)


def _decision_of(passage: Passage) -> str:
    """Give the newest decision that opens the gate."""
    newest = max((offer.event for offer in passage.offers if offer.event is not None), key=lambda event: event.seq)
    return newest.decision_id


def _record(
    request: Requested,
    decision_id: str,
    left: dict[str, str | None],
    verifier: Verifier,
    history: History,
    now: datetime,
) -> Event:
    attempt = next_attempt(decision_id, history)
    body = {
        "gate": request.gate,
        "round_id": request.round_id,
        "request_id": request.request_id,
        "decision_id": decision_id,
        "attempt": attempt,
        "root_runs": {asset: run for asset, run in left.items() if run is not None},
    }
    unique = f"retry:{attempt_key(request.gate, request.round_id, decision_id, attempt)}"
    try:
        return verifier.ledger.append(EventType.RETRY, REQUESTER, body, ts=now, unique=unique, after=history.size)
    except AlreadyRecorded as recorded:
        message = f"attempt {attempt} is in the ledger under another type, as event {excerpt(str(recorded.event.seq))}"
        raise Refusal(ReasonCode.LOG_INCONSISTENT, message) from None
