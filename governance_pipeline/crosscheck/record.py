"""The record of one declared number against its computed twin (govern/cross-check-record/v1).

What belongs here: the members of a record, its id, and its JSON form. What does not: how its values came about
(`crosscheck.engine`). A record is never changed: a changed source gives a new record with a new id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.crosscheck.digest_text import canonical_array
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.lexeme import Lexeme

if TYPE_CHECKING:
    from governance_pipeline.vocabulary import Action, DataType, RecordStatus, UnknownReason


class DeclaredPointer(NamedTuple):
    """Where the declared value stands: SHA-256 of the file, physical line, RFC 6901 pointer."""

    file: str
    line: int | None
    pointer: str


@dataclass(frozen=True, slots=True)
class CrossCheckRecord:
    """One record; members as spec/crosscheck.md §3.

    declared, computed, delta and epsilon are canonical lexemes, None when unknown; mismatch is None when the record is
    unverifiable. overwritten is always false and opened_at null here: nothing writes a declared value, and when a case
    was opened is an event of the ledger.
    """

    record_id: str
    check_id: str
    round_id: str | None
    subject_id: str | None
    field: str
    data_type: DataType
    unit: str | None
    declared: str | None
    declared_raw: str | None
    computed: str | None
    delta: str | None
    epsilon: str | None
    epsilon_reason: str
    status: RecordStatus
    mismatch: bool | None
    action: Action
    reason_code: UnknownReason | None
    overwritten: bool
    formula: str
    formula_digest: str
    components_count: int
    components_digest: str | None
    declared_pointer: DeclaredPointer
    escalate_to: str
    opened_at: None

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON object; numbers are `Lexeme`, so that no digit is lost."""
        return {
            "record_id": self.record_id,
            "check_id": self.check_id,
            "round_id": self.round_id,
            "subject_id": self.subject_id,
            "field": self.field,
            "data_type": self.data_type.value,
            "unit": self.unit,
            "declared": as_number(self.declared),
            "declared_raw": self.declared_raw,
            "computed": as_number(self.computed),
            "delta": as_number(self.delta),
            "epsilon": as_number(self.epsilon),
            "epsilon_reason": self.epsilon_reason,
            "status": self.status.value,
            "mismatch": self.mismatch,
            "action": self.action.value,
            "reason_code": self.reason_code and self.reason_code.value,
            "overwritten": self.overwritten,
            "formula": self.formula,
            "formula_digest": self.formula_digest,
            "components_count": self.components_count,
            "components_digest": self.components_digest,
            "declared_pointer": self.declared_pointer._asdict(),
            "escalate_to": self.escalate_to,
            "opened_at": self.opened_at,
        }


def record_id(check_id: str, formula_digest: str, subject: str | None, pointer: DeclaredPointer) -> str:
    """Return the id of a record: the same check, formula, subject and place give the same id for ever."""
    return sha256_hex(canonical_array([check_id, formula_digest, subject, *pointer]))


def as_number(lexeme: str | None) -> Lexeme | None:
    """Return a canonical lexeme as a JSON number; None stays null."""
    return None if lexeme is None else Lexeme(lexeme)
