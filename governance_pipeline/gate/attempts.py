"""Attempts to publish what was approved: runs that failed, and the word to try again.

What belongs here: the two records, reading them from events, and what they say together with the passages. What does
not: when they may be made (`retrying`). Neither opens anything: a run that tries again asks every question anew.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.gate.event_members import text, texts
from governance_pipeline.gate.gates import gate_of
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.ledger.event import Event

FIRST_ATTEMPT: Final = 1
"""The attempt a decision launches by itself; every further one is asked for."""

_CONSUMED, _DONE = "CONSUMED", "DONE"  # of `events.EventType`, which reads these records
_WHERE: Final = ("gate", "round_id", "request_id")


class Failed(NamedTuple):
    """A run over a round that was approved ended without publishing it; by what Dagster says, so it only informs."""

    seq: int
    ts: datetime
    gate: str
    round_id: str
    request_id: str
    run_id: str
    root_run_id: str


class Retried(NamedTuple):
    """The word to try again: attempt number, and the root run under which each asset that was begun goes on."""

    seq: int
    ts: datetime
    actor: str
    gate: str
    round_id: str
    request_id: str
    decision_id: str
    attempt: int
    root_runs: Mapping[str, str]

    @property
    def key(self) -> str:
        """Name of the attempt, which is the run key of the run it launches."""
        return attempt_key(self.gate, self.round_id, self.decision_id, self.attempt)


def attempt_key(gate: str, round_id: str, decision_id: str, attempt: int) -> str:
    """Give the run key of an attempt."""
    return f"{gate}:{round_id}:{decision_id}:{attempt}"


def failed_of(event: Event) -> Failed:
    """Read the event of a failed run.

    Raises:
        KeyError: a member is missing.
        TypeError: one is no text.
        ValueError: the round id is none.
    """
    return Failed(event.seq, event.ts, **_texts(event, "run_id", "root_run_id"))


def retried_of(event: Event) -> Retried:
    """Read the event that asks for another attempt.

    Raises:
        KeyError, TypeError: as `failed_of`.
        ValueError: the round id is none, or it is the first attempt or none.
    """
    attempt, runs = event.body["attempt"], event.body["root_runs"]
    if type(attempt) is not int or attempt <= FIRST_ATTEMPT:
        raise ValueError("the attempt is no whole number above 1")
    root_runs = MappingProxyType({text(asset): text(run) for asset, run in runs.items()})
    members = _texts(event, "decision_id")
    return Retried(event.seq, event.ts, event.actor, **members, attempt=attempt, root_runs=root_runs)


def _texts(event: Event, *names: str) -> dict[str, str]:
    if not is_round_id(text(event.body["round_id"])):
        raise ValueError("the round id is none")
    return texts(event.body, (*_WHERE, *names))


def open_runs(request: Requested, history: History) -> dict[str, str | None]:
    """Give the assets a request releases that are not published on it yet.

    Returns:
        Asset -> the root run that used its decision and alone may go on; None where none was used yet. Empty once
        everything is published.
    """
    mine = history.passages_of(request)
    done = {passed.asset for passed in mine if passed.type == _DONE}
    used = {passed.asset: passed.root_run_id for passed in mine if passed.type == _CONSUMED}
    return {asset: used.get(asset) for asset in gate_of(request.gate).assets if asset not in done}


def failed_attempt(request: Requested, history: History) -> Failed | None:
    """Give the last failed run over a request that nobody has approved or tried again since; None when there is none.

    Whether the gate is open is another question: what is closed is not failed.
    """
    name = request.request_id
    failed = next((f for f in reversed(history.failures) if f.request_id == name and f.seq > request.seq), None)
    if failed is None or not open_runs(request, history):
        return None
    later = [
        *(retried.seq for retried in history.retries if retried.request_id == name),
        *(approval.seq for approval in history.approvals(request)),
    ]
    return failed if max(later, default=0) < failed.seq else None


def next_attempt(decision_id: str, history: History) -> int:
    """Give the number of the next attempt on a decision."""
    return max((r.attempt for r in history.retries if r.decision_id == decision_id), default=FIRST_ATTEMPT) + 1


def resumed_run(history: History, key: str, round_id: str, asset: str) -> str | None:
    """Give the root run under which an asset goes on in an attempt of this name.

    None where nobody has asked for such an attempt, or it begins this asset anew: then a run stands for itself.
    """
    asked = next((r for r in reversed(history.retries) if r.key == key and r.round_id == round_id), None)
    return None if asked is None else asked.root_runs.get(asset)
