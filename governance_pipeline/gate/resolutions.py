"""Resolutions of mismatch cases: signed like a decision, and counted only then.

What belongs here: the statement a person signs about a case, and whether a recorded one counts. What does not: opening
cases (crosscheck) and the commands. A resolution changes neither value nor flag (spec/crosscheck.md §5); it only says
that a person has looked and what they found, so that the gate may be asked again. An event without a signature that
counts resolves nothing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust import dsse
from governance_pipeline.trust.pair import approver_conflict
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.statement import (
    STATEMENT_PAYLOAD_TYPE,
    Subject,
    malformed,
    statement_bytes,
    statement_of,
    text_member,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from governance_pipeline.gate.events import Resolution
    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.root import TrustRoot

RESOLUTION_PREDICATE: Final = "urn:govern:case-resolution:v1"


class Outcome(StrEnum):
    """What a person found: the source is wrong, our computation is, both are right about other data, or it stands."""

    SOURCE_WRONG = "source_wrong"
    COMPUTATION_WRONG = "computation_wrong"
    DATA_CONFLICT = "data_conflict"
    ACCEPTED = "accepted"


def resolution_envelope(case: Mapping[str, Any], outcome: Outcome, reason: str, signer: Signer) -> bytes:
    """Sign the resolution of a case (a row of `audit_escalations`): the envelope an event carries."""
    predicate = {"case_id": case["case_id"], "round_id": case["round_id"], "resolution": outcome, "reason": reason}
    payload = statement_bytes([Subject(case["case_id"], case["record_id"])], RESOLUTION_PREDICATE, predicate)
    return dsse.sign(payload, STATEMENT_PAYLOAD_TYPE, signer)


def resolution_body(envelope: bytes, case: Mapping[str, Any], outcome: Outcome, reason: str) -> dict[str, Any]:
    """Give the body of the ledger event of a resolution."""
    return {"case_id": case["case_id"], "resolution": outcome, "reason": reason, "envelope": envelope.decode()}


def is_resolved(
    case: Mapping[str, Any],
    resolutions: Iterable[Resolution],
    root: TrustRoot,
    actors: Iterable[str],
    now: datetime,
) -> bool:
    """Tell whether one of the recorded resolutions counts: about this record, by a person who did not make it.

    Args:
        case: row of `audit_escalations`.
        resolutions: what the ledger has on it.
        root: who is who.
        actors: who has a part in the round; none of them resolves its cases (maker is not checker).
        now: instant at which keys are judged.
    """
    parties = tuple(actors)
    return any(_counts(case, resolution, root, parties, now) for resolution in resolutions)


def _counts(
    case: Mapping[str, Any], resolution: Resolution, root: TrustRoot, actors: tuple[str, ...], now: datetime
) -> bool:
    try:
        envelope = dsse.parse_envelope(resolution.envelope)
        signers = dsse.verify_signatures(envelope, root, now, role=Role.APPROVER)
        statement = statement_of(envelope)
        if statement.predicate_type != RESOLUTION_PREDICATE:
            raise malformed(f"{excerpt(statement.predicate_type, 80)} is no resolution")
        said = {
            name: text_member(statement.predicate, name) for name in ("case_id", "round_id", "resolution", "reason")
        }
    except Refusal:
        return False
    return (
        (said["case_id"], said["round_id"]) == (case["case_id"], case["round_id"])
        and said["resolution"] in set(Outcome)
        and case["record_id"] in {subject.sha256 for subject in statement.subjects}
        and all(approver_conflict(signer.principal, actors, root) is None for signer in signers)
    )
