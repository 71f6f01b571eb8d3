"""The state of a request: a pure fold of events, the time, and the digests in force now.

What belongs here: one state for each request, the same for CLI, tables and sensors. What does not: passing a gate; that
is verified in full each time, whatever state was shown (`verify`). Nothing is stored, so EXPIRED and STALE are true
without any daemon (research/hitl.md, design).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.attempts import failed_attempt
from governance_pipeline.gate.closings import unlifted_closings
from governance_pipeline.gate.code_digest import gate_code_sha256
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.dismissals import lapsed_dismissals, lapsed_words
from governance_pipeline.gate.events import EventType
from governance_pipeline.gate.facts import BLOCK, open_cases
from governance_pipeline.gate.gates import gate_of
from governance_pipeline.gate.inputs import digests_in_force, read_inputs
from governance_pipeline.gate.passage import policy_ref, project_baseline
from governance_pipeline.gate.verify import STEPS, passage_of, verify
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.verify import Step


class State(StrEnum):
    """Where a request stands. APPROVED_FAILED is approved, and the run that was to publish it failed."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    APPROVED_FAILED = "APPROVED_FAILED"
    REJECTED = "REJECTED"
    REVOKED = "REVOKED"
    EXPIRED = "EXPIRED"
    SUPERSEDED = "SUPERSEDED"
    STALE = "STALE"
    BLOCKED_POLICY = "BLOCKED_POLICY"
    CONSUMED = "CONSUMED"


OPEN_TO_DECIDE: Final = frozenset({State.PENDING})
"""States an inbox lists and a person may act on."""


class Standing(NamedTuple):
    """A request, its state, and why passage is refused: code and sentence, None where it is granted or was."""

    request: Requested
    state: State
    code: ReasonCode | None = None
    message: str | None = None


def standing_of(
    request: Requested, verifier: Verifier, history: History, now: datetime, *, steps: Sequence[Step] = STEPS
) -> Standing:
    """Give the state of a request.

    Args:
        request: one of `history.requests`.
        verifier: what is trusted.
        history: the ledger as it was read.
        now: the time.
        steps: what an approval is held to; fewer only where nothing rests on the answer (`verify.ROUND_STEPS`).
    """
    newest = history.in_force(request.gate, request.round_id)
    if newest is None or newest.seq != request.seq:
        by = "" if newest is None else f"; in force is {newest.request_id}, window {newest.window}"
        return Standing(request, State.SUPERSEDED, ReasonCode.SUPERSEDED, f"the work has changed since{by}")
    for closing in unlifted_closings(history, request, verifier.root):
        state = State.REJECTED if closing.decision.verb is Verb.REJECT else State.REVOKED
        return Standing(request, state, ReasonCode.REVOKED, closing.said)
    if is_used_up(request, history) and failed_attempt(request, history) is None:
        return Standing(request, State.CONSUMED)
    if (stale := _stale(request, verifier, history, now)) is not None:
        return stale
    try:
        standing = _blocked(request, verifier, history, now) or _decided(request, verifier, history, now, steps)
        return _expired(standing, history) if now >= request.expires else standing
    except StorageError as error:
        return Standing(request, State.STALE, ReasonCode.DIGEST_MISMATCH, str(error))


def words_of(refusal: Refusal) -> str:
    """Give what a refusal says, without its code, for wherever the code stands beside it."""
    return str(refusal).removeprefix(f"{refusal.code}: ")


def is_used_up(request: Requested, history: History, by: EventType = EventType.CONSUMED) -> bool:
    """Tell whether every asset the gate releases has used a decision on this request.

    Args:
        request: one window of a request.
        history: the ledger as it was read.
        by: the event that says so: CONSUMED, or DONE for passages that were finished.
    """
    used = {passed.asset for passed in history.passages_of(request) if passed.type is by}
    return used >= set(gate_of(request.gate).assets)


def _stale(request: Requested, verifier: Verifier, history: History, now: datetime) -> Standing | None:
    if policy_ref(verifier.policy) != (request.policy_version, request.policy_sha256):
        return Standing(request, State.STALE, ReasonCode.POLICY_MISMATCH, "the gate policy has changed since")
    try:
        here = digests_in_force(gate_of(request.gate), request.round_id, verifier.lake)
    except StorageError as error:
        return Standing(request, State.STALE, ReasonCode.DIGEST_MISMATCH, str(error))
    changed = sorted(table for table, digest in here.items() if digest != request.upstream.get(table))
    if gate_code_sha256() != request.code_sha256:
        changed.append("the code of the gate")
    if project_baseline(history, verifier, now) != request.project_baseline:
        changed.append("the baseline of the project")
    if not changed:
        return None
    message = f"changed since it was asked: {', '.join(changed)}; make gate_requests again"
    return Standing(request, State.STALE, ReasonCode.DIGEST_MISMATCH, message)


def _blocked(request: Requested, verifier: Verifier, history: History, now: datetime) -> Standing | None:
    if not request.producers_count:
        message = "nobody is known to have produced this round, so nobody is clear of it"
        return Standing(request, State.BLOCKED_POLICY, ReasonCode.NOT_INDEPENDENT, message)
    if request.failed_independence:
        message = f"facts of independence that fail: {request.failed_independence}; see audit_independence"
        return Standing(request, State.BLOCKED_POLICY, ReasonCode.NOT_INDEPENDENT, message)
    if request.verdict_status == BLOCK:
        message = f"the verdict of round {request.round_id} is block; new work or a dismissal changes that"
        return Standing(request, State.BLOCKED_POLICY, ReasonCode.BLOCKED_POLICY, message)
    why = _lapsed(request, verifier, history, now) or _open_cases(request, verifier, history, now)
    return None if why is None else Standing(request, State.BLOCKED_POLICY, ReasonCode.BLOCKED_POLICY, why)


def _lapsed(request: Requested, verifier: Verifier, history: History, now: datetime) -> str | None:
    """Say which dismissals the verdict rests on do not count; None when all do, or it rests on none."""
    if not history.has_dismissals(verifier.ledger, request.round_id):
        return None
    lapsed = lapsed_dismissals(read_inputs(gate_of(request.gate), request.round_id, verifier.lake), verifier, now)
    return lapsed_words(lapsed) if lapsed else None


def _open_cases(request: Requested, verifier: Verifier, history: History, now: datetime) -> str | None:
    """Say how many mismatch cases are open, or why nobody can tell; None when none is."""
    left = request.mismatch_cases
    if left and history.resolutions:
        inputs = read_inputs(gate_of(request.gate), request.round_id, verifier.lake)
        try:
            left = len(open_cases(inputs, history, verifier, {*inputs.parties.actors, *request.actors}, now))
        except Refusal as refusal:
            return words_of(refusal)
    said = f"open mismatch cases: {left}; a person must resolve them first: govern crosscheck cases list"
    return said if left else None


_STATE_OF_CODE: Final = {
    ReasonCode.DIGEST_MISMATCH: State.STALE,
    ReasonCode.NOT_INDEPENDENT: State.BLOCKED_POLICY,
    ReasonCode.BLOCKED_POLICY: State.BLOCKED_POLICY,
    ReasonCode.REVOKED: State.REVOKED,
}
"""What a refusal of the recorded approvals makes of a request; any other code leaves it to be decided."""


def _decided(
    request: Requested, verifier: Verifier, history: History, now: datetime, steps: Sequence[Step]
) -> Standing:
    try:
        if not history.approvals(request):
            raise Refusal(ReasonCode.MISSING, "it awaits a decision")  # noqa: TRY301 - answered like every refusal
        verify(passage_of(verifier, gate_of(request.gate), request.round_id, now, history=history), steps)
    except Refusal as refusal:
        return Standing(request, _STATE_OF_CODE.get(refusal.code, State.PENDING), refusal.code, words_of(refusal))
    failed = failed_attempt(request, history)
    if failed is None:
        return Standing(request, State.APPROVED)
    again = f"govern gate retry {request.request_id}"
    message = f"run {failed.run_id} failed at {instant_text(failed.ts)}; `{again}` launches it again"
    return Standing(request, State.APPROVED_FAILED, None, message)


def _expired(standing: Standing, history: History) -> Standing:
    """Give what stands of a request after its time: what still waited for somebody waits no more."""
    if standing.state not in (State.PENDING, State.BLOCKED_POLICY):
        return standing
    end = instant_text(standing.request.expires)
    if standing.state is State.BLOCKED_POLICY:
        message = f"it ran out at {end} while nobody could decide it: {standing.message}"
    elif history.approvals(standing.request):
        message = f"it ran out at {end}, and its approvals do not count now: {standing.message}"
    else:
        message = f"nobody decided it before {end}, which is a no"
    return Standing(standing.request, State.EXPIRED, ReasonCode.EXPIRED, message)
