"""A person acknowledges or resolves a case: sign, hold it to what will be asked of it, record.

What belongs here: finding the case, refusing a statement that would not count, and appending it. What does not: asking
the person (cli). The ledger takes a statement only if nothing was appended since the state it was made from was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.cases import Cases, CaseState
from governance_pipeline.gate.sealing import seal_of
from governance_pipeline.ledger.cases import opening_events, step_event
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.trust.case_statement import Outcome, sign_case, stated
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from governance_pipeline.gate.cases import CaseStanding
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.ledger.event import Event, NewEvent
    from governance_pipeline.trust.keys import Signer

TRIES: Final = 100
"""How often a statement is made anew because something else was appended meanwhile."""
REASON_CHARACTERS: Final = 4000
"""Longest reason that is signed; the envelope has to stay below 64 KiB."""
PREFIX: Final = "case-"


class Recorded(NamedTuple):
    """A statement that was recorded: its event, and where the case stands now."""

    event: Event
    standing: CaseStanding


def find_case(cases: Cases, case_id: str, round_id: str | None = None) -> CaseStanding:
    """Give a case by its id, or by the beginning of one that names it alone; with or without `case-`.

    The same record may be in two rounds; the one the tables of a round ask goes before the same id with other values.

    Raises:
        UsageError: no case, or several, have it.
    """
    wanted = PREFIX + case_id.removeprefix(PREFIX)
    rounds = None if round_id is None else [round_id]
    found = [s for s in cases.standings(rounds) if s.case.case_id.startswith(wanted)] if wanted != PREFIX else []
    named = {s.case.ref[:2]: s for s in sorted(found, key=lambda s: s.is_current is True)}
    if len(named) == 1:
        return next(iter(named.values()))
    problem = f"{len(named)} cases begin" if named else "no case begins"
    hint = "; name the round with --round" if len({case for _, case in named}) == 1 and named else ""
    raise UsageError(f"{problem} with {case_id[:80]!r}; `govern crosscheck cases list` lists them{hint}")


def state_case(
    verifier: Verifier,
    case_id: str,
    round_id: str | None,
    reason: str,
    signer: Signer,
    outcome: Outcome | None,
    *,
    clock: Callable[[], datetime],
    seen_sha256: str | None = None,
) -> Recorded:
    """Sign a statement about a case and record it; a case the ledger does not hold yet is opened in the same step.

    Args:
        verifier: what is trusted.
        case_id: id of the case, or the beginning of it.
        round_id: its round, where the id alone does not tell.
        reason: why, in words.
        signer: key of the person.
        outcome: what they found; None: they acknowledge it.
        clock: gives the time.
        seen_sha256: digest of what the person has read that the case asks; None where the caller shows nothing.

    Raises:
        UsageError: no such case, or the policy does not allow the reason or the outcome.
        Refusal: the statement would not count, or the case is not open to it; nothing is recorded.
        StorageError: the ledger could not be read or written.
    """
    for _ in range(TRIES):
        cases = Cases(verifier, clock())
        standing = find_case(cases, case_id, round_id)
        events = _events(cases, standing, reason, signer, outcome, seen_sha256)
        try:
            made = _append(verifier, events, cases)
        except LedgerMoved:
            continue
        except AlreadyRecorded as recorded:
            raise Refusal(ReasonCode.REPLAYED, f"it was recorded before, as event {recorded.event.seq}") from None
        return Recorded(made, find_case(Cases(verifier, clock()), standing.case.case_id, standing.case.round_id))
    raise StorageError(f"ledger {verifier.ledger.path} is too busy: {TRIES} tries found it changed; try again")


def _append(verifier: Verifier, events: list[NewEvent], cases: Cases) -> Event:
    seal = seal_of(verifier, cases.now, is_opening=False)
    return verifier.ledger.append_all(events, after=cases.history.size, seal=seal)[-1]


def _events(
    cases: Cases, standing: CaseStanding, reason: str, signer: Signer, outcome: Outcome | None, seen_sha256: str | None
) -> list[NewEvent]:
    """Sign, hold the statement to everything that will be asked of it, and give what is to be appended."""
    ref, now = standing.case.ref, cases.now
    actors = sorted(cases.actors(ref.round_id))
    _check_words(cases, reason, outcome)
    if seen_sha256 not in (None, ref.sha256):
        raise Refusal(ReasonCode.DIGEST_MISMATCH, f"case {ref.case_id} has changed while it was read; look again")
    envelope = sign_case(ref, reason, signer, now, outcome)
    said = stated(envelope, ref, cases.verifier.root, actors, now, resolves=outcome is not None)
    _check_state(standing, said.people[0], outcome)
    opening = [] if standing.opened_at is not None else [*opening_events(standing.case, actors, now)]
    return [*opening, step_event(ref, envelope, reason, said.people[0], now, outcome)]


def _check_words(cases: Cases, reason: str, outcome: Outcome | None) -> None:
    least = cases.policy.minimum_reason_characters
    if not least <= len(reason.strip()) <= REASON_CHARACTERS:
        raise UsageError(f"a reason has {least} to {REASON_CHARACTERS} characters, this one {len(reason.strip())}")
    if outcome is not None and outcome not in cases.policy.outcomes:
        raise UsageError(f"the escalation policy in force knows {', '.join(cases.policy.outcomes)}, not {outcome}")


def _check_state(standing: CaseStanding, person: str, outcome: Outcome | None) -> None:
    if standing.state is CaseState.RESOLVED and standing.resolved is not None:
        said = f"{', '.join(map(repr, standing.resolved.people))} as {standing.resolved.outcome}"
        raise Refusal(ReasonCode.REPLAYED, f"case {standing.case.case_id} was resolved by {said}")
    if outcome is None and standing.owner == person:
        raise Refusal(ReasonCode.REPLAYED, f"{person!r} looks after case {standing.case.case_id} already")
