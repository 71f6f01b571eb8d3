"""One record of a report, recomputed from what it says itself and from its field.

What belongs here: every derived member of a record: ids and digests, epsilon, delta, flag, status, action, reason.
What does not: its shape (`crosscheck.report_shape`) and its neighbours (`crosscheck.report_validator`).

Source: spec/crosscheck.md §3, §7 and §12.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.crosscheck.engine import declared_number
from governance_pipeline.crosscheck.record import DeclaredPointer, record_id
from governance_pipeline.crosscheck.report_field import RECORD_COPIES, number_of
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import is_said
from governance_pipeline.strict.numbers import EXACT, ZERO, fits, is_finite_binary64, is_number
from governance_pipeline.vocabulary import Action, DataType, RecordStatus, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from decimal import Decimal

    from governance_pipeline.crosscheck.report_field import FieldRules

    Fault = tuple[str, str]

_FLAGS = {RecordStatus.MATCH: False, RecordStatus.MISMATCH: True, RecordStatus.UNVERIFIABLE: None}
_ACTIONS = {
    RecordStatus.MATCH: Action.ACCEPT,
    RecordStatus.MISMATCH: Action.ESCALATE,
    RecordStatus.UNVERIFIABLE: Action.CONFIRM,
}
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.ASCII | re.IGNORECASE)


class _Facts(NamedTuple):
    """A record with its numbers, and the field it belongs to."""

    record: Mapping[str, Any]
    rules: FieldRules
    declared: Decimal | None
    computed: Decimal | None

    @property
    def raw(self) -> str | None:
        raw: str | None = self.record["declared_raw"]
        return raw

    @property
    def is_part_unknown(self) -> bool:
        """Whether the declared number is known and the computed one is not."""
        return self.declared is not None and self.computed is None

    @property
    def is_whole(self) -> bool:
        """Whether the declared number is one that its data type allows."""
        return self.rules.check.data_type is not DataType.INTEGER or (
            self.declared is not None and self.declared == EXACT.to_integral_value(self.declared)
        )


def record_faults(record: Mapping[str, Any], rules: FieldRules) -> Iterator[Fault]:
    """Yield (violation code, member) of each thing wrong with a record whose shape is sound.

    Args:
        record: the record as read, numbers as int or `Lexeme`.
        rules: what the records of its field must keep.
    """
    facts = _Facts(record, rules, number_of(record["declared"]), number_of(record["computed"]))
    yield from _copies(record, rules)
    yield from _digests(record, rules)
    yield from _declared(facts)
    yield from _epsilon(facts)
    yield from _outcome(facts)
    yield from _reason(facts)


def _copies(record: Mapping[str, Any], rules: FieldRules) -> Iterator[Fault]:
    pointer = record["declared_pointer"]
    for name, value in zip(RECORD_COPIES, rules.copies, strict=True):
        if record[name] != value:
            yield "field_wrong", name
    if pointer["pointer"] != rules.check.pointer:
        yield "field_wrong", "declared_pointer/pointer"
    if pointer["file"] != rules.file:
        yield "field_wrong", "declared_pointer/file"
    if not is_said(record["epsilon_reason"]):
        yield "epsilon_reason_blank", "epsilon_reason"


def _digests(record: Mapping[str, Any], rules: FieldRules) -> Iterator[Fault]:
    place = record["declared_pointer"]
    pointer = DeclaredPointer(place["file"], place["line"], place["pointer"])
    if record["record_id"] != record_id(record["check_id"], record["formula_digest"], record["subject_id"], pointer):
        yield "digest_wrong", "record_id"
    formula = rules.check.formula
    digest = formula.digest if record["formula"] == formula.text else sha256_hex(record["formula"].encode())
    if record["formula_digest"] != digest:
        yield "digest_wrong", "formula_digest"
    if (record["components_digest"] is None) != (record["components_count"] == 0):
        yield "digest_wrong", "components_digest"


def _declared(facts: _Facts) -> Iterator[Fault]:
    """The declared number is the one the source wrote, or there is none."""
    if facts.declared is not None and facts.declared != _written(facts):
        yield "declared_altered", "declared"


def _written(facts: _Facts) -> Decimal | None:
    raw = facts.raw
    return None if raw is None or not is_number(raw) else declared_number(raw, facts.rules.check.data_type)


def _epsilon(facts: _Facts) -> Iterator[Fault]:
    epsilon, raw = number_of(facts.record["epsilon"]), facts.raw
    if facts.declared is None or epsilon is None:
        if facts.declared is not None or epsilon is not None:
            yield "epsilon_wrong", "epsilon"
        return
    if raw is None or not is_number(raw):
        return  # declared_altered says so
    rules = facts.rules
    if not ZERO <= epsilon <= rules.policy.bound(rules.check.data_type, facts.declared, raw):
        yield "epsilon_not_allowed", "epsilon"
    elif epsilon != rules.policy.epsilon(rules.check, facts.declared, raw):
        yield "epsilon_wrong", "epsilon"


def _outcome(facts: _Facts) -> Iterator[Fault]:
    record, status = facts.record, RecordStatus(facts.record["status"])
    if record["overwritten"]:
        yield "overwritten_true", "overwritten"
    if record["action"] != _ACTIONS[status]:
        yield "action_wrong", "action"
    if record["mismatch"] is not _FLAGS[status]:
        yield "flag_wrong", "mismatch"
    if status is RecordStatus.UNVERIFIABLE:
        if record["delta"] is not None:
            yield "delta_wrong", "delta"
        return
    hidden = [name for name in ("declared", "computed") if record[name] is None]
    yield from (("value_hidden", name) for name in hidden)
    if not hidden:
        yield from _arithmetic(facts, status)


def _arithmetic(facts: _Facts, status: RecordStatus) -> Iterator[Fault]:
    assert facts.declared is not None
    assert facts.computed is not None
    delta, epsilon = EXACT.subtract(facts.declared, facts.computed), number_of(facts.record["epsilon"])
    if number_of(facts.record["delta"]) != delta:
        yield "delta_wrong", "delta"
    if epsilon is not None and (delta.copy_abs() > epsilon) is not _FLAGS[status]:
        yield "flag_wrong", "status"


def _reason(facts: _Facts) -> Iterator[Fault]:
    reason = facts.record["reason_code"]
    is_unverifiable = facts.record["status"] == RecordStatus.UNVERIFIABLE
    if not is_unverifiable:
        is_sound = reason is None and facts.is_whole and facts.record["subject_id"] is not None
    else:
        is_sound = reason in _SUITS and _SUITS[reason](facts)
    if not is_sound:
        yield "reason_code_wrong", "reason_code"
    if facts.rules.is_incomplete and facts.computed is not None:
        yield "reason_code_wrong", "computed"


def _suits_overflow(facts: _Facts) -> bool:
    if facts.declared is None:
        return facts.raw is not None and is_number(facts.raw) and _written(facts) is None
    if facts.computed is None:
        return True
    delta = EXACT.subtract(facts.declared, facts.computed)
    return not (is_finite_binary64(delta) if facts.rules.check.data_type is DataType.FLOAT else fits(delta))


_SUITS: dict[str, Callable[[_Facts], bool]] = {
    UnknownReason.DECLARED_QUARANTINED: lambda f: (
        f.record["subject_id"] is None and f.raw is None and f.declared is None
    ),
    UnknownReason.DUPLICATE_SUBJECT: lambda f: f.record["subject_id"] is not None,
    UnknownReason.DECLARED_MISSING: lambda f: f.raw is None and f.declared is None,
    UnknownReason.DECLARED_NOT_A_NUMBER: lambda f: f.raw is not None and f.declared is None,
    UnknownReason.DECLARED_NOT_FINITE: lambda f: f.declared is None and bool(_NOT_FINITE.fullmatch(f.raw or "")),
    UnknownReason.OVERFLOW: _suits_overflow,
    UnknownReason.DECLARED_TYPE: lambda f: f.declared is not None and not f.is_whole,
    UnknownReason.COMPONENTS_INCOMPLETE: lambda f: f.is_part_unknown and f.rules.is_incomplete,
    UnknownReason.COMPONENTS_MISSING: lambda f: f.is_part_unknown,
    UnknownReason.COMPONENT_MISSING_VALUE: lambda f: f.is_part_unknown and f.record["components_count"] > 0,
    UnknownReason.COMPONENT_NOT_A_NUMBER: lambda f: f.is_part_unknown and f.record["components_count"] > 0,
    UnknownReason.COMPONENT_NOT_FINITE: lambda f: f.is_part_unknown and f.record["components_count"] > 0,
    UnknownReason.DIVISION_BY_ZERO: lambda f: f.is_part_unknown and f.rules.check.formula.divides,
}
"""Reason -> whether what the record shows can be meant by it."""
