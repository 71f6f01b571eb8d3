"""Dismissals at the gate: whether those a verdict rests on still count, and recording a new one.

What belongs here: finding the finding, refusing a dismissal that would not count, appending it, and judging the ones in
the round's tables anew. What does not: asking the person (cli) and the statement (`trust.dismissal_statement`). A table
says what counted when it was made; a key revoked since, a last day that is over, or a row somebody wrote by hand is
found here. Source: spec/verdict.md §4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.sealing import seal_of
from governance_pipeline.ledger.dismissals import DismissalHistory, dismissal_event, read_dismissals
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.trust.dismissal_statement import dismissed, end_of, sign_dismissal
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.verdict.dismissal_policy import dismissal_policy
from governance_pipeline.verdict.dismissals import PARTY_TABLES, parties_of, ref_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date, datetime

    import pandas as pd

    from governance_pipeline.gate.inputs import RoundInputs
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.ledger.event import Event, NewEvent
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.verdict.dismissal_policy import DismissalPolicy

TABLE: Final = "verdict_findings"
TRIES: Final = 100
"""How often a dismissal is signed anew because something else was appended meanwhile."""
REASON_CHARACTERS: Final = 4000
"""Longest reason that is signed; the envelope has to stay below 64 KiB."""


class Recorded(NamedTuple):
    """A dismissal that was recorded: its event, and the finding."""

    event: Event
    finding: Mapping[str, Any]


class _Said(NamedTuple):
    """What a person says: why, until when, and the digest of what they have read."""

    reason: str
    until: date | None
    seen_sha256: str | None


def find_finding(lake: Lake, finding: str) -> Mapping[str, Any]:
    """Give the stored finding whose id begins so, as a row of `verdict_findings`.

    Raises:
        UsageError: none begins so, or several.
        StorageError: a stored table is damaged.
    """
    found = [
        row
        for round_id in lake.rounds(TABLE)
        for row in plain_rows(lake.get(TABLE, round_id))
        if row["finding_id"].startswith(finding)
    ]
    if len(found) != 1:
        problem = f"{len(found)} findings begin" if found else "no finding begins"
        raise UsageError(f"{problem} with {finding[:80]!r} in {lake.root}; `govern verdict show ROUND` lists them")
    return found[0]


def dismiss(
    verifier: Verifier,
    finding: str,
    reason: str,
    until: date | None,
    signer: Signer,
    *,
    clock: Callable[[], datetime],
    seen_sha256: str | None = None,
) -> Recorded:
    """Sign the dismissal of a stored finding and record it.

    Args:
        verifier: what is trusted.
        finding: its id, or the beginning of it.
        reason: why, in words.
        until: last day on which it counts; None: no end.
        signer: key of the person.
        clock: gives the time.
        seen_sha256: digest of what the person has read that the finding says; None where the caller shows nothing.

    Raises:
        UsageError: no such finding, a reason too short or too long, or a last day that is over.
        Refusal: it would not count: the policy, the person, or a dismissal that stands already.
        StorageError: lake or ledger could not be read or written.
    """
    for _ in range(TRIES):
        now, history = clock(), read_dismissals(verifier.ledger)
        row = find_finding(verifier.lake, finding)
        event = _signed(verifier, history, row, _Said(reason, until, seen_sha256), signer, now)
        try:
            seal = seal_of(verifier, now, is_opening=False)
            return Recorded(verifier.ledger.append_all([event], after=history.size, seal=seal)[0], row)
        except LedgerMoved:
            continue
        except AlreadyRecorded as recorded:
            raise Refusal(ReasonCode.REPLAYED, f"it was recorded before, as event {recorded.event.seq}") from None
    raise StorageError(f"ledger {verifier.ledger.path} is too busy: {TRIES} tries found it changed; try again")


def _signed(
    verifier: Verifier, history: DismissalHistory, row: Mapping[str, Any], said: _Said, signer: Signer, now: datetime
) -> NewEvent:
    """Sign, and hold the statement to everything that will be asked of it."""
    _check_words(dismissal_policy(verifier.config.source.parent), row, said, now)
    ref, involved = ref_of(row), parties(verifier, row["round_id"])
    if said.seen_sha256 not in (None, ref.sha256):
        raise Refusal(ReasonCode.DIGEST_MISMATCH, f"finding {ref.finding_id} has changed while it was read")
    _refuse_standing(verifier, history, row, involved, now)
    envelope = sign_dismissal(ref, said.reason, said.until, signer, now)
    person = dismissed(envelope, ref, verifier.root, involved, now).people[0]
    return dismissal_event(ref, row["code"], envelope, said.reason, said.until, person, now)


def lapsed_dismissals(inputs: RoundInputs, verifier: Verifier, now: datetime) -> list[tuple[Mapping[str, Any], str]]:
    """Give the findings a round's tables call dismissed that are not, each with why; empty when all stand.

    Args:
        inputs: the round.
        verifier: what is trusted.
        now: instant at which keys and last days are judged.
    """
    rows = [row for row in inputs.rows(TABLE) if row["dismissed_decision"] is not None]
    if not rows:
        return []
    history = read_dismissals(verifier.ledger)
    tables = {name: inputs.frame(name) for name in PARTY_TABLES}
    involved = _with_requesters(verifier, inputs.round_id, tables)
    faults = ((row, _fault(row, history, verifier, involved, now)) for row in rows)
    return [(row, fault) for row, fault in faults if fault is not None]


def lapsed_words(lapsed: Sequence[tuple[Mapping[str, Any], str]]) -> str:
    """Say which dismissals do not stand, for a refusal."""
    row, fault = lapsed[0]
    more = "" if len(lapsed) == 1 else f" and {len(lapsed) - 1} more"
    return (
        f"the verdict rests on a dismissal of finding {row['finding_id'][:12]} that does not count{more}: {fault}; "
        "make the verdict again"
    )


def rounds_to_judge_again(verifier: Verifier, now: datetime) -> list[str]:
    """List the stored rounds whose tables do not say of a finding what the ledger says now, sorted.

    A dismissal was recorded since the verdict was made, its last day is over, or its key counts no longer. Only what
    the ledger has a dismissal of is looked at, so a lake without any costs nothing.

    Raises:
        StorageError: lake or ledger cannot be read.
    """
    history = read_dismissals(verifier.ledger)
    said: dict[str, set[str]] = {}
    for round_id, finding_id in history.of:
        said.setdefault(round_id, set()).add(finding_id)
    return sorted(
        round_id
        for round_id, finding_ids in said.items()
        if verifier.lake.has(TABLE, round_id) and _is_other(verifier, history, round_id, finding_ids, now)
    )


def _is_other(
    verifier: Verifier, history: DismissalHistory, round_id: str, finding_ids: set[str], now: datetime
) -> bool:
    rows = [row for row in plain_rows(verifier.lake.get(TABLE, round_id)) if row["finding_id"] in finding_ids]
    involved = parties(verifier, round_id)
    stands = (_fault(row, history, verifier, involved, now) is None for row in rows)
    return any((row["dismissed_decision"] is not None) != is_so for row, is_so in zip(rows, stands, strict=True))


def parties(verifier: Verifier, round_id: str) -> tuple[str, ...]:
    """Give who produced a round or asked about it: by its tables, and by the requests in the ledger.

    Raises:
        StorageError: a table is missing or damaged; nobody knows then who must not dismiss.
    """
    return _with_requesters(verifier, round_id, {name: verifier.lake.get(name, round_id) for name in PARTY_TABLES})


def _with_requesters(verifier: Verifier, round_id: str, tables: Mapping[str, pd.DataFrame]) -> tuple[str, ...]:
    requests = read_history(verifier.ledger, is_strict=False).requests
    asked = {request.requester for request in requests if request.round_id == round_id}
    return (*parties_of(tables, round_id), *sorted(asked))


def _fault(
    row: Mapping[str, Any], history: DismissalHistory, verifier: Verifier, parties: tuple[str, ...], now: datetime
) -> str | None:
    if row["code"] in dismissal_policy(verifier.config.source.parent).not_dismissible:
        return f"{row['code']} cannot be dismissed"
    fault = "the ledger holds no dismissal of it"
    for one in history.of.get((row["round_id"], row["finding_id"]), ()):
        try:
            dismissed(one.envelope, ref_of(row), verifier.root, parties, now)
        except Refusal as refusal:
            fault = str(refusal)
        else:
            return None
    return fault


def _check_words(policy: DismissalPolicy, row: Mapping[str, Any], said: _Said, now: datetime) -> None:
    if row["code"] in policy.not_dismissible:
        message = f"{row['code']} cannot be dismissed, by nobody; new work is the way out"
        raise Refusal(ReasonCode.BLOCKED_POLICY, message)
    least, characters = policy.minimum_reason_characters, len(said.reason.strip())
    if not least <= characters <= REASON_CHARACTERS:
        raise UsageError(f"a reason has {least} to {REASON_CHARACTERS} characters, this one {characters}")
    if said.until is not None and now >= end_of(said.until):
        raise UsageError(f"--until {said.until} is over; name a day that is not")


def _refuse_standing(
    verifier: Verifier, history: DismissalHistory, row: Mapping[str, Any], parties: tuple[str, ...], now: datetime
) -> None:
    """REPLAYED: a dismissal without an end stands; one with an end may be followed by another."""
    for one in history.of.get((row["round_id"], row["finding_id"]), ()):
        try:
            said = dismissed(one.envelope, ref_of(row), verifier.root, parties, now)
        except Refusal:
            continue
        if said.until is None:
            who = ", ".join(map(repr, said.people))
            raise Refusal(ReasonCode.REPLAYED, f"finding {row['finding_id']} was dismissed by {who}, event {one.seq}")
