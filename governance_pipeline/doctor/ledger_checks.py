"""Is the record sound, and what waits in it: the ledger, requests, failed publications, and messages to people.

What belongs here: what the ledger says. What does not: whether a published file passed the gate, which reads every file
(`govern gate verify`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.doctor.finding import Finding, Health
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.passage_steps import SKEW
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.notify.outbox import FIRST_PAUSE, read_outbox
from governance_pipeline.notify.targets import load_notifications
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.doctor.finding import Patient
    from governance_pipeline.gate.events import History
    from governance_pipeline.gate.passage import Verifier

_SHOWN: Final = 3


def ledger_is_sound(patient: Patient) -> Iterator[Finding]:
    """Verify every event, and give the head to keep elsewhere."""
    if patient.verifier is None:
        return
    ledger = patient.verifier.ledger
    subject, head = str(ledger.path), ledger.head()
    history = read_history(ledger, is_strict=False)
    faults = [*ledger.verify(), *history.unusable]
    for fault in faults[:_SHOWN]:
        message = f"event {fault.seq or '-'}: {fault.code}: {fault.message}"
        yield Finding("ledger", Health.FAIL, subject, message, "govern ledger verify; every gate is closed until then")
    if not faults:
        message = f"{head.size} events are sound; head {head.size}:{head.root}, keep it elsewhere"
        yield Finding("ledger", Health.OK, subject, message)
    last = history.last_ts
    if last is not None and patient.now < last - SKEW:
        message = f"it is {instant_text(patient.now)} here, the ledger has an event of {instant_text(last)}"
        yield Finding("clock", Health.FAIL, subject, message, "set the clock; every gate is closed until then")


def requests_move(patient: Patient) -> Iterator[Finding]:
    """Say what waits for a person, and what was approved and not published."""
    if patient.verifier is None:
        return
    verifier, history = patient.verifier, read_history(patient.verifier.ledger, is_strict=False)
    found = _by_state(verifier, history, patient)
    waiting, failed = found.get(State.PENDING, []), found.get(State.APPROVED_FAILED, [])
    blocked, stale = found.get(State.BLOCKED_POLICY, []), found.get(State.STALE, [])
    message = f"{len(waiting)} wait for a decision, {len(blocked)} are blocked, {len(stale)} are stale"
    yield Finding("requests", Health.OK, "inbox", message, "govern gate inbox" if waiting or blocked else None)
    for round_id in failed[:_SHOWN]:
        message = f"it is approved, and its publication failed ({len(failed)} in all)"
        yield Finding("requests", Health.FAIL, round_id, message, f"govern gate retry {round_id}")


def messages_go_out(patient: Patient) -> Iterator[Finding]:
    """Say how many messages to people were not handed over."""
    if patient.verifier is None or patient.verifier.config.notifications is None:
        return
    outbox = read_outbox(patient.verifier.ledger)
    for target in load_notifications(patient.verifier.config.notifications).targets:
        backlog = outbox.backlog(target.name)
        given_up = [standing for standing in backlog if standing.is_given_up]
        old = [s for s in backlog if s.last_begun is not None and patient.now - s.last_begun > FIRST_PAUSE]
        if given_up:
            message = f"{len(given_up)} messages were given up after many tries"
            yield Finding("outbox", Health.FAIL, target.name, message, f"govern gate notify --test {target.name}")
        elif old:
            message = f"{len(old)} messages were not handed over yet; they are tried again"
            yield Finding("outbox", Health.WARN, target.name, message, f"govern gate notify --test {target.name}")
        else:
            yield Finding("outbox", Health.OK, target.name, "every message begun was handed over")


def _by_state(verifier: Verifier, history: History, patient: Patient) -> dict[State, list[str]]:
    found: dict[State, list[str]] = {}
    in_force = {(request.gate, request.round_id): request for request in history.requests}
    for request in in_force.values():
        state = standing_of(request, verifier, history, patient.now).state
        found.setdefault(state, []).append(request.round_id)
    return found
