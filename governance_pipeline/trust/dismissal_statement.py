"""What a person signs who dismisses a finding: that it shall not count for the verdict of its round, why, until when.

What belongs here: the digest of what a finding says, the predicate, signing, and whether a statement counts. What does
not: which codes may be dismissed (verdict), recording (ledger) and asking the person (gate). A dismissal is bound to
the finding with its message and factors as the person saw them: numbers that change are asked about anew.
Source: spec/verdict.md §4.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.pair import approver_conflict
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import (
    STATEMENT_PAYLOAD_TYPE,
    Subject,
    malformed,
    statement_bytes,
    statement_of,
    text_member,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.root import TrustRoot
    from governance_pipeline.trust.statement import Statement

PREDICATE: Final = "urn:govern:finding-dismissal:v1"
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class FindingRef(NamedTuple):
    """What a dismissal is bound to: the round, the finding, and the digest of what it says."""

    round_id: str
    finding_id: str
    sha256: str


class Dismissed(NamedTuple):
    """A dismissal that counts: who signed, why, and the last day on which it does (None: no end)."""

    people: tuple[str, ...]
    reason: str
    until: date | None


def finding_ref(round_id: str, finding_id: str, code: str, message: str, factors: str) -> FindingRef:
    """Give what a dismissal of a finding is bound to; arguments are columns of `verdict_findings`."""
    return FindingRef(round_id, finding_id, sha256_hex(canonical_json([round_id, finding_id, code, message, factors])))


def sign_dismissal(ref: FindingRef, reason: str, until: date | None, signer: Signer, signed_at: datetime) -> bytes:
    """Sign a dismissal; the envelope an event carries.

    Args:
        ref: the finding.
        reason: why, in words.
        until: last day, in UTC, on which it counts; None: no end.
        signer: key of the person.
        signed_at: by the clock of the person; shown, and believed by nobody.
    """
    predicate: dict[str, Any] = {
        "round_id": ref.round_id,
        "finding_id": ref.finding_id,
        "reason": reason,
        "signed_at": instant_text(signed_at),
        **({} if until is None else {"until": until.isoformat()}),
    }
    payload = statement_bytes([Subject(ref.finding_id, ref.sha256)], PREDICATE, predicate)
    return dsse.sign(payload, STATEMENT_PAYLOAD_TYPE, signer)


def dismissed(envelope: bytes, ref: FindingRef, root: TrustRoot, parties: Iterable[str], now: datetime) -> Dismissed:
    """Read a dismissal that counts: of people with the role, about this finding, who neither made nor asked.

    Args:
        envelope: as it was recorded.
        ref: the finding as it is.
        root: who is who.
        parties: producers and requesters of the round; none of them, and nobody who controls one, dismisses.
        now: instant at which keys and the last day are judged.

    Raises:
        Refusal: it does not count; the code says why.
    """
    read = dsse.parse_envelope(envelope)
    signers = dsse.verify_signatures(read, root, now, role=Role.DISMISSER)
    statement = statement_of(read)
    if statement.predicate_type != PREDICATE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"{excerpt(statement.predicate_type, 80)} is not {PREDICATE}")
    reason = _said(statement, ref)
    until = _until(statement, now)
    people = tuple(dict.fromkeys(signer.principal for signer in signers))
    actors = tuple(parties)
    for person in people:
        conflict = approver_conflict(person, actors, root)
        if conflict is not None:
            message = f"{person!r} made or requested the round (rule {conflict.rule}: {conflict.shared!r})"
            raise Refusal(ReasonCode.SELF_APPROVAL, f"{message}; somebody else must judge its findings")
    return Dismissed(people, reason, until)


def read_date(text: str) -> date:
    """Read a day written as `2026-12-31`.

    Raises:
        ValueError: another spelling, or no such day.
    """
    if not _DATE.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no date; write it like 2026-12-31")
    return date.fromisoformat(text)


def end_of(until: date) -> datetime:
    """Give the first instant at which a dismissal with this last day counts no longer."""
    if until == date.max:
        return datetime.max.replace(tzinfo=UTC)
    return datetime.combine(until, time(), UTC) + timedelta(days=1)


def _said(statement: Statement, ref: FindingRef) -> str:
    """Hold a statement to its finding and give its reason."""
    named = (text_member(statement.predicate, "round_id"), text_member(statement.predicate, "finding_id"))
    digests = [subject.sha256 for subject in statement.subjects]
    if named != (ref.round_id, ref.finding_id) or digests != [ref.sha256]:
        message = f"it is about finding {excerpt(named[1], 80)} of round {excerpt(named[0], 80)} as it was then"
        raise Refusal(ReasonCode.DIGEST_MISMATCH, f"{message}; this finding is another, or says something else")
    reason = text_member(statement.predicate, "reason")
    if not reason.strip():
        raise malformed("the reason is blank")
    return reason


def _until(statement: Statement, now: datetime) -> date | None:
    if "until" not in statement.predicate:
        return None
    try:
        until = read_date(text_member(statement.predicate, "until"))
    except ValueError as error:
        raise malformed(f"until: {error}") from None
    if now >= end_of(until):
        raise Refusal(ReasonCode.EXPIRED, f"it counted until {until} and no longer")
    return until
